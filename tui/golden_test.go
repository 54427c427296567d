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
	"draining": func(w *world) {
		w.edit = withDrain
		w.play(300)
		w.m.Resize(120, 40)
		w.keys("/", "o", "r", "d", "enter")
	},
	"drains":  func(w *world) { w.edit = withDrain; w.play(300); w.open("orders") },
	"drained": func(w *world) { w.edit = withDrain; w.play(400); w.open("orders") },
	"undo": func(w *world) {
		w.m.opt.Do = nothing
		w.edit = withDrain
		w.play(300)
		w.m.Resize(120, 40)
		w.keys("/", "o", "r", "d", "enter", "u")
	},
	"judged": func(w *world) { // by a leader elsewhere, before this screen was opened
		w.edit = withLog
		w.play(60)
		w.open("orders")
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

// withDrain is a queue whose count was lowered from 4 to 2 with jobs above, which
// are gone in the end.
func withDrain(ev *control.Event) {
	r := &ev.Snapshot.Readings[0]
	sec := int(r.At.Sub(start).Seconds())
	r.Shards, r.HighestShard, r.Stale = 2, 4, 0
	left := float64(max(700-2*sec, 0))
	r.Lanes, r.Drained = nil, []bool{false, false, left == 0, left == 0}
	for shard := range 4 {
		l := control.LaneReading{Priority: 2, Shard: shard, Waiters: control.Some(0), Busy: control.Some(0), Depth: control.Some(12), LagS: control.Some(0.4), Rate: control.Some(105)}
		if shard > 1 {
			l.Depth, l.Rate = control.Some(left/2), control.Some(0)
		}
		r.Lanes = append(r.Lanes, l)
	}
	r.Drain = control.DrainOf(*r, []control.Level{{At: r.At.Add(-30 * time.Second), Jobs: left + 60}, {At: r.At.Add(-20 * time.Second), Jobs: left + 40}, {At: r.At, Jobs: left}}, 5*time.Second)
	ev.Decisions[0].From, ev.Decisions[0].To, ev.Decisions[0].Undo = 2, 2, control.Undo{From: 2, To: 4}
	ev.Changes = nil
	if sec == 200 {
		ev.Changes = []control.Change{{At: r.At, Queue: r.Queue, From: 4, To: 2, Actor: "erika@bastion", Outcome: control.OutcomeApplied, Detail: "by hand"}}
	}
}

// withLog is what a follower knows: a change from before it watched, what came
// of it, and what the leader, which acts, decided last.
func withLog(ev *control.Event) {
	ev.Leader = "otto@b1"
	d := &ev.Decisions[0]
	d.Reason, d.Detail = control.ReasonNotLeader, "this process does not lead: otto@b1 does"
	d.Blockers = []control.Blocker{{Rule: control.ReasonNotLeader, Detail: "otto@b1 does"}, {Rule: control.ReasonGathering, Detail: "window 40s of 2m", For: control.ActionGrow}}
	d.Policy = control.QueuePolicy{Queue: d.Queue, Auto: true, Enforced: true, Max: 8, AcceptedBy: "otto@b1", AcceptedAt: start.Add(-50 * time.Hour)}
	if !ev.Snapshot.At.Equal(start.Add(time.Second)) {
		return
	}
	by := control.LogEntry{Queue: d.Queue, Mode: control.ModeEnforced, Actor: "controller"}
	change, verdict, hold := by, by, by
	change.Kind, change.Outcome, change.Action, change.From, change.To, change.At = control.LogChange, control.OutcomeApplied, control.ActionGrow, 1, 2, start.Add(-20*time.Minute)
	change.Before = control.Figures{Rate: control.Some(102), Waiters: control.Some(14.2), WaitPerS: control.Some(0.139), Producers: control.Some(16)}
	verdict.Kind, verdict.Verdict, verdict.From, verdict.To, verdict.At = control.LogVerdict, control.VerdictKept, 1, 2, start.Add(-16*time.Minute)
	verdict.Gain, verdict.PredictedGain, verdict.Detail = control.Some(1.9), control.Some(2), "enqueue rate ×1.90, wait per enqueue ×0.45, time per enqueue ×0.50"
	verdict.Evidence = control.Evidence{Waiters: control.Some(12.1), EnqueueRate: control.Some(194), WaitPerEnqS: control.Some(0.062), Producers: control.Some(16)}
	hold.Kind, hold.Action, hold.From, hold.To, hold.At = control.LogDecision, control.ActionHold, 2, 2, start.Add(-15*time.Minute)
	hold.Reason, hold.Detail = control.ReasonSmallGain, "more lanes would gain too little: predicted gain 9%, needs 15%"
	hold.Blockers = []control.Blocker{{Rule: control.ReasonSmallGain, Detail: "predicted gain 9%, needs 15%", For: control.ActionGrow},
		{Rule: control.ReasonCooldown, Detail: "another 3m", For: control.ActionShrink, Until: start.Add(-10 * time.Minute)}}
	for i, e := range []control.LogEntry{change, verdict, hold} {
		e.ID = int64(i + 1)
		ev.Entries = append(ev.Entries, e)
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
