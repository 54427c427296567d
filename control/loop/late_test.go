package loop

import (
	"context"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// A command that the store refuses, since another process was quicker, is in
// the log beside the one that came first.
func TestWhoTheStoreRefusesIsInTheLogToo(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(13 * time.Minute)
		d.set(func() {
			d.refuse = &control.Fault{Kind: control.FaultRefused, What: "the step is over: rejected by bob@desk"}
		})
		step := decision(t, r, "orders").Step
		_, err := r.Do(context.Background(), control.Command{Verb: control.VerbReject, Queue: "orders", Actor: "ann", Host: "desk", Expect: step.Generation, Why: "no"})
		if control.ExitCode(err) != 3 || !strings.Contains(err.Error(), "bob@desk") {
			t.Errorf("told %v", err)
		}
		list := d.kinds(control.LogChange)
		if len(list) != 1 {
			t.Fatalf("%d entries: %+v", len(list), list)
		}
		e := list[0]
		if e.Actor != "ann@desk" || e.Outcome != control.OutcomeSuperseded || e.Verb != control.VerbReject || e.Why != "no" || !strings.Contains(e.Detail, "bob@desk") || e.Pending != 0 {
			t.Errorf("the log says %+v", e)
		}
		if again := decision(t, r, "orders").Step; again == nil || again.Generation != step.Generation {
			t.Error("who came too late ended the pending step")
		}
	})
}
