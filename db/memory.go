package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control/loop"
)

// WatchOnly says in a sentence why policies and decisions cannot be kept in
// the database; "" when they can.
func (c *Config) WatchOnly(ctx context.Context) (string, error) {
	conn, err := c.Connect(ctx)
	if err != nil {
		return "", err
	}
	defer closeQuietly(conn)
	schema, err := SchemaState(ctx, conn)
	switch {
	case err != nil:
		return "", err
	case schema.Usable():
		return "", nil
	case schema.Hidden:
		return "watch only: this role may not read the schema shardpilot; shardpilot doctor has the grant", nil
	case schema.Foreign:
		return "watch only: there is a schema shardpilot that is not ours", nil
	case schema.There:
		return fmt.Sprintf("watch only: the schema shardpilot has version %d, this program needs %d", schema.Version, SchemaVersion), nil
	}
	return "watch only: decisions are kept in memory; shardpilot install makes the schema that keeps them", nil
}

func closeQuietly(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server notices by itself when this fails
}

// KeepPruned bounds the log and the producers' reports once an hour while lead
// leads, until ctx ends. What is left over, or fails, goes an hour later. The
// first time comes sooner: where people only ever look in for a while, no
// process lives for an hour. failed is told why it fails.
func KeepPruned(ctx context.Context, c *Config, lead loop.Leader, failed func(error)) {
	next := time.NewTimer(5 * time.Minute)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(time.Hour)
		}
		if lead.Leadership().Leading {
			s := NewStore(c, lead)
			if _, err := s.Prune(ctx, Retention{}); err != nil && ctx.Err() == nil {
				failed(err)
			}
			_ = s.Close(context.WithoutCancel(ctx))
		}
	}
}
