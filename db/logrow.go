package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// execer is what a connection and a transaction have in common for writing.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// appendEntry writes one entry of the log; the log's lock must be held. epoch
// is 0 for what a person did.
func appendEntry(ctx context.Context, tx execer, e control.LogEntry, epoch int64) error {
	blockers := e.Blockers
	if blockers == nil {
		blockers = []control.Blocker{}
	}
	var js [3]string
	for i, v := range []any{blockers, e.Evidence, e.Before} {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write an entry of the log: %w", err)
		}
		js[i] = string(b)
	}
	_, err := tx.Exec(ctx, query("store/append"), stamp(e.At), string(e.Kind), e.Queue, string(e.Mode), string(e.Action),
		e.From, e.To, string(e.Reason), e.Detail, e.Actor, e.Host, e.Why, string(e.Verb),
		string(e.Outcome), string(e.Verdict), number(e.Gain), number(e.PredictedGain), stamp(e.Until), e.Pending,
		js[0], js[1], js[2], epoch, e.Forced)
	return err
}

// stamp is NULL for the zero time.
func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func unstamp(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// number is NULL for an absent value.
func number(v control.Value) *float64 {
	if f, ok := v.Get(); ok {
		return &f
	}
	return nil
}

func value(f *float64) control.Value {
	if f == nil {
		return control.None()
	}
	return control.Some(*f)
}

// readEntry reads one row of store/newer.sql and its likes.
func readEntry(row pgx.CollectableRow) (control.LogEntry, error) {
	var e control.LogEntry
	var until *time.Time
	var gain, predicted *float64
	var blockers, evidence, before string
	err := row.Scan(&e.ID, &e.At, &e.Kind, &e.Queue, &e.Mode, &e.Action, &e.From, &e.To, &e.Reason, &e.Detail,
		&e.Actor, &e.Host, &e.Why, &e.Verb, &e.Outcome, &e.Verdict, &gain, &predicted,
		&until, &e.Pending, &blockers, &evidence, &before, &e.Role, &e.Forced)
	if err != nil {
		return e, err
	}
	e.At = e.At.UTC()
	e.Until, e.Gain, e.PredictedGain = unstamp(until), value(gain), value(predicted)
	// The database says these are JSON of the right type. What a newer program
	// put inside that we cannot read is left out: one entry must not keep the
	// whole log from being read.
	if json.Unmarshal([]byte(blockers), &e.Blockers) != nil {
		e.Blockers = nil
	}
	if json.Unmarshal([]byte(evidence), &e.Evidence) != nil {
		e.Evidence = control.Evidence{}
	}
	if json.Unmarshal([]byte(before), &e.Before) != nil {
		e.Before = control.Figures{}
	}
	return e, nil
}

func readPending(row pgx.CollectableRow) (control.Pending, error) {
	var p control.Pending
	var evidence string
	var predicted *float64
	err := row.Scan(&p.Queue, &p.From, &p.To, &p.Generation, &p.At, &p.Until, &p.Reason, &p.Detail, &evidence, &predicted)
	if err != nil {
		return p, err
	}
	p.At, p.Until, p.PredictedGain = p.At.UTC(), p.Until.UTC(), value(predicted)
	if json.Unmarshal([]byte(evidence), &p.Evidence) != nil {
		p.Evidence = control.Evidence{}
	}
	return p, nil
}

func putPending(ctx context.Context, tx execer, p control.Pending) error {
	evidence, err := json.Marshal(p.Evidence)
	if err != nil {
		return fmt.Errorf("write a pending step: %w", err)
	}
	_, err = tx.Exec(ctx, query("store/pending_put"), p.Queue, p.From, p.To, p.Generation, p.At, p.Until,
		string(p.Reason), p.Detail, string(evidence), number(p.PredictedGain))
	return err
}
