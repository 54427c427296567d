package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/rehearsal"
)

// mayPlay refuses a database that somebody else uses.
func (b *Bench) mayPlay(ctx context.Context) error {
	var taken []string
	if err := b.conn.QueryRow(ctx, statement("taken"), mark).Scan(&taken, &b.made); err != nil {
		return fmt.Errorf("look what the database holds: %w", err)
	}
	if len(taken) == 0 || b.made {
		return nil
	}
	what := "the database holds a schema " + taken[0]
	if len(taken) > 1 {
		what = "the database holds schemas " + taken[0] + " and " + taken[1]
	}
	return &control.Fault{Kind: control.FaultRefused, What: what + " that no experiment made; its queues would be lost",
		Hint: "make an empty database for the experiment and name that"}
}

// mark is the comment on schema shardpilot by which a bench knows its own.
const mark = "made by shardpilot experiment; goes with it"

// reset makes both schemas anew.
func (b *Bench) reset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := b.freshAwa(ctx); err != nil {
		return err
	}
	b.made = true
	if _, err := db.Install(ctx, b.conn); err != nil {
		return err
	}
	if _, err := b.conn.Exec(ctx, "COMMENT ON SCHEMA shardpilot IS '"+mark+"'"); err != nil {
		return fmt.Errorf("mark the schema: %w", err)
	}
	for _, tidy := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := b.conn.Exec(ctx, tidy); err != nil && !lacksRight(err) {
			return fmt.Errorf("%s: %w", tidy, err)
		}
	}
	return nil
}

// freshAwa makes schema awa anew: the rehearsal's, or a copy of the real one.
func (b *Bench) freshAwa(ctx context.Context) error {
	if b.awa != nil {
		closeConn(b.conn)
		if err := b.awa.anew(ctx); err != nil {
			return err
		}
		return b.connect(ctx)
	}
	if err := b.connect(ctx); err != nil {
		return err
	}
	if err := b.clear(ctx); err != nil {
		return err
	}
	return rehearsal.Install(ctx, b.conn, rehearsal.Options{})
}

// clear removes the schemas that a bench made.
func (b *Bench) clear(ctx context.Context) error {
	if !b.made {
		return nil
	}
	if _, err := db.Uninstall(ctx, b.conn, true); err != nil {
		return err
	}
	var none *control.Fault
	if err := rehearsal.Uninstall(ctx, b.conn); err != nil && !(errors.As(err, &none) && none.Kind == control.FaultRefused) {
		return err
	}
	b.made = false
	return nil
}

func lacksRight(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501"
}

// queue is the one that is played with.
const queue = rehearsal.HotQueue

// prepare gives the queue its first count, with the lanes for it, and opts it
// in where a controller is to play.
func (b *Bench) prepare(ctx context.Context, start, most int, auto bool) error {
	if err := rehearsal.Provision(ctx, b.conn, queue, start); err != nil {
		return err
	}
	if err := rehearsal.SetShards(ctx, b.conn, queue, start); err != nil {
		return err
	}
	if !auto {
		return nil
	}
	store := db.NewStore(b.cfg, nil)
	defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
	by := cmp.Or(b.o.By, "experiment")
	return store.SetPolicy(ctx, control.QueuePolicy{Queue: queue, Auto: true, Enforced: true, Max: most,
		AcceptedBy: by, AcceptedAt: b.o.Now(), UpdatedBy: by},
		control.LogEntry{Mode: control.ModeEnforced, Reason: control.ReasonModeSet, Detail: "opted in by the experiment", Verb: control.VerbAuto, Actor: by})
}
