package rehearsal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// Options say what Install makes. The zero value is a whole, active
// installation in schema awa.
type Options struct {
	// Storage is the schema for lanes and ready jobs, "awa" when empty.
	Storage string
	// Version is what awa.schema_version says, 43 when 0.
	Version int
	// State is the transition state: "active" when empty, or "canonical",
	// "prepared", "mixed_transition". Jobs can be enqueued when it is
	// mixed_transition or active.
	State string
	// Owner is the role that owns everything, the connected role when empty.
	// The connected role must be able to SET ROLE to it.
	Owner string
	// Producers are roles that get what Awa's SQL producers need, and no more.
	Producers []string
}

// DefaultVersion is the schema version that an installation claims unless told
// otherwise, the newest that the stand-in was compared with.
const DefaultVersion = 43

// coreSchema is where Awa keeps what does not depend on the storage schema.
const coreSchema = "awa"

// mark is the comment by which Uninstall knows our own schemas.
const mark = "shardpilot rehearsal"

// Install makes the schema in one transaction. It refuses, with a
// *control.Fault, where schema awa or the storage schema exists already: that
// may be somebody's Awa.
func Install(ctx context.Context, conn *pgx.Conn, o Options) error {
	o.Storage = cmp.Or(o.Storage, coreSchema)
	o.Version = cmp.Or(o.Version, DefaultVersion)
	o.State = cmp.Or(o.State, "active")
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := makeSchemas(ctx, tx, o); err != nil {
			return err
		}
		for _, part := range []struct{ folder, path string }{
			{"awa", path(coreSchema, o.Storage)},
			{"storage", path(o.Storage, coreSchema)},
			{"compat", path(coreSchema, o.Storage)},
		} {
			if err := runFolder(ctx, tx, part.folder, part.path); err != nil {
				return err
			}
		}
		if err := fill(ctx, tx, o); err != nil {
			return err
		}
		return grantProducers(ctx, tx, o)
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P06" { // duplicate_schema: somebody was faster
		return occupied(err)
	}
	if err != nil {
		return fmt.Errorf("install the rehearsal schema: %w", err)
	}
	return nil
}

func occupied(err error) error {
	return &control.Fault{
		Kind: control.FaultRefused,
		What: "this database holds a schema of Awa's name already; a rehearsal would be mistaken for it",
		Hint: "Rehearse in a database of its own, or remove an earlier rehearsal first.",
		Err:  err,
	}
}

// makeSchemas makes both schemas as the connected role, for the owner, and
// goes on as the owner.
func makeSchemas(ctx context.Context, tx pgx.Tx, o Options) error {
	names := slices.Compact([]string{coreSchema, o.Storage})
	var taken bool
	err := tx.QueryRow(ctx, statement("admin/schema_taken.sql"), names).Scan(&taken)
	if err != nil {
		return err
	}
	if taken {
		return occupied(nil)
	}
	owner := "CURRENT_USER"
	if o.Owner != "" {
		owner = pgx.Identifier{o.Owner}.Sanitize()
	}
	for _, name := range names {
		name = pgx.Identifier{name}.Sanitize()
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+name+" AUTHORIZATION "+owner); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "COMMENT ON SCHEMA "+name+" IS '"+mark+"'"); err != nil {
			return err
		}
	}
	if o.Owner != "" {
		_, err = tx.Exec(ctx, "SET LOCAL ROLE "+owner)
	}
	return err
}

// path is a search path of two schemas, the first for what is made.
func path(first, second string) string {
	return pgx.Identifier{first}.Sanitize() + ", " + pgx.Identifier{second}.Sanitize() + ", pg_catalog"
}

func runFolder(ctx context.Context, tx pgx.Tx, folder, searchPath string) error {
	if _, err := tx.Exec(ctx, statement("admin/search_path.sql"), searchPath); err != nil {
		return err
	}
	names, err := statementsIn(folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tx.Exec(ctx, statement(name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// fill writes the rows that say which version this is and where jobs are.
func fill(ctx context.Context, tx pgx.Tx, o Options) error {
	current, prepared, details := "canonical", any(nil), "{}"
	if o.State != "canonical" {
		prepared = "queue_storage"
		details = `{"schema": ` + quoteJSON(o.Storage) + `}`
	}
	if o.State == "active" {
		current, prepared = "queue_storage", nil
	}
	if _, err := tx.Exec(ctx, statement("admin/version.sql"), o.Version, mark); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, statement("admin/transition.sql"), current, prepared, o.State, details); err != nil {
		return err
	}
	if o.State == "canonical" {
		return nil
	}
	_, err := tx.Exec(ctx, statement("admin/backend.sql"), o.Storage)
	return err
}

// grantProducers gives the producer roles what enqueuing needs: the lanes,
// their sequences, those to come too, and CREATE for lanes they use first.
func grantProducers(ctx context.Context, tx pgx.Tx, o Options) error {
	storage := pgx.Identifier{o.Storage}.Sanitize()
	for _, role := range o.Producers {
		role = pgx.Identifier{role}.Sanitize()
		for _, grant := range []string{
			"GRANT USAGE ON SCHEMA awa TO " + role,
			"GRANT USAGE, CREATE ON SCHEMA " + storage + " TO " + role,
			"GRANT SELECT ON awa.queue_meta, awa.storage_transition_state, awa.runtime_storage_backends TO " + role,
			"GRANT SELECT, INSERT ON " + storage + ".queue_lanes, " + storage + ".queue_enqueue_heads, " +
				storage + ".queue_claim_heads, " + storage + ".ready_entries, " + storage + ".ready_segments TO " + role,
			"GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA " + storage + " TO " + role,
			"ALTER DEFAULT PRIVILEGES IN SCHEMA " + storage + " GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO " + role,
		} {
			if _, err := tx.Exec(ctx, grant); err != nil {
				return fmt.Errorf("grant to a producer: %w", err)
			}
		}
	}
	return nil
}
