package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"shardpilot/control"
)

// unwrapped is the view as one line of words.
func unwrapped(m *Model) string { return strings.Join(strings.Fields(plainView(m)), " ") }

// Whatever control says of a price is in the dialog, at any size in which it
// can be answered; where it does not fit it is read to its end before Yes does
// anything.
func TestThePriceIsReadBeforeYesIsTaken(t *testing.T) {
	for _, s := range [][2]int{{120, 40}, {80, 24}, {60, 24}, {60, 20}, {60, 17}} {
		w := acting(t)
		edit := w.edit
		w.edit = func(ev *control.Event) {
			edit(ev)
			ev.Snapshot.Readings[0].Shards, ev.Decisions[0].From = 1, 1
			ev.Decisions[0].Step = nil
		}
		w.play(1)
		w.keys("o", "1", "6", "tab", "tab", " ")
		w.m.Resize(s[0], s[1])
		if !w.m.dialogFits() {
			t.Errorf("%v: cannot be asked", s)
			continue
		}
		seen := unwrapped(w.m)
		w.m.dialog.focus = w.m.dialog.no() + 1
		for page := 0; strings.Contains(plainView(w.m), "more to read"); page++ {
			if e := w.keys("enter"); e.Do != nil || page > 40 {
				t.Fatalf("%v: taken unread, on page %d", s, page)
			}
			has(t, w.m, "there is more to read first")
			w.keys("pgdown")
			seen += " " + unwrapped(w.m)
		}
		for _, price := range control.Price(1, 16) {
			for _, word := range strings.Fields(price) {
				if !strings.Contains(seen, word) {
					t.Errorf("%v: %q of %q is not to be read", s, word, price)
				}
			}
		}
		if e := w.keys("enter"); e.Do == nil || e.Do.To != 16 {
			t.Errorf("%v: read, and not taken: %s", s, w.m.dialog.problem)
		}
	}
}

// The time that a step has left goes on while it is asked about. That is no
// other text to read.
func TestTheTimeThatIsLeftCountsDown(t *testing.T) {
	w := acting(t)
	w.keys("a")
	has(t, w.m, "good until 09:47:13 UTC (in 20m00)")
	w.play(60)
	has(t, w.m, "good until 09:47:13 UTC (in 19m00)")
	w.m.Resize(60, 15)
	for page := 0; strings.Contains(plainView(w.m), "more to read"); page++ {
		if page > 20 {
			t.Fatal("there is no end to read to")
		}
		w.keys("pgdown")
	}
	has(t, w.m, "all read")
	w.play(1)
	has(t, w.m, "all read")
	w.m.Resize(120, 40)
	w.play(20 * 60)
	has(t, w.m, "was good until 09:47:13 UTC")
	lacks(t, w.m, "(in ")
}

func TestAnotherCountIsAnotherPriceToRead(t *testing.T) {
	w := acting(t)
	w.keys("o", "1", "6")
	w.m.Resize(60, 17)
	for range 20 {
		w.keys("pgdown")
	}
	has(t, w.m, "all read")
	w.keys("backspace")
	w.m.dialog.focus = w.m.dialog.no() + 1
	lacks(t, w.m, "all read")
	if e := w.keys("enter"); e.Do != nil {
		t.Error("what was read of 16 was taken for 1")
	}
}

func TestWhereNotEvenALineOfThePriceFitsNothingIsAnswered(t *testing.T) {
	w := acting(t)
	w.m.Resize(80, 11)
	w.keys("p", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "backspace", "8")
	if n := w.m.dialog.target(); n != 8 {
		t.Fatalf("pinned to %d", n)
	}
	has(t, w.m, "the window is too small for the question")
	w.m.dialog.focus = w.m.dialog.no() + 1
	if e := w.keys("enter"); e.Do != nil {
		t.Error("taken unseen")
	}
	w.m.Resize(80, 24)
	has(t, w.m, "queue orders: 2 -> pinned to 8", "Lanes are for ever")
	w.m.dialog.focus = w.m.dialog.no() + 1
	if e := w.keys("enter"); e.Do == nil || e.Do.To != 8 {
		t.Error("seen, and not taken")
	}
}

// Right after a change the picture is behind it: the dialog is about what the
// command would do, by the log, and looks again before it does it.
func TestUndoIsAboutTheChangeThatIsTheLast(t *testing.T) {
	w := acting(t)
	edit := w.edit
	undo := control.Undo{From: 4, To: 2}
	w.edit = func(ev *control.Event) { edit(ev); ev.Decisions[0].Undo = undo } // the reading still says 2
	w.play(1)
	w.keys("u")
	has(t, w.m, "queue orders: 4 -> 2 shards", "The lanes stay", "lower although upper lanes are not drained")
	w.keys("tab", "tab", "tab", "tab", " ") // No, Yes, reason, accept, force
	w.m.dialog.focus = w.m.dialog.no() + 1
	undo = control.Undo{From: 8, To: 4}
	w.play(1)
	if e := w.keys("enter"); e.Do != nil {
		t.Errorf("another change was taken back: %+v", *e.Do)
	}
	has(t, w.m, "not the last change any more")
	w.keys("esc", "u")
	has(t, w.m, "queue orders: 8 -> 4 shards")
	w.m.dialog.focus = w.m.dialog.no() + 1
	if e := w.keys("enter"); e.Do == nil || e.Do.From != 8 || e.Do.To != 4 || e.Do.Force {
		t.Errorf("undo gives %+v", e.Do)
	}
	w = acting(t)
	edit = w.edit
	w.edit = func(ev *control.Event) { edit(ev); ev.Decisions[0].Undo = control.Undo{} }
	w.play(1)
	w.keys("u")
	has(t, w.m, "no change of this queue is known")
}

func TestForceIsOfferedWhereACountCanBeLowered(t *testing.T) {
	for _, key := range []string{"o", "p", "u"} {
		w := acting(t)
		w.keys(key)
		d := w.m.dialog
		for i, f := range d.fields {
			if f.name == "force" {
				d.focus = i
			}
		}
		w.keys(" ")
		d.focus = d.no() + 1
		if key == "o" {
			d.fields[0].value = "1"
			w.m.draw()
		}
		if e := w.keys("enter"); e.Do == nil || !e.Do.Force {
			t.Errorf("%q: %+v, %s", key, e.Do, d.problem)
		}
	}
}

// On a slow line an escape and the key after it come together, as alt and that
// key would: both count. A text that is being written is not thrown away.
func TestAnEscapeAndTheKeyAfterItBothCount(t *testing.T) {
	w := acting(t)
	p := &program{m: w.m, pump: newPump(Options{})}
	together := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("p"), Alt: true}
	w.keys("o")
	has(t, w.m, "new count")
	w.m.dialog.focus = w.m.dialog.no()
	p.key(together)
	if d := w.m.dialog; d == nil || d.verb != control.VerbPin {
		t.Fatalf("escape and p led to %+v", d)
	}
	w.m.dialog.focus = 0
	w.keys("x", "2")
	before := *w.m.dialog
	p.key(together)
	if d := w.m.dialog; d == nil || d.verb != before.verb || !before.fields[0].check && d.fields[0].value != before.fields[0].value {
		t.Errorf("what was being written is gone: %+v", d)
	}
	p.key(tea.KeyMsg{Type: tea.KeyEsc})
	p.key(tea.KeyMsg{Type: tea.KeyEsc, Alt: true})
	if w.m.dialog != nil {
		t.Error("escapes leave the question open")
	}
}
