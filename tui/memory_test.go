package tui

import (
	"fmt"
	"testing"
	"time"

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
