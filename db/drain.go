package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// drained refuses to lower a count while a lane at or above it holds jobs or
// is locked.
//
// The locks are read first, the depth in a later statement with a snapshot of
// its own: a producer whose lock was gone had committed, so its jobs are in the
// depth. In the other order one that commits in between would be in neither.
func drained(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) error {
	var held, awaited int
	if err := tx.QueryRow(ctx, queryIn("drain/locks", sc.schema), sc.schema, s.Queue, s.To).Scan(&held, &awaited); err != nil {
		return err
	}
	var lanes, deep, unknown int
	var jobs int64
	if err := tx.QueryRow(ctx, queryIn("drain/depth", sc.schema), sc.schema, s.Queue, s.To).Scan(&lanes, &deep, &jobs, &unknown); err != nil {
		return err
	}
	switch {
	case unknown > 0:
		return refuse(control.ReasonNotDrained, fmt.Sprintf(
			"the claim sequence of %d of %s from shard %d on may not be read by this role, so whether they are empty is not known", unknown, control.Plural(lanes, "lane"), s.To))
	case held+awaited > 0 || deep > 0:
		return refuse(control.ReasonNotDrained, fmt.Sprintf(
			"from shard %d on %s left in %d of %s, and producers hold %s and wait for %d; wait until workers have drained them, or force it: they drain all the same, and order per key is broken until then", s.To, control.Plural(int(jobs), "job"), deep, control.Plural(lanes, "lane"), control.Plural(held, "lane lock"), awaited))
	}
	return nil
}
