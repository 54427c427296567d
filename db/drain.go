package db

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// drained refuses to lower a count while a lane at or above it holds jobs or
// is locked.
func drained(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) error {
	left, known, err := remains(ctx, tx, sc, s)
	switch {
	case err != nil || left == "":
		return err
	case known:
		left += "; wait until workers have drained them, or force it: they drain all the same, and order per key is broken until then"
	}
	return refuse(control.ReasonNotDrained, left)
}

// setAside is what a person lowers a count in spite of, nothing when no lane is
// in the way. That the lanes cannot be read must not keep them from it.
func setAside(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) ([]control.Blocker, error) {
	var left string
	err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		var err error
		left, _, err = remains(ctx, inner, sc, s)
		return err
	})
	if isServer(err) {
		left, err = "whether the lanes from shard "+strconv.Itoa(s.To)+" on are empty could not be read", nil
	}
	if err != nil || left == "" {
		return nil, err
	}
	return []control.Blocker{{Rule: control.ReasonNotDrained, Detail: left}}, nil
}

// remains says what is left in the lanes at or above a count, "" when they are
// empty and unlocked; known is whether all of them could be read.
//
// The locks are read first, the depth in a later statement with a snapshot of
// its own: a producer whose lock was gone had committed, so its jobs are in the
// depth. In the other order one that commits in between would be in neither.
func remains(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) (left string, known bool, err error) {
	var held, awaited int
	if err := tx.QueryRow(ctx, queryIn("drain/locks", sc.schema), sc.schema, s.Queue, s.To).Scan(&held, &awaited); err != nil {
		return "", false, err
	}
	var lanes, deep, unknown int
	var jobs int64
	if err := tx.QueryRow(ctx, queryIn("drain/depth", sc.schema), sc.schema, s.Queue, s.To).Scan(&lanes, &deep, &jobs, &unknown); err != nil {
		return "", false, err
	}
	switch {
	case unknown > 0:
		return fmt.Sprintf("the claim sequence of %d of %s from shard %d on may not be read by this role, so whether they are empty is not known",
			unknown, control.Plural(lanes, "lane"), s.To), false, nil
	case held+awaited > 0 || deep > 0:
		return fmt.Sprintf("from shard %d on %s left in %d of %s, and producers hold %s and wait for %d",
			s.To, control.Plural(int(jobs), "job"), deep, control.Plural(lanes, "lane"), control.Plural(held, "lane lock"), awaited), true, nil
	}
	return "", true, nil
}
