package tui

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardpilot/control"
)

func TestLogHoldsTransitionsOnly(t *testing.T) {
	w := newWorld(t, looks["none"]).play(600)
	if n := len(w.m.memory.log); n > 4 {
		t.Errorf("%d entries of a session with a pending step, a change and what followed", n)
	}
	w.edit = func(ev *control.Event) {
		ev.Decisions[0].Reason = control.Reason(fmt.Sprintf("reason_%d", w.sec))
	}
	w.play(2 * logLimit)
	if n := len(w.m.memory.log); n != logLimit {
		t.Errorf("%d entries are kept", n)
	}
	w.keys("tab")
	w.m.Resize(100, 30)
	has(t, w.m, fmt.Sprintf("reason %d", w.sec))
}

func TestCursorOnTheLogStaysWithItsEntryOrAtTheTop(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.edit = func(ev *control.Event) { ev.Decisions[0].Reason = control.Reason(fmt.Sprintf("r%d", w.sec)) }
	w.play(10)
	w.m.Resize(100, 30)
	w.keys("tab")
	if e, _ := w.m.entryUnderCursor(); e.id != w.m.memory.logged {
		t.Error("the cursor does not begin at the newest")
	}
	w.play(3)
	if e, _ := w.m.entryUnderCursor(); e.id != w.m.memory.logged {
		t.Error("at the top the cursor does not stay with the newest")
	}
	w.keys("j")
	was, _ := w.m.entryUnderCursor()
	w.play(3)
	if e, _ := w.m.entryUnderCursor(); e.id != was.id {
		t.Errorf("the cursor went from entry %d to %d", was.id, e.id)
	}
}

func TestVanishedQueuesAreForgotten(t *testing.T) {
	w := newWorld(t, looks["none"]).play(5)
	w.names = w.names[:2]
	w.play(1)
	if len(w.m.memory.queues) < 8 {
		t.Error("a queue is forgotten the moment it is not seen")
	}
	w.sec += int(forgetAfter / time.Second)
	w.play(1)
	if n := len(w.m.memory.queues); n != 2 {
		t.Errorf("%d queues are remembered of 2", n)
	}
}

// Readings and decisions may come in any order, and queues come and go: each
// keeps its own.
func TestEveryQueueKeepsItsOwnInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := []string{"a", "b", "c", "d", "e"}
		w := newWorld(t, looks["none"])
		w.edit = func(ev *control.Event) {
			for i := range ev.Snapshot.Readings {
				ev.Snapshot.Readings[i].Depth = control.Some(float64(ev.Snapshot.Readings[i].Queue[0]))
				ev.Decisions[i].Detail, ev.Decisions[i].Mode = "of "+ev.Decisions[i].Queue, control.ModeShadow
			}
			order := rapid.Permutation(ev.Decisions).Draw(rt, "decisions")
			ev.Decisions = order[:rapid.IntRange(0, len(order)).Draw(rt, "decided")]
		}
		for range rapid.IntRange(1, 6).Draw(rt, "ticks") {
			w.names = rapid.Permutation(all).Draw(rt, "readings")[:rapid.IntRange(1, len(all)).Draw(rt, "queues")]
			if rapid.Bool().Draw(rt, "later") {
				w.sec += int(forgetAfter / time.Second)
			}
			w.play(1)
			if len(w.m.rows) != len(w.names) {
				rt.Fatalf("%d rows of %d queues", len(w.m.rows), len(w.names))
			}
			decided := map[string]bool{}
			for _, d := range w.m.picture.event.Decisions {
				decided[d.Queue] = true
			}
			for _, r := range w.m.rows {
				kept := r.history.latest(seriesDepth, r.reading.At.Unix(), 1).Or(0)
				if r.name != r.reading.Queue || r.queue != w.m.memory.queues[r.name] || math.Abs(kept-float64(r.name[0])) > 0.1 {
					rt.Fatalf("the row of %q has the reading of %q and keeps %v", r.name, r.reading.Queue, kept)
				}
				if decided[r.name] != (r.decision != nil) || r.decision != nil && (r.decision.Detail != "of "+r.name || r.last.Queue != r.name) {
					rt.Fatalf("the row of %q has the decision %+v", r.name, r.decision)
				}
			}
		}
	})
}

// Where the decision log itself comes with the events, nothing is made up
// beside it.
func TestKeptLogIsShownAsItIs(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.edit = func(ev *control.Event) {
		if w.sec != 1 {
			return
		}
		at := ev.Snapshot.At
		ev.Entries = []control.LogEntry{
			{At: at.Add(-50 * time.Hour), Kind: control.LogAct, Queue: "sms", Verb: control.VerbPin, Actor: "otto@b1", Detail: "pinned to 4", Why: "release"},
			{At: at, Kind: control.LogProposed, Queue: "email", From: 1, To: 2, Reason: control.ReasonContended},
			{At: at, Kind: control.LogChange, Queue: "orders", From: 1, To: 2, Actor: "controller", Outcome: control.OutcomeApplied},
			{At: at, Kind: control.LogChange, Queue: "audit", From: 1, To: 2, Actor: "erika", Outcome: control.OutcomeRefused},
			{At: at, Kind: control.LogVerdict, Queue: "orders", From: 1, To: 2, Verdict: control.VerdictHarmful, Gain: control.Some(0.9)},
			{At: at, Kind: control.LogAdopted, Queue: "webhooks", From: 1, To: 8, Actor: "elsewhere"},
			{At: at, Kind: control.LogDecision, Queue: "exports", Action: control.ActionHold, From: 1, To: 1, Reason: control.ReasonShareLow},
		}
	}
	w.play(300) // in which the fixture changes a count and its decisions
	if n := len(w.m.memory.log); n != 7 {
		t.Errorf("%d entries of 7", n)
	}
	w.keys("tab")
	w.m.Resize(160, 30)
	has(t, w.m, "Mar 12 07:26", "by otto@b1", "pinned to 4 (release)", "pending", "refused", "harmful", "adopted", "share low")
	if c := w.m.memory.queues["webhooks"].changed; c == nil || c.From != 1 || c.To != 8 {
		t.Errorf("undo would take back %+v", c)
	}
	if c := w.m.memory.queues["audit"].changed; c != nil {
		t.Errorf("undo would take back a refused change: %+v", c)
	}
}
