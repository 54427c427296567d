package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// dropChunk is how many sequences one transaction drops: each costs locks, and
// the lock table of a server is small next to thousands of lanes.
const dropChunk = 200

// Uninstall removes what Install made, with every job in it. It refuses, with
// a *control.Fault, to touch a schema awa that Install did not make. Lanes go
// in several transactions, so an interrupted Uninstall is to be repeated.
func Uninstall(ctx context.Context, conn *pgx.Conn) error {
	schemas, err := ours(ctx, conn)
	if err != nil {
		return fmt.Errorf("look for a rehearsal schema: %w", err)
	}
	if len(schemas) == 0 {
		return &control.Fault{
			Kind: control.FaultRefused,
			What: "this database holds no rehearsal schema",
			Hint: "A real Awa is never removed from here.",
		}
	}
	for _, name := range schemas {
		if err := dropLanes(ctx, conn, name); err != nil {
			return fmt.Errorf("drop the lanes of schema %q: %w", name, err)
		}
	}
	for i := len(schemas) - 1; i >= 0; i-- {
		if _, err := conn.Exec(ctx, "DROP SCHEMA "+pgx.Identifier{schemas[i]}.Sanitize()+" CASCADE"); err != nil {
			return fmt.Errorf("drop schema %q: %w", schemas[i], err)
		}
	}
	return nil
}

// ours are the schemas that carry our mark; nil when awa itself does not.
func ours(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, statement("admin/marked_schemas.sql"), mark)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func dropLanes(ctx context.Context, conn *pgx.Conn, schema string) error {
	for {
		var list *string
		err := conn.QueryRow(ctx, statement("admin/some_sequences.sql"), schema, dropChunk).Scan(&list)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && list == nil {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "DROP SEQUENCE "+*list); err != nil {
			return err
		}
	}
}

// quoteJSON is s as a JSON string.
func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return `""`
	}
	return string(b)
}
