package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// catalogue is what pg_catalog says of Awa's fixed schema.
type catalogue []struct {
	Kind, Name     string
	There, Allowed bool
}

func readCatalogue(ctx context.Context, conn *pgx.Conn) (catalogue, error) {
	rows, err := conn.Query(ctx, query("catalogue"))
	if err != nil {
		return nil, fmt.Errorf("look for Awa in the catalogue: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Kind, Name     string
		There, Allowed bool
	}])
	if err != nil {
		return nil, fmt.Errorf("look for Awa in the catalogue: %w", err)
	}
	return found, nil
}

func (c catalogue) there(kind, name string) bool {
	for _, o := range c {
		if o.Kind == kind && o.Name == name {
			return o.There
		}
	}
	return false
}

// allowed says whether everything of a kind that is there is open to us.
func (c catalogue) allowed() bool {
	for _, o := range c {
		if o.There && !o.Allowed {
			return false
		}
	}
	return true
}

// judge settles the cases that need no look into Awa's tables; done is false
// when its storage state is there and may be read.
func (c catalogue) judge(ctx context.Context, conn *pgx.Conn) (inst control.Installation, done bool, err error) {
	if !c.there("schema", "awa") || !c.there("table", "schema_version") {
		inst.State = control.AwaNotInstalled
		inst.Sentence = "there is no Awa in this database"
		if c.there("schema", "awa") {
			inst.Sentence = "the schema awa in this database is not Awa's: it has no schema_version"
		}
		inst.Hint = "connect to the database that holds Awa (the last part of the URL, dbname=… or PGDATABASE)"
		return inst, true, nil
	}
	if !c.allowed() {
		missing, err := closed(ctx, conn)
		return hidden(inst, missing), true, err
	}
	for _, o := range c {
		if !o.There {
			inst.Missing = append(inst.Missing, o.Kind+" awa."+o.Name)
		}
	}
	if len(inst.Missing) == 0 {
		return inst, false, nil
	}
	if err := conn.QueryRow(ctx, query("version_only")).Scan(&inst.Version); err != nil {
		return inst, true, fmt.Errorf("read Awa's version: %w", err)
	}
	return tooOld(inst), true, nil
}

// closed lists what our role lacks in order to watch, as far as that shows
// before the storage schema is known: usually it is awa itself.
func closed(ctx context.Context, conn *pgx.Conn) ([]Right, error) {
	rights, _, err := plainRights(ctx, conn, "awa")
	if err != nil {
		return nil, err
	}
	return rights.missing(Watch), nil
}
