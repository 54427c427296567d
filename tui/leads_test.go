package tui

import (
	"testing"
	"time"

	"shardpilot/control"
)

// A follower shows what the leader decided, not what its own shorter view
// allows: mode, reason and the rules in the way.
func TestFollowersShowTheLeadersMind(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none", Do: nothing})
	w.edit = withLog
	w.play(60)
	w.open("orders")
	has(t, w.m, "S 2  enforced  max 8", "enforced, by the leader 09:11:53", "small gain", "predicted gain 9%, needs 15%", "1 rule")
	lacks(t, w.m, "window 40s of 2m", "this process runs shadow", "otto@b1 does", "another 3m") // the cooldown is over

	// What somebody did since is news that the leader has yet to decide about.
	w.edit = func(ev *control.Event) {
		withLog(ev)
		if w.sec == 61 {
			ev.Entries = []control.LogEntry{{ID: 9, At: ev.Snapshot.At, Kind: control.LogAct, Queue: "orders", Verb: control.VerbPin, To: 2, Actor: "erika@b2", Reason: control.ReasonPinned}}
		}
	}
	w.play(1)
	has(t, w.m, "window 40s of 2m")
	lacks(t, w.m, "by the leader")

	w.edit = func(ev *control.Event) { // and who leads goes by what it sees itself
		withLog(ev)
		ev.Leader = "self"
	}
	w.play(1)
	has(t, w.m, "window 40s of 2m")
}

func TestALeaderInShadowIsToldFromAFollowerInShadow(t *testing.T) {
	for _, mode := range []control.Mode{control.ModeShadow, control.ModeEnforced} {
		w := newWorld(t, Options{Glyphs: "block", Color: "none", Do: nothing})
		w.edit = func(ev *control.Event) {
			withLog(ev)
			for i := range ev.Entries {
				ev.Entries[i].Mode = mode
			}
		}
		w.play(10)
		w.open("orders")
		if mode == control.ModeShadow {
			has(t, w.m, "but the leader runs shadow")
		} else {
			lacks(t, w.m, "runs shadow")
		}
	}
}

func TestWhereNobodyWaitsThatIsTheReason(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"}, "orders")
	w.edit = func(ev *control.Event) {
		d := &ev.Decisions[0]
		d.Reason, d.Detail = control.ReasonUnknownSignal, "a value this rule needs could not be measured: 3 batches"
		d.Blockers = []control.Blocker{{Rule: control.ReasonUnknownSignal, Detail: "3 batches have samples, needs 10"}}
		d.Evidence.Waiters = control.Some(0)
	}
	w.play(3)
	w.m.Resize(120, 40)
	has(t, w.m, "quiet: nobody waits", "Nobody waits for a lane", "not measured yet")
	lacks(t, w.m, "unknown signal")
	edit := w.edit
	w.edit = func(ev *control.Event) { edit(ev); ev.Decisions[0].Evidence.Waiters = control.None() }
	w.play(1)
	has(t, w.m, "not measured yet: 3 batches")
	lacks(t, w.m, "nobody waits")
}

// The comparison outlives the process that saw the change: the log has both
// sides of it.
func TestAChangeFromBeforeIsComparedByTheLog(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = withLog
	w.play(30)
	w.open("orders")
	has(t, w.m, "After 1→2", "as logged", "kept: jobs/s ×1.9", "102     194   ×1.9")

	// Without a verdict only one side is known, and nothing is made up.
	w = newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = func(ev *control.Event) {
		withLog(ev)
		if len(ev.Entries) > 0 {
			ev.Entries = ev.Entries[:1]
		}
	}
	w.play(30)
	w.open("orders")
	has(t, w.m, "After 1→2", "102     n/a", "no verdict yet")

	// A verdict of another change is none of this one.
	w = newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = func(ev *control.Event) {
		withLog(ev)
		if len(ev.Entries) > 0 {
			ev.Entries[1].At = start.Add(-time.Hour)
		}
	}
	w.play(30)
	w.open("orders")
	has(t, w.m, "102     n/a", "no verdict yet")
}

// Both were there: what this screen saw, and the verdict with its own windows.
func TestAVerdictStandsBelowTheFiguresItIsAbout(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"})
	var change, verdict control.LogEntry
	w.edit = func(ev *control.Event) {
		at := ev.Snapshot.At
		entries := ev.Entries
		withLog(ev)
		switch {
		case len(ev.Entries) > len(entries):
			change, verdict = ev.Entries[0], ev.Entries[1]
			ev.Entries = nil
		case w.sec == 60:
			change.At = at
			ev.Entries = []control.LogEntry{change}
			ev.Changes = []control.Change{{At: at, Queue: "orders", From: 1, To: 2, Actor: "controller", Outcome: control.OutcomeApplied}}
		case w.sec == 120:
			verdict.At = at
			ev.Entries = []control.LogEntry{verdict}
		}
	}
	w.play(110)
	w.open("orders")
	has(t, w.m, "After 1→2", "means of")
	lacks(t, w.m, "as logged")
	w.play(30)
	has(t, w.m, "as logged", "kept: jobs/s ×1.9", "102     194   ×1.9")
	lacks(t, w.m, "means of")
}
