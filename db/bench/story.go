package bench

import (
	"context"
	"fmt"
	"slices"

	"shardpilot/control"
	"shardpilot/control/experiment"
	"shardpilot/db"
)

// mostEntries is above what the log of a run can hold.
const mostEntries = 10_000

// finish reads from the log what the controller did and sums the run up.
func (r *run) finish(ctx context.Context, most int) (experiment.Result, error) {
	entries, err := db.ReadLog(ctx, r.b.conn, db.LogFilter{Queue: queue}, mostEntries)
	if err != nil {
		return experiment.Result{}, fmt.Errorf("read what the controller did: %w", err)
	}
	slices.Reverse(entries)
	for _, e := range entries {
		r.tell(e, most)
	}
	if err := r.b.conn.QueryRow(ctx, statement("count"), queue).Scan(&r.out.End); err != nil {
		return experiment.Result{}, fmt.Errorf("read the count: %w", err)
	}
	count := r.out.Start
	if n := len(r.out.Changes); n > 0 {
		count = r.out.Changes[n-1].To
	}
	if count != r.out.End {
		r.broken("the count is %d, and %d by the log", r.out.End, count)
	}
	r.shardSeconds()
	r.out.Complete()
	return r.out, nil
}

// tell takes one entry of the log in.
func (r *run) tell(e control.LogEntry, most int) {
	at := e.At.Sub(r.began).Seconds()
	switch {
	case e.Kind == control.LogVerdict:
		r.out.Verdicts = append(r.out.Verdicts, fmt.Sprintf("%.1f s %d→%d %s: %s", at, e.From, e.To, e.Verdict, e.Detail))
	case e.Reason == control.ReasonOscillating:
		r.out.Oscillating = true
	case e.Kind != control.LogChange:
	case e.Outcome != control.OutcomeApplied:
		r.out.Verdicts = append(r.out.Verdicts, fmt.Sprintf("%.1f s %d→%d %s: %s", at, e.From, e.To, e.Outcome, e.Detail))
	default:
		if e.To != 2*e.From && e.To != e.From/2 || e.To < control.MinShards || e.To > most {
			r.broken("%.1f s: a step from %d to %d, at most %d", at, e.From, e.To, most)
		}
		r.out.Changes = append(r.out.Changes, experiment.ChangeAt{AtS: max(at, 0), From: e.From, To: e.To, Reason: string(e.Reason)})
	}
}

func (r *run) broken(format string, args ...any) {
	r.out.Broken = append(r.out.Broken, fmt.Sprintf(format, args...))
}

// shardSeconds gives each bin the count that was configured, by the second.
func (r *run) shardSeconds() {
	for i := range r.out.Bins {
		bin := &r.out.Bins[i]
		at, end, count := bin.AtS, bin.AtS+bin.Seconds, r.out.Start
		for _, c := range r.out.Changes {
			if c.AtS > at && c.AtS < end {
				bin.ShardS += (c.AtS - at) * float64(count)
				at = c.AtS
			}
			if c.AtS < end {
				count = c.To
			}
		}
		bin.ShardS += (end - at) * float64(count)
	}
}
