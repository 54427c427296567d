package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

func readPolicy(row pgx.CollectableRow) (control.QueuePolicy, error) {
	var p control.QueuePolicy
	var accepted, pinUntil, upAt, downAt *time.Time
	var pin *int
	var pinBy, pinWhy, upBy, upWhy, downBy, downWhy *string
	err := row.Scan(&p.Queue, &p.Auto, &p.Enforced, &p.Max, &p.AcceptedBy, &accepted,
		&pin, &pinUntil, &pinBy, &pinWhy, &upAt, &upBy, &upWhy, &downAt, &downBy, &downWhy,
		&p.UpdatedBy, &p.UpdatedAt, &p.Generation)
	if err != nil {
		return p, err
	}
	p.AcceptedAt, p.UpdatedAt = unstamp(accepted), p.UpdatedAt.UTC()
	if pin != nil {
		p.Pin = &control.Pin{Shards: *pin, Until: unstamp(pinUntil), By: *pinBy, Why: *pinWhy}
	}
	p.PauseUp, p.PauseDown = pauseOf(upAt, upBy, upWhy), pauseOf(downAt, downBy, downWhy)
	return p, nil
}

// pauseOf relies on the table's constraint that all three are there or none.
func pauseOf(at *time.Time, by, why *string) *control.Pause {
	if at == nil {
		return nil
	}
	return &control.Pause{At: at.UTC(), By: *by, Why: *why}
}

// policyArgs are $1 to $17 of the two statements that write a policy.
func policyArgs(p control.QueuePolicy) []any {
	args := []any{p.Queue, p.Auto, p.Enforced, p.Max, p.AcceptedBy, stamp(p.AcceptedAt)}
	if p.Pin == nil {
		args = append(args, nil, nil, nil, nil)
	} else {
		args = append(args, p.Pin.Shards, stamp(p.Pin.Until), p.Pin.By, p.Pin.Why)
	}
	for _, pause := range []*control.Pause{p.PauseUp, p.PauseDown} {
		if pause == nil {
			args = append(args, nil, nil, nil)
		} else {
			args = append(args, pause.At, pause.By, pause.Why)
		}
	}
	return append(args, p.UpdatedBy)
}

// putPolicy writes a policy on the condition of its generation.
func putPolicy(ctx context.Context, tx pgx.Tx, p control.QueuePolicy) error {
	if err := p.Validate(); err != nil {
		return err
	}
	name, args := "store/policy_insert", policyArgs(p)
	if p.Generation > 0 {
		name, args = "store/policy_update", append(args, p.Generation)
	}
	tag, err := tx.Exec(ctx, query(name), args...)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	who := "it was removed meanwhile"
	var by string
	var at time.Time
	switch err := tx.QueryRow(ctx, query("store/policy_by"), p.Queue).Scan(&by, &at); {
	case err == nil:
		who = fmt.Sprintf("%s did at %s", by, at.UTC().Format(time.RFC3339))
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	return refused(fmt.Sprintf("the policy of queue %q was changed by somebody else: %s", p.Queue, who), "look at it again, then decide again")
}
