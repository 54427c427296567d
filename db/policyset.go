package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
)

// SetPolicy writes what an operator wants of a queue, on the condition of
// p.Generation, and the act with who, host and reason into the log, in one
// transaction. act needs Verb and Actor; its time is the server's.
func (s *Store) SetPolicy(ctx context.Context, p control.QueuePolicy, act control.LogEntry) error {
	act.Kind, act.Queue = control.LogAct, p.Queue
	if act.Verb == "" || act.Actor == "" {
		return &control.Fault{Kind: control.FaultUsage, What: "a change of policy needs what is done and who does it",
			Hint: "name the operator"}
	}
	return s.Save(ctx, loop.Batch{Entries: []control.LogEntry{act}, Policies: []control.QueuePolicy{p}})
}

// Policy reads the policy of one queue: a manual one of generation 0 when it
// has none.
func (s *Store) Policy(ctx context.Context, queue string) (control.QueuePolicy, error) {
	found := control.QueuePolicy{Queue: queue}
	err := s.on(ctx, "read the policies", func(ctx context.Context, conn *pgx.Conn) error {
		all, err := collect(ctx, conn, readPolicy, query("store/policies"))
		for _, p := range all {
			if p.Queue == queue {
				found = p
			}
		}
		return err
	})
	return found, err
}
