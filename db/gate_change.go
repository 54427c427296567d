package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// change is the transaction in which a count is written, with everything that
// belongs to it.
func (g *Gate) change(ctx context.Context, conn *pgx.Conn, s control.Step, made provisioned) error {
	var entry control.LogEntry
	committing := false
	err := inTx(ctx, conn, gateBounds, func(tx pgx.Tx) error {
		sc, err := g.alone(ctx, tx, s)
		if err != nil {
			return err
		}
		if err := lanesReady(ctx, tx, sc, s); err != nil {
			return err
		}
		if err := flip(ctx, tx, s); err != nil {
			return err
		}
		if s.Drained { // after the flip, so that the wait for its row does not come between
			if err := drained(ctx, tx, sc, s); err != nil {
				return err
			}
		} else if s.Force && s.To < s.From && s.Entry.Reason != control.ReasonRevert {
			aside, err := setAside(ctx, tx, sc, s)
			if err != nil {
				return err
			}
			s.Entry.SetAside(aside...)
		}
		if entry, err = g.sign(ctx, tx, s, sc, made); err != nil {
			return err
		}
		committing = true
		return nil
	})
	switch {
	case err == nil:
		return &applied{entry}
	case committing && (conn.IsClosed() || !answered(err)):
		return &commitLost{entry, err}
	}
	return err
}

// alone takes the locks and looks again: from here on no other gate writes a
// count, and nobody writes to the log, until this transaction ends.
func (g *Gate) alone(ctx context.Context, tx pgx.Tx, s control.Step) (scene, error) {
	if err := turn(ctx, tx, s); err != nil {
		return scene{}, err
	}
	if _, err := tx.Exec(ctx, query("store/lock_log"), lockClass, lockLog); err != nil {
		return scene{}, err
	}
	return g.look(ctx, tx, s)
}

// turn takes the gate's lock until the transaction ends. A person waits for
// other changes to be written; the controller, of whose changes only one may be
// in flight, comes again later.
func turn(ctx context.Context, tx pgx.Tx, s control.Step) error {
	if !s.Hand {
		var got bool
		err := tx.QueryRow(ctx, query("gate/try_lock"), lockClass, lockGate).Scan(&got)
		if err == nil && !got {
			return refuse(control.ReasonInFlight, "another count of this database")
		}
		return err
	}
	if err := setLimits(ctx, tx, patientBounds); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, query("gate/lock"), lockClass, lockGate); err != nil {
		return err
	}
	return setLimits(ctx, tx, gateBounds)
}

func setLimits(ctx context.Context, tx pgx.Tx, b limits) error {
	_, err := tx.Exec(ctx, query("bound_transaction"), milliseconds(b.Statement), milliseconds(b.Lock), milliseconds(b.Idle))
	return err
}

// flip is the compare-and-set. Whoever holds the row without our lock, as a
// statement by hand does, is waited for, and then the count is another.
func flip(ctx context.Context, tx pgx.Tx, s control.Step) error {
	name, args := "gate/flip", []any{s.Queue, s.To}
	if s.From != control.MinShards {
		name, args = "gate/flip_row", append(args, s.From)
	}
	tag, err := tx.Exec(ctx, query(name), args...)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	var count int
	if err := tx.QueryRow(ctx, query("gate/count_only"), s.Queue).Scan(&count); err != nil {
		return err
	}
	return moved(ctx, tx, s, count)
}

// sign uses up the pending step, saves the policy and writes the log.
func (g *Gate) sign(ctx context.Context, tx pgx.Tx, s control.Step, sc scene, made provisioned) (control.LogEntry, error) {
	e := entryOf(s)
	e.Outcome, e.Pending = control.OutcomeApplied, s.Pending
	if note := made.note(true); note != "" {
		e.Detail = join(e.Detail, note)
	}
	if s.Pending != 0 {
		tag, err := tx.Exec(ctx, query("store/pending_use"), s.Queue, s.Pending)
		if err != nil {
			return e, err
		}
		if tag.RowsAffected() != 1 {
			return e, gone(ctx, tx, s)
		}
	}
	if s.Save {
		p := s.Policy
		p.UpdatedBy = s.Actor
		if err := putPolicy(ctx, tx, p); err != nil {
			var f *control.Fault
			if errors.As(err, &f) {
				return e, refuse(control.ReasonPolicyChanged, f.What)
			}
			return e, err
		}
	}
	if err := tx.QueryRow(ctx, query("gate/now")).Scan(&e.At); err != nil {
		return e, err
	}
	e.At = e.At.UTC()
	if err := appendEntry(ctx, tx, e, sc.epoch); err != nil {
		return e, err
	}
	// Nobody else writes to the log now, so the newest entry is ours.
	return e, tx.QueryRow(ctx, query("store/last")).Scan(&e.ID)
}

// entryOf is a step's entry with whatever the step itself says.
func entryOf(s control.Step) control.LogEntry {
	e := s.Entry
	e.Kind, e.Queue, e.Mode, e.From, e.To, e.Actor = control.LogChange, s.Queue, s.Mode, s.From, s.To, s.Actor
	e.Action = control.ActionGrow
	if s.To < s.From {
		e.Action = control.ActionShrink
	}
	return e
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// answered says whether a commit that failed was answered by the server.
func answered(err error) bool {
	return errors.Is(err, pgx.ErrTxCommitRollback) || isServer(err)
}

// lookUp finds out whether an entry was committed. It answers only when the
// transaction that wrote it is over.
func (g *Gate) lookUp(ctx context.Context, e control.LogEntry) (there bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.doubt)
	defer cancel()
	for {
		err = g.asked(ctx, patientBounds, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, query("gate/lock"), lockClass, lockGate); err != nil {
				return err
			}
			return tx.QueryRow(ctx, query("gate/entry"), e.Queue, e.At, e.Actor, e.ID).Scan(&there)
		})
		if err == nil || ctx.Err() != nil || Fatal(err) {
			return there, err
		}
		wait(ctx, 200*time.Millisecond)
	}
}

func (g *Gate) asked(ctx context.Context, b limits, fn func(pgx.Tx) error) error {
	conn, err := g.connect(ctx)
	if err != nil {
		return err
	}
	return inTx(ctx, conn, b, fn)
}

func inDoubt(s control.Step, err error) error {
	return &control.Fault{Kind: control.FaultFailed,
		What: fmt.Sprintf("it is not known whether the count of queue %q was changed (%s): the connection broke at the commit, and the server could not be asked since", s.Queue, arrow(s)),
		Hint: "look at the queue and its log before anything else: shardpilot show, shardpilot log", Err: err}
}
