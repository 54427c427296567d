package tui

import (
	"strings"
	"testing"

	"shardpilot/control"
)

// lineOf is the line of the view that has text in it, -1 without one.
func lineOf(m *Model, text string) int {
	for y, l := range strings.Split(plainView(m), "\n") {
		if strings.Contains(l, text) {
			return y
		}
	}
	return -1
}

func TestAClickChoosesAndAnotherOpens(t *testing.T) {
	w := newWorld(t, looks["none"], manyNames(40)...)
	w.m.Resize(120, 40)
	w.play(5)
	w.m.Click(lineOf(w.m, "queue-0003"))
	if r, _ := w.m.selected(); r.name != "queue-0003" || w.m.screen != screenOverview {
		t.Fatalf("chosen: %q on %s", r.name, screenNames[w.m.screen])
	}
	w.m.Click(lineOf(w.m, "queue-0003"))
	if w.m.screen != screenQueue || w.m.open != "queue-0003" {
		t.Fatalf("not opened: %s of %q", screenNames[w.m.screen], w.m.open)
	}
	for y := -1; y <= 41; y++ { // nothing to choose there
		w.m.Click(y)
	}
	if w.m.screen != screenQueue {
		t.Errorf("a click beside everything led to %s", screenNames[w.m.screen])
	}
	w.keys("esc")
	w.m.Wheel(1)
	if r, _ := w.m.selected(); r.name != "queue-0004" {
		t.Errorf("the wheel led to %q", r.name)
	}
	w.keys("tab", "?")
	w.m.Resize(80, 12)
	before := w.m.View()
	w.m.Wheel(1)
	if w.m.View() == before {
		t.Error("the wheel does not move the help")
	}
	w.m.Resize(10, 3)
	w.m.Click(1)
}

// Whatever is clicked, nothing that is asked is answered.
func TestNoClickActs(t *testing.T) {
	o := looks["none"]
	o.Do = nothing
	w := newWorld(t, o)
	w.m.Resize(120, 40)
	w.edit = func(ev *control.Event) { ev.Memory, ev.Leader = "database", "self" }
	w.play(5)
	for _, key := range []string{"o", "p", "m", ":", "y", "/"} {
		w.keys(key)
		asked := w.m.View()
		for y := range 40 {
			w.m.Click(y)
			w.m.Click(y)
			w.m.Wheel(1)
		}
		if w.m.View() != asked {
			t.Errorf("%s: a click changed the picture:\n%s", key, w.m.View())
		}
		w.keys("esc", "esc")
	}
}
