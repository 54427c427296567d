package tui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestThePaletteFindsAndRunsActions(t *testing.T) {
	w := acting(t)
	for range 60 { // a held key types and does nothing
		w.keys(":")
	}
	w.keys("ctrl+u")
	for _, k := range "approve" {
		w.keys(string(k))
	}
	has(t, w.m, ": approve_", "approve the pending step")
	lacks(t, w.m, "redraw the screen")
	w.keys("enter")
	has(t, w.m, "queue orders: 2 -> 4 shards")
	for range 60 {
		if e := w.keys("enter"); e.Do != nil {
			t.Fatal("enter that ran the palette also confirms")
		}
	}
	if e := w.keys(":", "q", "u", "i", "t", "enter"); !e.Quit {
		t.Error("the palette does not quit")
	}
	w.keys("esc", ":", "z", "z", "z", "enter")
	if w.m.menu != nil || w.m.dialog != nil {
		t.Error("what nothing matches does something")
	}
}

func TestPasteIntoAMenuOnlyNarrowsIt(t *testing.T) {
	w := acting(t)
	w.keys(":")
	w.m.Paste("quit\r\x1b[A")
	if w.m.menu == nil || w.m.menu.query != "quit^M^[[A" {
		t.Errorf("pasted, the menu is %+v", w.m.menu)
	}
}

func TestWhatCanBeCopied(t *testing.T) {
	w := acting(t)
	sql := w.keys("y", "down", "enter").Copy
	if !strings.HasPrefix(sql, "-- By hand:") || !strings.Contains(sql, "VALUES ('orders', 4)") {
		t.Errorf("the SQL is %q", sql)
	}
	var d control.Decision
	if err := json.Unmarshal([]byte(w.keys("y", "J", "S", "O", "N", "enter").Copy), &d); err != nil || d.Queue != "orders" || d.Step == nil || d.Step.Generation != 77 {
		t.Errorf("the evidence is %+v, %v", d, err)
	}
	w.keys("tab")
	var l control.LogEntry
	if err := json.Unmarshal([]byte(w.keys("y", "J", "S", "O", "N", "enter").Copy), &l); err != nil || l.Queue != "orders" {
		t.Errorf("the entry is %+v, %v", l, err)
	}
	// A name cannot leave its place in the statement, nor in the comment.
	evil := "a'; DROP TABLE x; --\n\x00"
	if got := handSQL(evil, 1, 2); !strings.Contains(got, "VALUES ('a''; DROP TABLE x; --\n', 2)") || strings.Count(got, "\n-- ") != 1 {
		t.Errorf("the SQL is %q", got)
	}
}

func TestTheScreenIsSavedAsItIs(t *testing.T) {
	w := newWorld(t, looks["colour"]).play(3)
	w.m.Resize(120, 40)
	if e := w.keys("ctrl+s"); e.Save != nil {
		t.Error("saved without somewhere to save to")
	}
	w.m.opt.Save = func(string, []byte) error { return nil }
	e := w.keys("ctrl+s")
	if e.Save == nil || e.Save.Name != "shardpilot-20260314T092656Z.txt" {
		t.Fatalf("saved %+v", e.Save)
	}
	for i, l := range strings.Split(strings.TrimSuffix(string(e.Save.Data), "\n"), "\n") {
		if want := strings.TrimRight(strings.Split(plainView(w.m), "\n")[i], " "); l != want {
			t.Errorf("line %d is %q, the screen has %q", i, l, want)
		}
	}
	w.m.Saved(e.Save.Name, nil)
	has(t, w.m, "saved shardpilot-20260314T092656Z.txt")
	w.m.Saved(e.Save.Name, errors.New("disk full\x1b[31m"))
	has(t, w.m, "not saved: disk full␛[31m")
}

func TestSavingGoesThroughTheHook(t *testing.T) {
	pages := make(chan string, 4)
	d := newDesk(t, func(o *Options) {
		o.Save = func(name string, data []byte) error { pages <- string(data); return nil }
	})
	d.tell(tick(t))
	d.await("orders")
	if _, err := d.ptm.WriteString("\x13"); err != nil { // ctrl-s
		t.Fatal(err)
	}
	d.await("saved shardpilot-")
	if page := <-pages; !strings.Contains(page, "orders") || strings.Contains(page, "\x1b") {
		t.Errorf("the page is %q", page)
	}
	d.cancel(nil)
	_ = d.ended()
}

func TestDecisionsAreFilteredByQueueActionAndOperator(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.edit = func(ev *control.Event) {
		if w.sec == 1 {
			at := ev.Snapshot.At
			ev.Entries = []control.LogEntry{
				{At: at.Add(-26 * time.Hour), Kind: control.LogAct, Queue: "sms", Verb: control.VerbPin, Actor: "otto@b1", To: 4, Detail: "pinned to 4", Why: "release"},
				{At: at, Kind: control.LogProposed, Queue: "email", From: 1, To: 2, Reason: control.ReasonContended, PredictedGain: control.Some(1.9),
					Evidence: control.Evidence{Share: control.Some(0.62), WindowS: 120}, Blockers: []control.Blocker{{Rule: control.ReasonCooldown, Detail: "80 s left"}}},
				{At: at, Kind: control.LogChange, Queue: "orders", From: 1, To: 2, Actor: "erika@b2", Outcome: control.OutcomeApplied},
			}
		}
	}
	w.play(2)
	w.m.Resize(140, 30)
	w.keys("tab")
	for filter, want := range map[string]string{"SMS": "pinned to 4", "applied": "orders", "erika": "orders", "otto": "sms", "release": "sms", "pend": "email"} {
		w.keys("/", "ctrl+u")
		for _, k := range filter {
			w.keys(string(k))
		}
		has(t, w.m, want, "1 of 3")
		w.keys("enter")
	}
	w.keys("/", "ctrl+u", "p", "e", "n", "d", "enter", "enter")
	has(t, w.m, "email  pending 1→2", "62% over 2m00", "cooldown", "80 s left", "×1.9")
	w.keys("enter")
	if w.m.screen != screenQueue || w.m.open != "email" {
		t.Error("enter on an entry does not open its queue")
	}
	w.keys("esc", "esc")
	if w.m.screen != screenDecisions || w.m.filter() != "pend" {
		t.Error("esc does not lead back to the list as it was")
	}
	w.keys("/", "z", "z")
	has(t, w.m, "no entry has \"pendzz\" in it")
}

func TestProducersAndHelpAreSearched(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	w.m.Resize(140, 40)
	w.keys("tab", "tab", "/", "s", "i", "l", "e", "n", "t")
	has(t, w.m, "worker-2", "1 of 27", "1, 1 silent")
	lacks(t, w.m, "worker-1")
	w.keys("enter", "?", "/", "u", "n", "d", "o")
	has(t, w.m, "no key does anything like \"undo\"")
	w.keys("ctrl+u", "r", "e", "d", "r", "a", "w")
	has(t, w.m, "ctrl-l", "redraw the screen")
	lacks(t, w.m, "next screen")
}
