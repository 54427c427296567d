package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

var actionKeys = []string{"a", "x", "o", "p", "m", "u", "b"}

// acting is a world in which everything can be asked for: the first queue has a
// pending step and a change that can be taken back.
func acting(t *testing.T) *world {
	w := newWorld(t, Options{Glyphs: "ascii", Color: "none", Actor: "erika", Host: "bastion",
		Do: func(context.Context, control.Command) (control.Result, error) { return control.Result{}, nil }}, "orders", "quiet-b", "quiet-c")
	w.edit = func(ev *control.Event) {
		r := &ev.Snapshot.Readings[0]
		r.Shards = 2
		ev.Decisions[0] = control.Decision{At: r.At, Queue: "orders", Mode: control.ModeShadow, Action: control.ActionGrow, From: 2, To: 4, Pending: true, Reason: control.ReasonContended,
			Undo: control.Undo{From: 2, To: 1},
			Step: &control.Pending{Queue: "orders", From: 2, To: 4, Generation: 77, At: r.At, Until: r.At.Add(20 * time.Minute), Detail: "producers wait", PredictedGain: control.Some(1.9)}}
		for i := range ev.Snapshot.Readings[1:] {
			ev.Snapshot.Readings[i+1].Waiters = control.Some(0)
		}
		if w.sec == 5 {
			ev.Changes = []control.Change{{At: r.At, Queue: "orders", From: 1, To: 2, Actor: "controller", Outcome: control.OutcomeApplied}}
		}
	}
	w.play(20)
	w.m.Resize(120, 40)
	return w
}

func TestEveryDialogNamesQueueCountsAndEnvironment(t *testing.T) {
	for key, want := range map[string]string{
		"a": "queue orders: 2 -> 4 shards", "x": "queue orders: stays at 2, not 4", "o": "queue orders: 2 -> ? shards",
		"p": "queue orders: 2 -> pinned to 2", "m": "queue orders: mode -> shadow", "u": "queue orders: 2 -> 1 shards", "b": "queue orders: steps up pause until resumed",
	} {
		for _, page := range []string{"", "enter"} {
			w := acting(t)
			if page != "" {
				w.keys(page)
			}
			w.keys(key)
			has(t, w.m, want, " prod  db1.example:5432/app")
		}
	}
}

// A key held for two seconds, caps lock, and enter held after it: one dialog,
// no action.
func TestHeldKeysNeverAct(t *testing.T) {
	for s := range screenCount {
		for _, k := range append(actionKeys, "A", "X", "O", "P", "M", "U", "B") {
			w := acting(t)
			w.m.screen, w.m.open = s, "orders"
			for range 60 {
				if e := w.keys(k); e.Do != nil {
					t.Fatalf("%s: holding %q acts", screenNames[s], k)
				}
			}
			opened := w.m.dialog != nil
			if want := strings.ToLower(k) == k && (s == screenOverview || s == screenQueue); opened != want {
				t.Errorf("%s: holding %q opens a dialog: %v", screenNames[s], k, opened)
			}
			for range 60 {
				if e := w.keys("enter"); e.Do != nil {
					t.Fatalf("%s: %q, then holding enter acts", screenNames[s], k)
				}
			}
		}
	}
}

func TestYesIsGivenOnce(t *testing.T) {
	w := acting(t)
	w.keys("a", "right")
	e := w.keys("enter")
	if e.Do == nil || e.Do.Verb != control.VerbApprove || e.Do.Queue != "orders" || e.Do.Expect != 77 || e.Do.By() != "erika@bastion" || e.Do.Force {
		t.Fatalf("approved %+v", e.Do)
	}
	for range 20 {
		if again := w.keys("enter"); again.Do != nil {
			t.Fatal("approved twice")
		}
	}
	w.m.Done(*e.Do, control.Result{Change: &control.Change{Queue: "orders", From: 2, To: 4, Outcome: control.OutcomeApplied, Detail: "lanes were there"}}, nil)
	has(t, w.m, "applied: orders 2->4", "lanes were there")
	w.keys("enter")
	if w.m.dialog != nil {
		t.Error("the outcome does not go away")
	}
}

func TestCommandsAreAboutTheQueueThatWasAsked(t *testing.T) {
	w := acting(t)
	w.keys("o")
	w.names = []string{"orders", "aaa-new", "quiet-b", "quiet-c"}
	w.play(30)
	w.keys("x", "8", "9", "backspace", "down", "w", "h", "y", "down", " ", "up", "up") // x and letters are no digits
	has(t, w.m, "queue orders: 2 -> 8 shards", "order of each key is broken")
	w.keys("down", "down", "down", "down", "right")
	e := w.keys("enter")
	want := control.Command{Verb: control.VerbOverride, Queue: "orders", Actor: "erika", Host: "bastion", Why: "why", From: 2, To: 8, Accept: true}
	if e.Do == nil || *e.Do != want {
		t.Errorf("got %+v, want %+v", e.Do, want)
	}
}

func TestSettingsCommands(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want control.Command
	}{
		{[]string{"x", "right", "enter"}, control.Command{Verb: control.VerbReject, Expect: 77}},
		{[]string{"u", "right", "enter"}, control.Command{Verb: control.VerbUndo, From: 2, To: 1}},
		{[]string{"p", "right", "enter"}, control.Command{Verb: control.VerbPin, From: 2, To: 2, For: 2 * time.Hour}},
		{[]string{"m", "left", "up", "enter"}, control.Command{Verb: control.VerbManual}},
		{[]string{"m", "right", "tab", "8", "tab", "tab", " ", "tab", "right", "enter"}, control.Command{Verb: control.VerbAuto, Enforced: true, Max: 8, Accept: true}},
	} {
		w := acting(t)
		var e Effect
		for _, k := range c.keys {
			e = w.keys(k)
		}
		c.want.Queue, c.want.Actor, c.want.Host = "orders", "erika", "bastion"
		if e.Do == nil || *e.Do != c.want {
			t.Errorf("%v gives %+v, want %+v", c.keys, e.Do, c.want)
		}
	}
}

func TestUnfitInputIsSaidNotSent(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"o", "up", "enter"}, "the count must be 1 to 64"},
		{[]string{"o", "9", "9", "up", "enter"}, "the count must be 1 to 64"},
		{[]string{"m", "tab", "1", "up", "up", "enter"}, "max must be 2 to 64"},
		{[]string{"p", "tab", "tab", "tab", "m", "right", "up", "enter"}, ""},
	} {
		w := acting(t)
		for _, k := range c.keys {
			if e := w.keys(k); e.Do != nil && c.want != "" {
				t.Fatalf("%v was sent", c.keys)
			}
		}
		has(t, w.m, c.want)
	}
}

func TestNothingIsAskedThatCannotBeShown(t *testing.T) {
	for _, k := range actionKeys {
		w := acting(t)
		w.m.Resize(58, 40)
		w.keys(k)
		if w.m.dialog != nil {
			t.Errorf("%q asks in a window of 58 columns", k)
		}
		has(t, w.m, "too small")
		w.m.Resize(120, 40)
		w.keys(k, "right")
		if w.m.dialog == nil {
			t.Fatalf("%q does not ask", k)
		}
		w.m.dialog.focus = w.m.dialog.no() + 1
		for _, s := range [][2]int{{59, 40}, {50, 40}, {20, 5}, {1, 1}, {0, 0}} {
			w.m.Resize(s[0], s[1])
			fits(t, w.m.View(), s[0], s[1])
			if e := w.keys("enter"); e.Do != nil {
				t.Errorf("%q was answered unseen at %v", k, s)
			}
		}
	}
}

func TestNothingIsAskedWithoutAFreshReading(t *testing.T) {
	for _, k := range actionKeys {
		w := acting(t)
		w.fail("connection refused", time.Second)
		w.keys(k)
		if w.m.dialog != nil {
			t.Errorf("%q asks during a failure", k)
		}
		w = acting(t)
		w.keys(k)
		w.m.dialog.focus = w.m.dialog.no() + 1
		w.fail("connection refused", time.Second)
		if e := w.keys("enter"); e.Do != nil {
			t.Errorf("%q was sent during a failure", k)
		}
		has(t, w.m, "no fresh reading")
	}
}

func TestReadOnlyTakesTheActionKeysAway(t *testing.T) {
	for _, o := range []Options{{ReadOnly: true, Do: func(context.Context, control.Command) (control.Result, error) { return control.Result{}, nil }}, {}} {
		w := newWorld(t, o).play(3)
		w.m.Resize(200, 60)
		for _, k := range actionKeys {
			if w.keys(k); w.m.dialog != nil {
				t.Errorf("%q asks", k)
			}
		}
		w.keys("?")
		lacks(t, w.m, "approve the pending step")
	}
	w := acting(t)
	w.keys("?")
	has(t, w.m, "approve the pending step", "undo the last change")
}

func TestOutcomesAreToldAndMadeSafe(t *testing.T) {
	refused := &control.Fault{Kind: control.FaultRefused, What: "the step is over: taken by otto@\x1b[31m", Hint: "Look again"}
	w := acting(t)
	w.keys("a", "right")
	e := w.keys("enter")
	w.m.Done(*e.Do, control.Result{}, refused)
	has(t, w.m, "the step is over: taken by otto@^[[31m", "Look again")
	w = acting(t)
	w.keys("a", "right")
	e = w.keys("enter")
	w.keys("esc")
	w.m.Done(*e.Do, control.Result{}, errors.New("broken pipe"))
	has(t, w.m, "It is not known whether this was done")
}

// A question that was left while its command was on its way has no part in the
// next one about the same queue.
func TestAnOutcomeBelongsToTheCommandItIsOf(t *testing.T) {
	w := acting(t)
	override := func(count string) control.Command {
		w.keys("o", count)
		w.m.dialog.focus = w.m.dialog.no() + 1
		e := w.keys("enter")
		if e.Do == nil {
			t.Fatalf("not sent: %s", w.m.dialog.problem)
		}
		return *e.Do
	}
	first := override("8")
	w.keys("esc")
	second := override("4")
	w.m.Done(first, control.Result{Change: &control.Change{Queue: "orders", From: 2, To: 8, Outcome: control.OutcomeSuperseded}}, nil)
	if !w.m.dialog.working || w.m.dialog.over != nil {
		t.Error("the outcome of 8 was taken for that of 4")
	}
	w.m.Done(second, control.Result{Change: &control.Change{Queue: "orders", From: 2, To: 4, Outcome: control.OutcomeApplied}}, nil)
	has(t, w.m, "applied: orders 2->4")
}

// The outcome is still to be read after the key that was to leave the question
// has met it, and in a window that was too small for it.
func TestAnOutcomeIsNotTakenAwayUnread(t *testing.T) {
	for _, key := range []string{"esc", "enter"} {
		w := acting(t)
		w.keys("a", "right")
		e := w.keys("enter")
		w.m.Done(*e.Do, control.Result{}, &control.Fault{Kind: control.FaultRefused, What: "the step is over", Hint: "look again"})
		w.keys(key)
		if w.m.dialog != nil {
			t.Errorf("%s does not close the outcome", key)
		}
		has(t, w.m, "the step is over; look again")
	}
}

func TestCommandsGoOutOnceAndComeBack(t *testing.T) {
	calls := make(chan control.Command, 10)
	d := newDesk(t, func(o *Options) {
		o.Actor = "erika"
		o.Do = func(_ context.Context, c control.Command) (control.Result, error) {
			calls <- c
			return control.Result{Detail: "pinned to 1"}, nil
		}
	})
	d.tell(tick(t))
	d.await("orders")
	for _, s := range []string{"p", "\x1b[C", "\r"} {
		if _, err := d.ptm.WriteString(s); err != nil {
			t.Fatal(err)
		}
		if s == "p" {
			d.await("Pin the shard count")
		}
	}
	d.await("pinned to 1")
	if _, err := d.ptm.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if err := d.ended(); err != nil {
		t.Error(err)
	}
	if n := len(calls); n != 1 {
		t.Errorf("%d commands went out", n)
	}
}

// What held when a question was opened need not hold when it is answered.
func TestWhatStandsInTheWayAtYesIsSaidAndNothingSent(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		happen func(*world)
		want   string
	}{
		"the readings stop":        {"a", func(w *world) { w.now = w.now.Add(15 * time.Second) }, "nothing can be done until there is a fresh one"},
		"reading fails":            {"p", func(w *world) { w.fail("the connection is gone", time.Second) }, "there is no fresh reading"},
		"it is a standby now":      {"p", func(w *world) { w.change(func(ev *control.Event) { ev.Snapshot.Database.Standby = true }) }, "this is a standby"},
		"the server is read-only":  {"x", func(w *world) { w.change(func(ev *control.Event) { ev.Snapshot.Database.ReadOnly = true }) }, "this server accepts no writes"},
		"the log cannot be used":   {"b", func(w *world) { w.change(func(ev *control.Event) { ev.Memory = "the decision log cannot be used" }) }, "the decision log cannot be used"},
		"Awa begins to migrate":    {"a", func(w *world) { w.change(func(ev *control.Event) { ev.Snapshot.Awa = migrating }) }, "Awa migrates"},
		"an undo, and it migrates": {"u", func(w *world) { w.change(func(ev *control.Event) { ev.Snapshot.Awa = migrating }) }, "Awa migrates"},
	} {
		w := acting(t)
		w.keys(c.key)
		if w.m.dialog == nil {
			t.Fatalf("%s: nothing is asked", name)
		}
		c.happen(w)
		w.m.dialog.focus = w.m.dialog.no() + 1
		if e := w.keys("enter"); e.Do != nil {
			t.Errorf("%s: %+v was sent", name, e.Do)
		}
		has(t, w.m, c.want)
	}
	w := acting(t) // a policy can be changed during a migration
	w.keys("x")
	w.change(func(ev *control.Event) { ev.Snapshot.Awa = migrating })
	w.m.dialog.focus = w.m.dialog.no() + 1
	if e := w.keys("enter"); e.Do == nil {
		t.Error("a step cannot be rejected while Awa migrates")
	}
}

var migrating = control.Installation{State: control.AwaActive, Sentence: "Awa migrates.", MayWatch: true}

// change plays a second in which more is different than before.
func (w *world) change(edit func(*control.Event)) {
	before := w.edit
	w.edit = func(ev *control.Event) { before(ev); edit(ev) }
	w.play(1)
}

func TestAStaleReadingIsActedOnByNoKey(t *testing.T) {
	for _, k := range actionKeys {
		w := acting(t)
		w.now = w.now.Add(15 * time.Second)
		w.m.Advance()
		w.keys(k)
		if w.m.dialog != nil {
			t.Errorf("%q asks about a reading of 15 s ago", k)
		}
		has(t, w.m, "the newest reading is 15s old")
	}
}

// Who lets the controller act is told where that is known to be worth less.
func TestEnforcedSaysWhereItFallsShort(t *testing.T) {
	w := acting(t)
	w.keys("m")
	lacks(t, w.m, "less than the best fixed count")
	w.keys("right")
	shown := unwrapped(w.m)
	for _, s := range control.Shortfalls() {
		if !strings.Contains(shown, s.Load) {
			t.Errorf("nothing is said of %s:\n%s", s.Shape, w.m.View())
		}
	}
	w.m.Resize(80, 24)
	if !w.m.dialogFits() {
		t.Error("it cannot be asked at 80x24")
	}
}

// In the past nothing is offered that is refused there.
func TestThePastOffersNoActs(t *testing.T) {
	w := acting(t)
	has(t, w.m, "a approves, x rejects", "a approve")
	w.keys(" ")
	lacks(t, w.m, "a approves", "a approve")
	w.keys("a")
	has(t, w.m, "the picture is not live")
}
