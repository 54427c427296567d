package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// settleLimit bounds the logging of a step that came to nothing.
const settleLimit = 10 * time.Second

// settle logs a step that came to nothing, in a transaction of its own.
//
// A superseded step used up the pending step, if that is still there: it was
// for a count that is no more. A refused or failed one did not, it may be tried
// again while it lasts.
func (g *Gate) settle(ctx context.Context, s control.Step, h *halt, made provisioned) (control.Change, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	e := entryOf(s)
	e.Outcome, e.Reason, e.Detail, e.Pending = h.outcome, h.rule, h.words(), 0
	e.Forced, e.Blockers = false, nil // nothing was done in spite of them
	if note := made.note(false); note != "" {
		e.Detail = join(e.Detail, note)
	}
	if s.Queue == "" || s.Actor == "" { // not even a log can name it
		return control.Change{}, refused(e.Detail, "")
	}
	var err error
	for range 3 {
		if err = g.record(ctx, s, &e); err == nil {
			return changeOf(e), nil
		}
		if isServer(err) || ctx.Err() != nil || Fatal(err) {
			break
		}
		wait(ctx, 100*time.Millisecond) // the connection broke: on a new one
	}
	return control.Change{}, unlogged(e, err)
}

// record writes the entry, unless an earlier attempt has.
func (g *Gate) record(ctx context.Context, s control.Step, e *control.LogEntry) error {
	return g.asked(ctx, defaultBounds, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("store/lock_log"), lockClass, lockLog); err != nil {
			return err
		}
		if !e.At.IsZero() {
			var there bool
			if err := tx.QueryRow(ctx, query("gate/entry"), e.Queue, e.At, e.Actor, int64(0)).Scan(&there); err != nil || there {
				return err
			}
		}
		if err := tx.QueryRow(ctx, query("gate/now")).Scan(&e.At); err != nil {
			return err
		}
		e.At, e.Pending = e.At.UTC(), 0
		if s.Pending != 0 && e.Outcome == control.OutcomeSuperseded {
			tag, err := tx.Exec(ctx, query("store/pending_use"), s.Queue, s.Pending)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 1 {
				e.Pending = s.Pending
			}
		}
		return appendEntry(ctx, tx, *e, 0)
	})
}

func unlogged(e control.LogEntry, err error) error {
	why := interpret(err, "write the decision log")
	kind, what := control.FaultFailed, ""
	if e.Outcome == control.OutcomeRefused || e.Outcome == control.OutcomeSuperseded {
		kind = control.FaultRefused
	}
	var f *control.Fault
	if errors.As(why, &f) {
		what = f.What
		if f.Kind == control.FaultNoConnection && e.Outcome == control.OutcomeFailed {
			kind = f.Kind
		}
	} else if why != nil {
		what = why.Error()
	}
	return &control.Fault{Kind: kind, Err: err,
		What: fmt.Sprintf("the count of queue %q was not changed (%s): %s; and that could not be logged: %s", e.Queue, e.Outcome, e.Detail, what),
		Hint: "shardpilot grants --level act prints what the role needs, shardpilot doctor what else is in the way"}
}

// isServer says whether the server answered with an error, as against not
// answering.
func isServer(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg)
}
