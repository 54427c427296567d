package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"shardpilot/control"
	"shardpilot/control/backtest"
	"shardpilot/control/record"
)

// Backtest asks of the recording that the command names what other thresholds
// would have decided, and prints the answer.
func Backtest(w io.Writer, c Command) error {
	rec, err := record.Open(c.Record.File)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }() // it was only read
	h := rec.Header
	changes, err := backtest.ParseChanges(h.Policy, h.Pace, c.Record.Set)
	if err != nil {
		return err
	}
	play := rec.Play()
	report, err := backtest.Run(backtest.Options{Policy: h.Policy, Changes: changes, Queue: c.Act.Queue, Before: rec.Before()}, play.Next)
	if err != nil {
		return err
	}
	if report.Damaged, report.LostS, report.Torn = play.Bad(), play.Lost().Seconds(), rec.Torn; c.JSON {
		return Object(w, report)
	}
	_, err = io.WriteString(w, backtestPage(&report, h))
	return err
}

func backtestPage(r *backtest.Report, h record.Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, recorded by shardpilot %s: %s to %s, %d ticks\n", Safe(fmt.Sprintf("%s:%d/%s", h.Server.Host, h.Server.Port, h.Server.Name)),
		Safe(h.Program), r.From.UTC().Format("2006-01-02 15:04:05Z"), clock(r.To), r.Ticks)
	if r.Missed > 0 {
		fmt.Fprintf(&b, "%s missed while it was made: what follows is without them\n", wasOrWere(r.Missed, "tick"))
	}
	if r.Damaged > 0 {
		fmt.Fprintf(&b, "DAMAGED: %s of it, %.0f s, cannot be read. What happened there is missing below, and decisions after it can differ for that reason alone\n",
			stretches(r.Damaged), r.LostS)
	}
	if r.Torn {
		b.WriteString("its last line is torn, as after a crash; what came before it is there\n")
	}
	checkWords(&b, &r.Check)
	fmt.Fprintf(&b, "\nwhat it did: %d steps\n", len(r.Steps))
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "  %s  %-16s S %d -> %d %s by %s (%s)\n", clock(s.At), fit(s.Queue, 16), s.From, s.To, stepWord(s), Safe(s.Actor), Safe(string(s.Reason)))
	}
	if r.Earlier > 0 {
		fmt.Fprintf(&b, "  before the recording: %d steps\n", r.Earlier)
	}
	if len(r.Changes) == 0 {
		b.WriteString("\nnothing was changed: --set GrowShare=0.3 asks what another threshold would have decided\n")
		return b.String()
	}
	b.WriteString("\nwith")
	for i, c := range r.Changes {
		if i > 0 {
			b.WriteString(" and")
		}
		fmt.Fprintf(&b, " %s %s", c.Field, c.Now)
		if c.Was != "" {
			fmt.Fprintf(&b, " (was %s)", c.Was)
		}
	}
	fmt.Fprintf(&b, ": %d differences\n", len(r.Differences))
	for _, d := range r.Differences {
		difference(&b, d)
	}
	if r.Reasons > 0 {
		fmt.Fprintf(&b, "%d decisions were the same for another reason\n", r.Reasons)
	}
	return b.String()
}

func stretches(n int) string {
	if n == 1 {
		return "1 stretch"
	}
	return fmt.Sprintf("%d stretches", n)
}

func wasOrWere(n int, thing string) string {
	if n == 1 {
		return control.Plural(n, thing) + " was"
	}
	return control.Plural(n, thing) + " were"
}

func stepWord(s backtest.Step) string {
	if s.Kind == control.LogChange {
		return string(s.Outcome)
	}
	return string(s.Kind)
}

func checkWords(b *strings.Builder, c *backtest.Check) {
	switch {
	case c.Decisions == 0:
		b.WriteString("the process that recorded did not lead: its decisions are computed as if it had\n")
	case c.Holds():
		fmt.Fprintf(b, "the recorded thresholds lead to every decision that was recorded (%d), and to every entry of the log (%d)\n", c.Decisions, c.Entries)
	default:
		fmt.Fprintf(b, "the recorded thresholds lead to %d of %d decisions, and to %d of %d entries of the log; first of the others:\n", c.Same, c.Decisions, c.Explained, c.Entries)
		for _, o := range c.Odd[:min(len(c.Odd), 3)] {
			fmt.Fprintf(b, "  %s  %-16s recorded %s; computed %s\n", clock(o.At), fit(o.Queue, 16), Safe(o.Recorded), Safe(o.Computed))
		}
	}
}

func difference(b *strings.Builder, d backtest.Difference) {
	lasted := d.To.Sub(d.From).Round(time.Second)
	fmt.Fprintf(b, "  %s  %-16s for %s\n", clock(d.From), fit(d.Queue, 16), lasted)
	fmt.Fprintf(b, "    it did     %s\n    it would   %s\n", wishWords(d.Recorded), wishWords(d.Other))
	if len(d.Decisive) > 0 {
		fmt.Fprintf(b, "    decisive   %s\n", strings.Join(d.Decisive, ", "))
	} else {
		b.WriteString("    decisive   no single one: it takes several of the changes\n")
	}
}

func wishWords(w backtest.Wish) string {
	return DecisionWords(control.Decision{Action: w.Action, From: w.From, To: w.To, Reason: w.Reason, Detail: w.Detail, Pending: w.Pending})
}
