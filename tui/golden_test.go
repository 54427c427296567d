package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

var update = flag.Bool("update", false, "write the golden files anew")

var sizes = [][2]int{{250, 70}, {200, 60}, {120, 40}, {80, 24}, {60, 15}, {20, 5}, {1, 1}, {0, 0}}

// looks are the kinds of terminals that are held in golden files.
var looks = map[string]Options{
	"colour": {Glyphs: "braille", Color: "256"},
	"none":   {Glyphs: "block", Color: "none"},
	"ascii":  {Glyphs: "ascii", Color: "none"},
}

// stages are the pictures that are held, each made from a fresh world.
var stages = map[string]func(*world){
	"overview":  func(w *world) { w.play(400) },
	"queue":     func(w *world) { w.play(400); w.keys("enter") },
	"decisions": func(w *world) { w.play(400); w.keys("tab") },
	"producers": func(w *world) { w.play(400); w.keys("tab", "tab", "j", "j", "j", "j") },
	"health":    func(w *world) { w.edit = withProblems; w.play(5); w.keys("!") },
	"help":      func(w *world) { w.play(5); w.keys("?") },
	"failed":    func(w *world) { w.play(300); w.fail("connection refused", 13*1e9) },
	"empty":     func(w *world) { w.edit = withoutQueues; w.play(2) },
	"approve": func(w *world) {
		w.m.opt.Do = nothing
		w.edit = withStep
		w.play(300)
		w.m.Resize(120, 40)
		w.keys("g", "a", "right")
	},
	"override": func(w *world) { w.m.opt.Do = nothing; w.play(300); w.m.Resize(120, 40); w.keys("o", "8") },
	"before":   func(w *world) { w.m.Advance() },
	"past": func(w *world) { // back to the change and beyond
		w.play(400)
		w.m.Resize(120, 40)
		w.keys(" ", "H", "H", "H", "H", "l", "l")
	},
	"verified": func(w *world) {
		w.edit = withHands
		w.play(400)
		w.m.Resize(120, 40)
		w.keys("/", "o", "r", "d", "enter", "enter")
	},
	"entry": func(w *world) {
		w.edit = withHands
		w.play(400)
		w.m.Resize(120, 40)
		w.keys("tab", "/", "p", "e", "n", "d", "enter", "enter")
	},
	"palette": func(w *world) { w.play(300); w.m.Resize(120, 40); w.keys(":", "t", "i", "m", "e") },
	"copy":    func(w *world) { w.play(300); w.m.Resize(120, 40); w.keys("y", "down") },
	"brake": func(w *world) {
		w.m.opt.Do = nothing
		w.edit = withHands
		w.play(300)
		w.m.Resize(120, 40)
		w.keys("j", "b")
	},
}

// withHands is a queue that operators have been at: accepted, pinned, steps
// down paused, and a change of theirs that was verified.
func withHands(ev *control.Event) {
	at := ev.Snapshot.At
	ev.Decisions[0].Policy = control.QueuePolicy{Queue: "orders", Auto: true, Max: 8, AcceptedBy: "otto@b1", AcceptedAt: start.Add(-50 * time.Hour),
		Pin:       &control.Pin{Shards: 4, Until: start.Add(2 * time.Hour), By: "erika@bastion", Why: "release"},
		PauseDown: &control.Pause{At: start.Add(-time.Hour), By: "otto@b1", Why: "night batch"}, UpdatedBy: "erika@bastion", UpdatedAt: start.Add(-time.Minute)}
	if at.Equal(start.Add(340 * time.Second)) {
		ev.Verifications = []control.Verification{{At: at, Queue: ev.Decisions[0].Queue, From: 2, To: 4, Result: control.VerdictKept, Gain: control.Some(1.8),
			PredictedGain: control.Some(1.9), Detail: "equal windows of 2 min"}}
	}
}

func withProblems(ev *control.Event) {
	ev.Snapshot.Problems = []control.Problem{
		{Part: "activity", Detail: "other roles' sessions are hidden", Hint: "GRANT pg_read_all_stats TO pilot"},
		{Part: "sequences", Detail: "2 sequences may not be read", Hint: "GRANT SELECT ON ALL SEQUENCES IN SCHEMA awa TO pilot"}}
}

func nothing(context.Context, control.Command) (control.Result, error) { return control.Result{}, nil }

func withStep(ev *control.Event) {
	for i := range ev.Decisions {
		d := &ev.Decisions[i]
		at := ev.Snapshot.At
		d.Step = &control.Pending{Queue: d.Queue, From: d.From, To: d.From * 2, Generation: 7, At: at, Until: at.Add(20 * time.Minute),
			Detail: "producers wait for their lanes: share 0.62 to 0.72, needs 0.25", PredictedGain: control.Some(1.9), Evidence: d.Evidence}
	}
}

func withoutQueues(ev *control.Event) {
	ev.Snapshot.Readings, ev.Decisions = nil, nil
	ev.Snapshot.Awa = control.Installation{State: control.AwaCanonical, Version: 40, MayWatch: true,
		Sentence: "Awa is installed, but its queue storage is not active.", Hint: "Finish Awa's own storage migration, then come back."}
}

// mainStages are held at every size; the others at the two usual ones.
var mainStages = map[string]bool{"overview": true, "queue": true, "past": true, "verified": true, "entry": true, "palette": true, "copy": true, "brake": true}

func TestPicturesStayAsTheyAre(t *testing.T) {
	for stage, play := range stages {
		for look, o := range looks {
			w := newWorld(t, o)
			play(w)
			for _, s := range sizes {
				usual := s == [2]int{120, 40} || s == [2]int{80, 24}
				if !usual && !mainStages[stage] || s[0] == 250 && look != "none" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%dx%d", stage, look, s[0], s[1]), func(t *testing.T) {
					w.m.Resize(s[0], s[1])
					fits(t, w.m.View(), s[0], s[1])
					compare(t, fmt.Sprintf("%s-%dx%d-%s.golden", stage, s[0], s[1], look), w.m.View())
				})
			}
		}
	}
}

// compare holds a view against its file. Escape sequences are spelled out there,
// so that a difference can be read.
func compare(t *testing.T, name, view string) {
	t.Helper()
	got := strings.ReplaceAll(view, "\x1b", "␛") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s: line %d\n got %q\nwant %q", path, i+1, g[i], at2(w, i))
		}
	}
	t.Fatalf("%s has %d lines, the view %d", path, len(w), len(g))
}

func at2(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func TestAsciiIsAscii(t *testing.T) {
	for stage, play := range stages {
		w := newWorld(t, looks["ascii"], "キュー", "cafe\u0301", "fam👨\u200d👩\u200d👧\u200d👦ily", "esc\x1b[31m", "new\nline", "ordinary")
		play(w)
		w.m.Resize(120, 40)
		for i, r := range w.m.View() {
			// Setting the column is a movement, not a sign or a colour.
			if r > 0x7e || r < 0x20 && r != '\n' && r != '\x1b' {
				t.Fatalf("%s: %q at byte %d", stage, r, i)
			}
		}
	}
}

func TestNoColourMeansNone(t *testing.T) {
	for _, env := range [][]string{{"LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1"}, {"LC_ALL=C.UTF-8", "TERM=dumb"}} {
		w := newWorld(t, Options{Getenv: calm(env...)})
		w.play(100)
		w.m.Resize(120, 40)
		if strings.Contains(w.m.View(), "\x1b[") {
			t.Errorf("%v: the view has escape sequences", env)
		}
	}
}

func TestTerminalsGetWhatTheyCanShow(t *testing.T) {
	for _, c := range []struct{ env, glyphs string }{
		{"LC_ALL=C TERM=xterm", "ascii"},
		{"LC_ALL=POSIX LANG=de_DE.UTF-8 TERM=xterm", "ascii"},
		{"LANG=de_DE.UTF-8 TERM=xterm", "braille"},
		{"LC_CTYPE=en_US.utf8 LANG=C TERM=screen", "braille"},
		{"LC_ALL=C.UTF-8 TERM=linux", "block"},
		{"LC_ALL=C.UTF-8 TERM=vt100", "ascii"},
		{"TERM=xterm", "ascii"},
	} {
		if got := pickGlyphs("auto", calm(strings.Fields(c.env)...)).name; got != c.glyphs {
			t.Errorf("%s: %s, want %s", c.env, got, c.glyphs)
		}
	}
}
