package db

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// Grants prints the statements that make role fit for a level in this
// database, in an order in which they can be run by a superuser or the owners.
// They are the same requirements that Rights checks.
func Grants(ctx context.Context, conn *pgx.Conn, role string, level Level, inst control.Installation) ([]string, error) {
	schema := cmp.Or(inst.Schema, "awa")
	set, f, err := plainRights(ctx, conn, schema)
	if err != nil {
		return nil, err
	}
	if err := f.readOwners(ctx, conn, schema, set.readable(schema)); err != nil {
		return nil, err
	}
	// What the owners of the lanes have already is not granted to them again.
	owned := RightSet{Role: f.role, version: f.version}
	for _, o := range f.owners {
		if err := owned.check(ctx, conn, ownerRequirements(schema, o.Name)); err != nil {
			return nil, err
		}
	}
	req := f.requirements(schema, level)
	if level == Act {
		for _, r := range owned.missing(Act) {
			req = append(req, r.req)
		}
	}
	return grants(req, role, f.version), nil
}

// requirements lists everything that a level needs here.
func (f facts) requirements(schema string, level Level) []requirement {
	req := []requirement{{Level: Watch, kind: onDatabase, name: f.database, privilege: "CONNECT", needed: true}}
	if level == Reporting {
		return append(req, reportRequirements()...)
	}
	all := append(awaRequirements(schema), sequenceRequirement(schema))
	for _, o := range f.owners {
		all = append(all, futureRequirement(schema, o.Name), actingRequirement(o.Name, o.Super))
	}
	all = append(all, statsRequirement())
	if f.ownSchema {
		all = append(all, ownRequirements()...)
	}
	for _, r := range all {
		if r.Level == Watch || level == Act {
			req = append(req, r)
		}
	}
	return req
}
