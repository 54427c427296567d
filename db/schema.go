package db

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// ownSchema is the schema of shardpilot itself.
const ownSchema = "shardpilot"

// SchemaVersion is the newest migration of this program.
const SchemaVersion = 1

// Schema is how shardpilot's own schema stands in a database.
type Schema struct {
	There   bool   `json:"there"`   // the schema exists and is ours
	Foreign bool   `json:"foreign"` // a schema of that name exists and is not ours
	Hidden  bool   `json:"hidden"`  // it is ours, and our role may not read its version
	Version int    `json:"version"` // 0 when not there or hidden
	Owner   string `json:"owner"`
}

// Usable says whether this program can work with the schema.
func (s Schema) Usable() bool { return s.There && !s.Hidden && s.Version == SchemaVersion }

// queryer is what a connection and a transaction have in common.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// SchemaState looks for shardpilot's own schema. It raises no error when the
// schema is absent or closed.
func SchemaState(ctx context.Context, q queryer) (Schema, error) {
	var s Schema
	var exists, ours, readable bool
	if err := q.QueryRow(ctx, query("schema_state")).Scan(&exists, &ours, &readable, &s.Owner); err != nil {
		return Schema{}, fmt.Errorf("look for the schema shardpilot: %w", err)
	}
	s.There, s.Foreign, s.Hidden = ours, exists && !ours, ours && !readable
	if !readable {
		return s, nil
	}
	if err := q.QueryRow(ctx, query("schema_version")).Scan(&s.Version); err != nil {
		return Schema{}, fmt.Errorf("read the version of the schema shardpilot: %w", err)
	}
	return s, nil
}

// Install makes shardpilot's schema or brings it up to SchemaVersion, in one
// transaction. It says which version was there before (0: none) and does
// nothing when that is the newest. A newer one, or somebody else's schema of
// that name, is refused.
func Install(ctx context.Context, conn *pgx.Conn) (before int, err error) {
	err = inTx(ctx, conn, defaultBounds, func(tx pgx.Tx) error {
		state, err := lockedState(ctx, tx)
		if err != nil {
			return err
		}
		before = state.Version
		for v := before + 1; v <= SchemaVersion; v++ {
			if err := migrate(ctx, tx, v, state.Foreign); err != nil {
				return err
			}
		}
		return nil
	})
	return before, interpret(err, "install the schema shardpilot")
}

// lockedState takes the installers' lock, then looks, and refuses what cannot
// be installed over.
func lockedState(ctx context.Context, tx pgx.Tx) (Schema, error) {
	if _, err := tx.Exec(ctx, query("lock_install"), lockClass, lockInstall); err != nil {
		return Schema{}, err
	}
	state, err := SchemaState(ctx, tx)
	if err != nil {
		return Schema{}, err
	}
	switch {
	case state.Hidden:
		return state, refused(fmt.Sprintf("the schema shardpilot belongs to role %s and is closed to this role", ident(state.Owner)),
			"run this as its owner")
	case state.Version > SchemaVersion:
		return state, refused(fmt.Sprintf("the schema shardpilot has version %d and this program knows %d", state.Version, SchemaVersion),
			"use the newer shardpilot")
	case state.Foreign:
		objects, err := schemaObjects(ctx, tx)
		if err != nil {
			return state, err
		}
		if len(objects) > 0 {
			return state, refused("there is a schema shardpilot in this database that is not ours: it holds "+shortList(objects),
				"rename or drop it, or use another database")
		}
	}
	return state, nil
}

// migrate runs the statements of one version in the order of their names. An
// empty schema that was there already is used as it is.
func migrate(ctx context.Context, tx pgx.Tx, version int, schemaThere bool) error {
	names, err := fs.Glob(sqlFiles, fmt.Sprintf("sql/schema/%04d/*.sql", version))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if schemaThere && strings.HasSuffix(name, "01_schema.sql") {
			continue
		}
		text, err := sqlFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", path.Base(name), err)
		}
	}
	_, err = tx.Exec(ctx, query("schema_record"), version)
	return err
}

// ownObjects is what Install makes, as schema_objects.sql names it.
func ownObjects() []string {
	out := []string{"sequence shardpilot.decision_id_seq"}
	for _, t := range []string{"version", "policy", "decision", "pending", "leader", "producer"} {
		out = append(out, "table shardpilot."+t)
	}
	return out
}

func schemaObjects(ctx context.Context, q queryer) ([]string, error) {
	rows, err := q.Query(ctx, query("schema_objects"))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var kind, name string
		err := row.Scan(&kind, &name)
		return kind + " " + name, err
	})
}

// Uninstall removes shardpilot's schema and says whether there was one. What
// others put into it stops that, unless withForeign.
func Uninstall(ctx context.Context, conn *pgx.Conn, withForeign bool) (removed bool, err error) {
	err = inTx(ctx, conn, defaultBounds, func(tx pgx.Tx) error {
		state, err := lockedState(ctx, tx)
		if err != nil || !state.There {
			return err
		}
		removed = true
		if withForeign {
			_, err := tx.Exec(ctx, query("schema_drop_all"))
			return err
		}
		objects, err := schemaObjects(ctx, tx)
		if err != nil {
			return err
		}
		own := ownObjects()
		if foreign := slices.DeleteFunc(objects, func(o string) bool { return slices.Contains(own, o) }); len(foreign) > 0 {
			return refused("somebody put objects of their own into the schema shardpilot: "+shortList(foreign),
				"move them elsewhere, or say that they may go too")
		}
		if _, err := tx.Exec(ctx, query("schema_drop_tables")); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, query("schema_drop"))
		return err
	})
	if err != nil {
		removed = false
	}
	return removed, interpret(err, "uninstall the schema shardpilot")
}

func refused(what, hint string) error {
	return &control.Fault{Kind: control.FaultRefused, What: what, Hint: hint}
}
