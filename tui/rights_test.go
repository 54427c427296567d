package tui

import (
	"strings"
	"testing"

	"shardpilot/control"
)

// barred is the acting world with an edit of its events on top.
func barred(t *testing.T, change func(*control.Event)) *world {
	w := acting(t)
	edit := w.edit
	w.edit = func(ev *control.Event) { edit(ev); change(ev) }
	w.play(1)
	return w
}

func TestNoCountIsAskedForThatCannotBeWritten(t *testing.T) {
	for said, change := range map[string]func(*control.Event){
		"watch only: no shard count can be written": func(ev *control.Event) {
			ev.Leader, ev.Memory = "", "watch only: decisions are kept in memory; shardpilot install makes the schema that keeps them"
		},
		"read-only: missing UPDATE on awa.queues": func(ev *control.Event) {
			ev.Snapshot.Awa.MayWrite, ev.Snapshot.Awa.Missing = false, []string{"UPDATE on awa.queues"}
		},
	} {
		for _, k := range []string{"a", "o", "u"} {
			w := barred(t, change)
			lacks(t, w.m, "a approve", "o override")
			w.keys(k)
			if w.m.dialog != nil {
				t.Errorf("%q asks, though %s", k, said)
			}
			has(t, w.m, said)
		}
		for _, k := range []string{"x", "m", "b"} { // a policy can be changed
			w := barred(t, change)
			if w.keys(k); w.m.dialog == nil {
				t.Errorf("%q does not ask, though only counts cannot be written", k)
			}
		}
		w := barred(t, change)
		w.keys("p", "tab", "tab", "backspace", "4", "tab", "tab", "tab", "tab", "tab", "tab")
		w.m.dialog.fields[0].value, w.m.dialog.focus = "4", w.m.dialog.no()+1
		if e := w.keys("enter"); e.Do != nil {
			t.Errorf("a pin to another count was sent, though %s", said)
		}
		has(t, w.m, "only 2 can be pinned")
		w.m.dialog.fields[0].value = "2"
		if e := w.keys("enter"); e.Do == nil {
			t.Errorf("a pin to the count there is was not sent, though it can be kept")
		}
	}
}

func TestReadOnlySaysWhyAKeyDoesNothing(t *testing.T) {
	for _, k := range []string{"a", "p", "o", "m"} {
		w := acting(t)
		w.m.opt.ReadOnly = true
		w.play(1)
		lacks(t, w.m, "read-only: nothing")
		if e := w.keys(k); w.m.dialog != nil || e.Do != nil {
			t.Errorf("%q asks", k)
		}
		has(t, w.m, "read-only: nothing is changed from here")
	}
}

func TestNothingIsAskedThatCannotBeKept(t *testing.T) {
	for said, change := range map[string]func(*control.Event){
		"read-only: the decision log cannot be read": func(ev *control.Event) { ev.Memory = "the decision log cannot be read" },
		"read-only: this server accepts no writes":   func(ev *control.Event) { ev.Snapshot.Database.ReadOnly = true },
	} {
		for _, k := range []string{"a", "x", "o", "p", "m", "u", "b"} {
			w := barred(t, change)
			if w.keys(k); w.m.dialog != nil {
				t.Errorf("%q asks, though %s", k, said)
			}
			has(t, w.m, said)
		}
	}
}

func TestHeaderSaysWhyNothingCanBeWritten(t *testing.T) {
	w := barred(t, func(ev *control.Event) {
		ev.Snapshot.Awa.MayWrite, ev.Snapshot.Awa.Missing = false, []string{"UPDATE on awa.queues"}
	})
	w.m.Resize(200, 40)
	has(t, w.m, "read-only | missing UPDATE on awa.queues")
}

func TestEnforcedQueuesOfAShadowProcessAreToldApart(t *testing.T) {
	held := func(ev *control.Event) {
		ev.Decisions[0].Mode = control.ModeShadow
		ev.Decisions[0].Policy = control.QueuePolicy{Queue: "orders", Auto: true, Enforced: true, Max: 8}
	}
	w := barred(t, held)
	w.m.Resize(200, 60)
	has(t, w.m, "enforced*")
	for _, s := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 15}} {
		w := barred(t, held)
		w.m.Resize(s[0], s[1])
		w.keys("enter")
		has(t, w.m, "enforced*", "* enforced, but this process runs shadow")
	}
	w.keys("m") // offers the policy there is: Yes must not take it back unasked
	has(t, w.m, "mode -> enforced", "now enforced")
	w = barred(t, func(ev *control.Event) { held(ev); ev.Decisions[0].Policy.Enforced = false })
	w.m.Resize(200, 60)
	lacks(t, w.m, "enforced")
}

func TestOutcomeIsSaidOnce(t *testing.T) {
	w := acting(t)
	w.keys("a", "right")
	e := w.keys("enter")
	const said = "share low: share of late 0.10, needs 0.25"
	w.m.Done(*e.Do, control.Result{Detail: said, Change: &control.Change{Queue: "orders", From: 2, To: 4, Outcome: control.OutcomeSuperseded, Detail: said}}, nil)
	if n := strings.Count(plainView(w.m), said); n != 1 {
		t.Errorf("the outcome is said %d times:\n%s", n, plainView(w.m))
	}
}

func TestTextTypedOnAButtonIsTheReason(t *testing.T) {
	for _, k := range []string{"a", "x", "p"} {
		w := acting(t)
		w.keys(k, "l", "o", "a", "d", " ", "t")
		if got := w.m.dialog.get("reason").value; got != "load t" {
			t.Errorf("after %q the reason is %q", k, got)
		}
		w = acting(t)
		w.keys(k, " ", "f5", "left")
		if d := w.m.dialog; d.get("reason").value != "" || d.focus < d.no() {
			t.Errorf("after %q keys without text moved the focus", k)
		}
	}
}

func TestEntriesOfSettingsShowWhatWasSet(t *testing.T) {
	w := newWorld(t, looks["none"], "orders")
	w.edit = func(ev *control.Event) {
		if w.sec == 2 {
			ev.Entries = []control.LogEntry{{At: ev.Snapshot.At, Kind: control.LogAct, Queue: "orders", Mode: control.ModeManual, Action: control.ActionHold,
				From: 4, To: 4, Reason: control.ReasonModeSet, Detail: "auto up to 4, enforced", Actor: "erika@bastion", Verb: control.VerbAuto}}
		}
	}
	w.play(3)
	w.m.Resize(120, 40)
	w.keys("tab")
	lacks(t, w.m, "auto 4")
	w.keys("enter")
	has(t, w.m, "orders  auto up to 4, enforced", "mode before   manual")
	lacks(t, w.m, "auto 4", "mode          manual")
}
