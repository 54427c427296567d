package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestHelpIsTheKeyTable(t *testing.T) {
	w := newWorld(t, looks["ascii"]).play(1)
	w.keys("?")
	w.m.Resize(160, 80)
	v := plainView(w.m)
	for _, b := range lookBindings() {
		if b.help == "" || !strings.Contains(v, "  "+keyName(b.keys[0])) || !strings.Contains(v, b.help) {
			t.Errorf("help lacks %q: %s", keyName(b.keys[0]), b.help)
		}
	}
}

func TestNoKeyHasTwoMeaningsOnOneScreen(t *testing.T) {
	m := New(Options{Now: time.Now, Do: nothing, Recorder: &spool{}, Save: func(string, []byte) error { return nil }})
	for s := range screenCount {
		seen := map[string]string{}
		for _, b := range m.bindings() {
			for _, k := range b.keys {
				if b.works(s) && seen[k] != "" {
					t.Errorf("%s: %q is %q and %q", screenNames[s], k, seen[k], b.help)
				}
				if b.works(s) {
					seen[k] = b.help
				}
			}
		}
	}
}

func TestReadOnlyKeysChangeNothingOutside(t *testing.T) {
	for s := range screenCount {
		for _, k := range allKeys() {
			w := newWorld(t, looks["none"]).play(3)
			w.m.Resize(120, 40)
			w.m.screen = s
			e := w.keys(k)
			switch {
			case e.Quit != (k == "q" || k == "ctrl+c"), e.Redraw != (k == "ctrl+l"), e.Copy != "", e.Save != nil, e.Do != nil:
				t.Errorf("%s: %q has the effect %+v", screenNames[s], k, e)
			}
		}
	}
}

func TestSelectionFollowsTheQueue(t *testing.T) {
	w := newWorld(t, looks["none"]).play(30)
	w.m.Resize(120, 40)
	w.keys("j", "j")
	r, _ := w.m.selected()
	for range int(orderCount) {
		w.keys("s")
		if now, _ := w.m.selected(); now.name != r.name {
			t.Fatalf("sorted by %s the cursor stands on %s, not %s", orderNames[w.m.order], now.name, r.name)
		}
	}
	w.names = append([]string{"a-new-one"}, w.names...)
	w.play(5)
	if now, _ := w.m.selected(); now.name != r.name {
		t.Errorf("a new queue moved the cursor from %s to %s", r.name, now.name)
	}
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == r.name })
	w.play(1)
	if now, ok := w.m.selected(); !ok || now.name == r.name {
		t.Errorf("the queue is gone and the cursor stands on %q, %v", now.name, ok)
	}
}

// Until somebody moves the cursor it stands on the first row, whichever that
// is; from then on it stays with its queue, also on the first row.
func TestTheCursorFollowsTheFirstRowUntilItIsMoved(t *testing.T) {
	w := newWorld(t, looks["none"], "a", "b", "c")
	busiest := 0
	w.edit = func(ev *control.Event) {
		for i := range ev.Snapshot.Readings {
			r := &ev.Snapshot.Readings[i]
			r.Waiters, r.Share, r.Stale = control.Some(2), control.Some(0.5), 0
			r.Bottleneck = control.BottleneckLane
			if ev.Decisions[i].Pending = false; i == busiest {
				r.Waiters = control.Some(9)
			}
		}
	}
	w.play(30)
	w.m.Resize(120, 40)
	on := func() string { r, _ := w.m.selected(); return r.name }
	for busiest = range 3 {
		if w.play(30); on() != w.names[busiest] {
			t.Errorf("the busiest is %s, the cursor stands on %s", w.names[busiest], on())
		}
	}
	w.keys("j", "k") // now it is c's
	busiest = 0
	if w.play(30); on() != "c" || w.m.rows[0].name != "a" {
		t.Errorf("moved, the cursor went from c to %s", on())
	}
	w.keys("esc")
	if w.play(1); on() != "a" {
		t.Errorf("let go, the cursor stands on %s", on())
	}
}

func TestAbsentSortsLastAndShowsAsSuch(t *testing.T) {
	w := newWorld(t, looks["none"], "absent", "low", "high")
	w.edit = func(ev *control.Event) {
		rs := ev.Snapshot.Readings
		none, low, high := control.None(), control.Some(1), control.Some(50)
		rs[0].Waiters, rs[1].Waiters, rs[2].Waiters = none, low, high
		rs[0].Share, rs[1].Share, rs[2].Share = none, low, high
		rs[0].Depth, rs[1].Depth, rs[2].Depth = none, low, high
		rs[0].LagS, rs[1].LagS, rs[2].LagS = none, low, high
		rs[0].EnqueueRate, rs[1].EnqueueRate, rs[2].EnqueueRate = none, low, high
		rs[0].Shards, rs[1].Shards, rs[2].Shards = 0, 1, 2
		rs[0].Holder, rs[0].Applied, rs[0].Producers = &control.Holder{Hidden: true}, none, none
	}
	w.play(12)
	w.m.Resize(200, 40)
	for range int(orderName) - 1 {
		w.keys("s")
		order := []string{w.m.rows[0].name, w.m.rows[1].name, w.m.rows[2].name}
		if !slices.Equal(order, []string{"high", "low", "absent"}) {
			t.Errorf("by %s: %v", orderNames[w.m.order], order)
		}
	}
	w.keys("s", "g") // by name it stands first
	has(t, w.m, "n/a", "what it does is hidden from our role")
	lacks(t, w.m, "NaN", "Inf")
}

func TestSortSaysByWhat(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	w.m.Resize(200, 40)
	w.keys("s")
	for _, want := range []string{"WAIT↓", "SHARE↓", "DEPTH↓", "LAG↓", "JOBS/S↓", " S↓", "QUEUE↑"} {
		has(t, w.m, want)
		w.keys("s")
	}
}

func TestFilterIsLiveAndEscDropsIt(t *testing.T) {
	w := newWorld(t, looks["none"], "orders", "re\x1bturns", "email").play(3)
	w.m.Resize(120, 40)
	w.keys("/", "R", "e")
	has(t, w.m, "/Re", "1 of 3", "re␛turns")
	lacks(t, w.m, "email")
	w.keys("q", "backspace") // q is a letter here
	w.keys("enter", "j")
	lacks(t, w.m, "email")
	w.keys("esc")
	has(t, w.m, "email", "orders")
	w.keys("/", "z", "z")
	has(t, w.m, "no queue has \"zz\" in its name")
	w.keys("esc")
	has(t, w.m, "email")
}

func TestPastedTextIsNeverKeys(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	w.m.Resize(120, 40)
	w.m.Paste("q\x03jj\r?/s")
	if w.m.screen != screenOverview || w.m.order != orderAttention || w.m.typing || w.m.list[screenOverview].index != 0 {
		t.Error("pasted text acted as keys")
	}
	w.keys("/")
	w.m.Paste("ma\nil\x1b")
	if w.m.filter() != "ma␊il␛" || !w.m.typing {
		t.Errorf("the filter is %q", w.m.filter())
	}
}

func TestPausedPictureStandsStillAndSaysSo(t *testing.T) {
	w := newWorld(t, looks["none"]).play(100)
	w.m.Resize(120, 40)
	body := func() string { return strings.Join(strings.Split(plainView(w.m), "\n")[3:], "\n") }
	before := body()
	w.keys("space") // not a name bubbletea uses
	lacks(t, w.m, "PAUSED")
	w.keys(" ")
	w.play(70)
	has(t, w.m, "PAUSED 70s")
	if body() != before {
		t.Error("the paused picture moved")
	}
	w.keys("j", "k")
	if body() != before {
		t.Error("keys moved the paused data")
	}
	w.keys(" ")
	lacks(t, w.m, "PAUSED")
	if body() == before {
		t.Error("the picture did not catch up")
	}
	r, _ := w.m.selected()
	if n := r.history.recent(seriesWaiters, w.m.clock().Unix(), 60); !n.OK() {
		t.Error("readings were lost during the pause")
	}
}

func TestFailureIsSaidAndTheOldPictureIsGrey(t *testing.T) {
	w := newWorld(t, looks["colour"]).play(200)
	w.m.Resize(120, 40)
	w.fail("the server closed the connection", 30*time.Second)
	has(t, w.m, "the server closed the connection (for 12s)", "may this host reach it?", "next try in 4s", "age 30s", "db1.example:5432/app")
	for i, l := range strings.Split(w.m.View(), "\n")[5:39] {
		for _, s := range strings.SplitAfter(l, "m") {
			if k := strings.LastIndex(s, "\x1b["); k >= 0 && s[k:] != w.m.theme.grey && s[k:] != w.m.theme.off {
				t.Fatalf("line %d of the old picture has the style %q", i, s[k:])
			}
		}
	}
	w.now = w.now.Add(3 * time.Second)
	w.m.Advance()
	has(t, w.m, "next try in 1s", "age 33s")
	w.sec += 33
	w.play(1)
	lacks(t, w.m, "closed the connection", "age 3")
}

func TestFatalFailureDoesNotPromiseARetry(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.m.Resize(100, 20)
	w.m.Apply(control.Event{At: w.now, Err: &control.Failure{What: "password authentication failed", Hint: "check PGPASSFILE", Fatal: true, RetryIn: time.Second}})
	has(t, w.m, "password authentication failed", "retrying will not help", "check PGPASSFILE", "No reading yet")
	lacks(t, w.m, "next try")
}

func TestOutageIsAGapInTheCharts(t *testing.T) {
	w := newWorld(t, looks["none"]).play(120)
	w.sec, w.now = w.sec+60, w.now.Add(60*time.Second)
	w.play(60)
	h := w.m.picture.rows[0].history
	end := w.m.clock().Unix()
	v := h.means(seriesWaiters, newSpan(end, 180, 180))
	for i, f := range v {
		gap := i >= 60 && i < 120
		if (f != f) != gap {
			t.Fatalf("second %d of 180 holds %v", i, f)
		}
	}
}

func TestAgesComeFromOneClockAndAreNeverNegative(t *testing.T) {
	for _, skew := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute} {
		w := newWorld(t, looks["none"])
		w.skew = skew
		w.play(5)
		w.m.Resize(120, 40)
		has(t, w.m, "age 0s")
		w.now = w.now.Add(7 * time.Second)
		w.m.Advance()
		has(t, w.m, "age 7s")
		w.now = w.now.Add(-10 * time.Minute) // our clock steps back
		w.m.Advance()
		has(t, w.m, "age 0s")
		if head, _, _ := strings.Cut(plainView(w.m), "\n"); strings.Contains(head, "-") {
			t.Errorf("a negative age: %s", head)
		}
	}
}

func TestTimesCarryTheirZone(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.now = w.now.In(time.FixedZone("+0545", 5*3600+45*60))
	w.play(1)
	w.m.Resize(120, 40)
	has(t, w.m, "15:11:54 +0545")
}

func TestWatchingOnlyIsSaidAtEveryWidth(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = func(ev *control.Event) {
		ev.Leader, ev.Memory = "", "watch only: decisions are kept in memory; shardpilot install makes the schema that keeps them"
	}
	w.play(2)
	for _, width := range []int{80, 120, 200} {
		w.m.Resize(width, 24)
		has(t, w.m, "watch only")
		lacks(t, w.m, "no leader known")
	}
	has(t, w.m, "shardpilot install makes the schema")
}

func TestHeaderNeverLies(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none", ReadOnly: true, Label: "staging"})
	w.edit = func(ev *control.Event) {
		ev.Snapshot.Database.Standby = true
		ev.ProcessMode, ev.Leader, ev.Memory, ev.Dropped = control.ModeEnforced, "erika@bastion-2", "kept in memory only: schema shardpilot is missing", 7
	}
	w.play(2)
	w.m.Resize(250, 40)
	has(t, w.m, " staging ", "db1.example:5432/app", "✖ STANDBY", "PostgreSQL 18.4", "Awa 43 active", "ENFORCED", "following erika@bastion-2",
		"read-only", "kept in memory only", "schema shardpilot is missing", "7 readings not drawn")
	lacks(t, w.m, "primary", "leading")
	w.edit = nil
	w.play(1)
	has(t, w.m, "primary", "SHADOW", "leading")
	lacks(t, w.m, "STANDBY", "ENFORCED")
	// The place and STANDBY stay when there is no room for all.
	w.edit = func(ev *control.Event) { ev.Snapshot.Database.Standby = true }
	w.play(1)
	w.m.Resize(48, 12)
	has(t, w.m, "db1.example:5432/app", "STANDBY")
}

func TestEmptyStateSaysWhatToDo(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.edit = withoutQueues
	w.play(1)
	w.m.Resize(80, 24)
	has(t, w.m, "its queue storage is not active", "Finish Awa's own storage migration")
	w.edit = func(ev *control.Event) { ev.Snapshot.Readings = nil }
	w.play(1)
	has(t, w.m, "once a job has been enqueued")
	w.edit = func(ev *control.Event) {
		for i := range ev.Decisions {
			ev.Decisions[i] = control.Decision{Queue: ev.Decisions[i].Queue, Mode: control.ModeManual, Reason: control.ReasonManual}
		}
	}
	w.play(1)
	has(t, w.m, "no queue is opted in: shardpilot set")
	w.m.opt.Do = nothing
	w.play(1)
	has(t, w.m, "no queue is opted in: m lets the controller look after one")
	w.edit = nil
	w.play(1)
	lacks(t, w.m, "opted in")
}

func TestIntervalKeepsToItsBounds(t *testing.T) {
	w := newWorld(t, looks["none"]).play(1)
	for range 20 {
		w.keys("+")
	}
	if w.m.Interval() != MaxInterval {
		t.Errorf("at most %s", w.m.Interval())
	}
	for range 20 {
		w.keys("-")
	}
	if w.m.Interval() != MinInterval {
		t.Errorf("at least %s", w.m.Interval())
	}
}

func TestCopyGivesTheRawName(t *testing.T) {
	w := newWorld(t, looks["none"], "ev\x1bil").play(3)
	w.m.Resize(120, 40)
	if e := w.keys("y", "enter"); e.Copy != "ev\x1bil" {
		t.Errorf("copied %q", e.Copy)
	}
	has(t, w.m, "copied the name ev␛il")
}

func TestProblemsAreOneLineAndAPage(t *testing.T) {
	w := newWorld(t, looks["none"])
	w.edit = withProblems
	w.play(2)
	w.m.Resize(120, 40)
	has(t, w.m, "! activity: other roles' sessions are hidden", "GRANT pg_read_all_stats TO pilot", "1 more")
	lacks(t, w.m, "sequences")
	w.keys("!")
	has(t, w.m, "sequences", "GRANT SELECT ON ALL SEQUENCES")
	w.keys("!")
	if w.m.screen != screenOverview {
		t.Error("the key that opened the page does not close it")
	}
}

func TestPageOfAVanishedQueueSaysSo(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	w.m.Resize(120, 40)
	r, _ := w.m.selected()
	w.keys("enter")
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == r.name })
	w.play(1)
	has(t, w.m, r.name, "is not in the newest reading")
	w.keys("esc")
	if w.m.screen != screenOverview {
		t.Error("esc does not go back")
	}
}

func TestLongProducerListsScrollToTheirEnd(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	w.m.Resize(120, 20)
	w.keys("tab", "tab", "G")
	has(t, w.m, "▌", "10.0.4.19 checkout")
	lacks(t, w.m, "Awa runtimes")
	w.keys("g")
	has(t, w.m, "Awa runtimes", "▌ worker-0")
}
