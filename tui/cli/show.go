package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// Row is one queue as show prints it.
type Row struct {
	Reading control.Reading     `json:"reading"` // over the last seconds
	Policy  control.QueuePolicy `json:"policy"`
	Mode    control.Mode        `json:"mode"` // what the policy asks for
	Pending *control.Pending    `json:"pending"`
	// TakeUp and Producers are who works with the count, and how that is known.
	TakeUp    control.TakeUp     `json:"take_up"`
	Producers []control.Producer `json:"producers"`
	Last      *control.LogEntry  `json:"last"` // newest entry of the log, null when there is none
}

// Show prints a block for each queue: what it is at, what it may do, and the
// last thing that was decided, with its reason.
func Show(w io.Writer, rows []Row, now time.Time) error {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		count := "n/a"
		if r.Reading.Shards > 0 {
			count = fmt.Sprint(r.Reading.Shards)
		}
		fmt.Fprintf(&b, "%s  S %s, %s\n", Safe(r.Reading.Queue), count, policyWords(r.Policy, r.Mode, now))
		g := r.Reading
		interval := ""
		if low, ok := g.ShareLow.Get(); ok {
			interval = fmt.Sprintf(" (95%% in %.2f..%.2f)", low, g.ShareHigh.Or(low))
		}
		fmt.Fprintf(&b, "  signal    %s waiting, share %s%s over %.0f s, bottleneck %s, %s jobs/s, %s wait each\n",
			number(g.Waiters, 1), number(g.Share, 2), interval, g.WindowS, g.Bottleneck, number(g.EnqueueRate, 0), seconds(g.WaitPerEnqueueS))
		if g.Holder != nil {
			fmt.Fprintf(&b, "  holder    %s\n", holderWords(*g.Holder))
		}
		fmt.Fprintf(&b, "  backlog   %s ready, lag %s\n", number(g.Depth, 0), seconds(g.LagS))
		showDrain(&b, g.Drain)
		showTakeUp(&b, r, count)
		if p := r.Pending; p != nil && p.Until.Before(now) {
			fmt.Fprintf(&b, "  pending   %d -> %d has expired; no process leads that would withdraw it\n", p.From, p.To)
		} else if p != nil {
			fmt.Fprintf(&b, "  pending   %d -> %d, %s; ends %s\n", p.From, p.To, Safe(p.Detail), ago(p.Until, now))
		}
		if e := r.Last; e != nil {
			fmt.Fprintf(&b, "  last      %s: %s\n", ago(e.At, now), entryWords(*e))
		} else {
			b.WriteString("  last      nothing in the log\n")
		}
	}
	if len(rows) == 0 {
		b.WriteString("no queue has lanes yet: a queue appears with its first job\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Measuring says whether how fast a queue that is asked for drains, or whether a
// producer is in its upper lanes, is not known yet: that takes some seconds of
// looking.
func (c Command) Measuring(e control.Event) bool {
	return slices.ContainsFunc(e.Snapshot.Readings, func(r control.Reading) bool {
		d := r.Drain
		if d == nil || c.Act.Queue != "" && c.Act.Queue != r.Queue {
			return false
		}
		return d.State == control.DrainMeasuring || d.State == control.DrainUnknown && d.Jobs.OK()
	})
}

// showDrain says what is left above the count, until nothing is.
func showDrain(b *strings.Builder, d *control.Drain) {
	switch {
	case d.Active() && d.State == control.DrainUnknown:
		fmt.Fprintf(b, "  upper     %s\n", d.Words())
	case d.Active():
		fmt.Fprintf(b, "  DRAINING  %s\n            %s\n", d.Words(), control.DrainOrder)
	case d != nil:
		fmt.Fprintf(b, "  drained   %s\n", d.Words())
	}
}

// showTakeUp says how many producers are on the count and how that is known,
// and names those that are not, with what makes them see it.
func showTakeUp(b *strings.Builder, r Row, count string) {
	g := r.Reading
	fmt.Fprintf(b, "  producers %s of %s on S = %s", number(g.Applied, 0), number(g.Producers, 0), count)
	if how := r.TakeUp.How(); how != "" {
		fmt.Fprintf(b, " (%s)", how)
	}
	if r.TakeUp.Stale > 0 || r.TakeUp.Unknown > 0 {
		fmt.Fprintf(b, ", %d stale, %d unknown", r.TakeUp.Stale, r.TakeUp.Unknown)
	}
	b.WriteByte('\n')
	for _, p := range r.Producers {
		if p.State == control.AppliedStale {
			fmt.Fprintf(b, "  stale     %s (%s): %s. %s\n", Safe(p.Name()), p.How, Safe(p.Detail), p.Remedy(g.Shards))
		}
	}
	if r.TakeUp.Stale > 0 {
		for _, line := range control.SeesChange {
			b.WriteString("            " + line + "\n")
		}
	}
}

func policyWords(q control.QueuePolicy, mode control.Mode, now time.Time) string {
	words := string(mode)
	if q.Auto {
		words += fmt.Sprintf(", max %d, partitioned FIFO accepted by %s", q.Max, Safe(q.AcceptedBy))
	}
	if q.Pin.Holds(now) {
		words += fmt.Sprintf(", pinned to %d by %s", q.Pin.Shards, Safe(q.Pin.By))
		if !q.Pin.Until.IsZero() {
			words += " (ends " + ago(q.Pin.Until, now) + ")"
		}
	}
	for _, p := range []struct {
		pause *control.Pause
		way   string
	}{{q.PauseUp, "up"}, {q.PauseDown, "down"}} {
		if p.pause != nil {
			words += fmt.Sprintf(", steps %s paused by %s", p.way, Safe(p.pause.By))
		}
	}
	return words
}

// ago says how far t is from now, in either direction.
func ago(t, now time.Time) string {
	d := now.Sub(t).Round(time.Second)
	if d < 0 {
		return "in " + (-d).String()
	}
	return d.String() + " ago"
}

// Log prints entries, newest first, one a line; JSON prints one object a line.
func Log(w io.Writer, entries []control.LogEntry, asJSON bool) error {
	if asJSON {
		for _, e := range entries {
			if err := Object(w, e); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s  %s  %s\n", e.At.UTC().Format("2006-01-02 15:04:05Z"), fit(e.Queue, 20), entryWords(e))
	}
	if len(entries) == 0 {
		b.WriteString("the log has no such entries\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func entryWords(e control.LogEntry) string {
	words := fmt.Sprintf("%-9s %s", e.Kind, e.Reason)
	switch e.Kind {
	case control.LogChange:
		words = fmt.Sprintf("%-9s %d -> %d %s (%s)", e.Kind, e.From, e.To, e.Outcome, e.Reason)
	case control.LogDecision, control.LogProposed:
		step := string(e.Action)
		if e.Action != control.ActionHold {
			step = fmt.Sprintf("%s %d -> %d", e.Action, e.From, e.To)
		}
		words = fmt.Sprintf("%-9s %s, %s (%s)", e.Kind, e.Mode, step, e.Reason)
	case control.LogVerdict:
		words = fmt.Sprintf("%-9s %d -> %d %s", e.Kind, e.From, e.To, e.Verdict)
	}
	if detail := newIn(e); detail != "" {
		words += ": " + Safe(detail)
	}
	if e.Forced {
		words += "; FORCED"
		for i, b := range e.Blockers {
			words += []string{" past ", ", "}[min(i, 1)] + string(b.Rule) + " (" + Safe(b.Detail) + ")"
		}
	}
	if e.Actor != "" {
		words += "  by " + Safe(e.Actor)
		if name, _, person := strings.Cut(e.Actor, "@"); person && e.Role != "" && e.Role != name {
			words += " as " + Safe(e.Role)
		}
	}
	if e.Why != "" {
		words += fmt.Sprintf(" (%s)", Safe(e.Why))
	}
	return words
}

// newIn is what a detail says beyond the step and the actor, which stand beside
// it.
func newIn(e control.LogEntry) string {
	rest, step := strings.CutPrefix(e.Detail, fmt.Sprintf("%d → %d", e.From, e.To))
	if !step || e.Kind == control.LogAct {
		return e.Detail
	}
	return strings.TrimLeft(strings.TrimPrefix(rest, " by "+e.Actor), ":;, ")
}

func kindWords() string {
	var list []string
	for _, k := range control.LogKinds() {
		list = append(list, string(k))
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
