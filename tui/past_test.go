package tui

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// overviewCells are the measured columns of every row as they are shown.
func overviewCells(m *Model) map[string]string {
	out := map[string]string{}
	for _, r := range m.rows {
		var cells []string
		for _, c := range m.allColumns(120) {
			if c.cell != nil && !strings.HasPrefix(c.title, "APPLIED") && !strings.HasPrefix(c.title, "NEXT") && c.w > 1 {
				_, s := c.cell(r)
				cells = append(cells, s)
			}
		}
		out[r.name] = strings.Join(cells, " ")
	}
	return out
}

// What is shown of a moment of the past is what was shown then.
func TestThePastIsShownAsItWas(t *testing.T) {
	w := newWorld(t, looks["none"]).play(400)
	w.m.Resize(200, 60)
	w.keys(" ")
	for range 31 { // five seconds each: beyond the change of the count
		w.keys("h")
	}
	then := newWorld(t, looks["none"]).play(400 - 31*5)
	for name, want := range overviewCells(then.m) {
		if got := overviewCells(w.m)[name]; got != want {
			t.Errorf("%s reads %q, was %q", name, got, want)
		}
	}
	has(t, w.m, "PAST 09:30:58, 2m35 ago", "cooldown", "n/a: policies of the past are not kept here")
	lacks(t, w.m, "now")
	w.keys("enter")
	has(t, w.m, "lanes of the past are not kept")
	lacks(t, w.m, "In the way")
}

func TestSteppingStopsAtBothEnds(t *testing.T) {
	w := newWorld(t, looks["none"]).play(100)
	w.m.Resize(120, 40)
	body := func() string { return strings.Join(strings.Split(plainView(w.m), "\n")[3:39], "\n") }
	live := body()
	for range 40 {
		w.keys("left")
	}
	has(t, w.m, "PAST 09:26:54", "nothing is kept from before")
	w.play(30) // behind the picture
	has(t, w.m, "PAST 09:26:54")
	for range 40 {
		w.keys("right")
	}
	if body() != live || w.m.at != (time.Time{}) || !w.m.paused {
		t.Error("stepping forth does not end at the paused picture")
	}
	w.keys("left", "end")
	lacks(t, w.m, "PAST", "PAUSED")
	if w.m.clock() != start.Add(130*time.Second) {
		t.Errorf("live, it is %s", w.m.clock())
	}
	if w.keys("end"); w.m.paused {
		t.Error("end pauses a live picture")
	}
}

func TestNothingCanBeDoneFromAPictureThatIsNotLive(t *testing.T) {
	for _, moment := range []string{" ", "h"} {
		for _, k := range actionKeys {
			w := acting(t)
			w.keys(moment, k)
			if w.m.dialog != nil {
				t.Errorf("after %q, %q asks", moment, k)
			}
			has(t, w.m, "the picture is not live")
			if w.keys("0", k); w.m.dialog == nil {
				t.Errorf("live again, %q does not ask", k)
			}
		}
	}
}

func TestAMissedSecondIsDimForThreeAndThenAbsent(t *testing.T) {
	w := newWorld(t, looks["none"], "orders").play(20)
	w.m.Resize(120, 40)
	cell := func() (role, string) { return w.m.lately(seriesWaiters, w.m.waitRole, count)(w.m.rows[0]) }
	_, before := cell()
	w.edit = func(ev *control.Event) {
		r := &ev.Snapshot.Readings[0]
		r.Waiters, r.Share, r.EnqueueRate, r.Depth, r.LagS = control.None(), control.None(), control.None(), control.None(), control.None()
	}
	for range 2 {
		w.play(1)
		if as, s := cell(); s != before || as != roleFaint {
			t.Errorf("shown as %q in role %d, was %q", s, as, before)
		}
	}
	w.play(1)
	if _, s := cell(); s != absent {
		t.Errorf("after 3 s %q is shown", s)
	}
}

// play a day of one queue into a history, quickly.
func aDay(h *history, seconds int, waiters func(sec int) float64) time.Time {
	at := start
	r := control.Reading{Shards: 2, PeriodS: 1, Bottleneck: control.BottleneckLane, Causes: control.Causes{Lane: control.Some(1)}}
	for sec := range seconds {
		at = start.Add(time.Duration(sec) * time.Second)
		r.At, r.Waiters = at, control.Some(waiters(sec))
		h.put(&r)
	}
	return at
}

func TestADayIsKeptOfQueuesThatWereEverActive(t *testing.T) {
	const day = 24 * 3600
	h := newHistory()
	end := aDay(h, day, func(sec int) float64 { return float64(sec / 3600) })
	for i, seconds := range spans {
		s := newSpan(end.Unix(), seconds, 120)
		if got := s.seconds(); float64(got) < 0.8*float64(seconds) || float64(got) > 1.2*float64(seconds) {
			t.Errorf("a span of %d s covers %d", seconds, got)
		}
		for c, v := range h.means(seriesWaiters, s) {
			at := day - 1 - int(int64(s.cols-1-c)*s.per*s.step()/s.wide)
			if want := math.Floor(float64(at) / 3600); at > 0 && math.Abs(v-want) > 1 {
				t.Fatalf("span %d: %d s holds %v, want about %v", i, at, v, want)
			}
		}
	}
	if r, _, ok := h.moment(start.Add(10 * time.Hour)); !ok || math.Abs(r.Waiters.Or(-1)-10) > 1 || r.Shards != 2 {
		t.Errorf("14 h ago %+v is known, %v", r, ok)
	}
	quiet := newHistory()
	aDay(quiet, 1000, func(int) float64 { return 0 })
	if quiet.rings[1] != nil || quiet.rings[2] != nil {
		t.Error("coarse rings are kept of a queue in which nobody ever waited")
	}
}

func TestTheCoarseRingsBeginWithWhatTheFinestKnows(t *testing.T) {
	h := newHistory()
	end := aDay(h, 600, func(sec int) float64 { return max(0, float64(sec-590)) })
	s := newSpan(end.Unix(), 3600, 360)
	if s.tier != 1 {
		t.Fatalf("an hour is taken from tier %d", s.tier)
	}
	known := 0
	for _, v := range h.means(seriesWaiters, s) {
		if v == v {
			known++
		}
	}
	if known < 59 || known > 61 {
		t.Errorf("%d slots of 10 s are known of ten minutes", known)
	}
}

// What a thousand queues hold after a day is what they hold after 15 minutes
// and the coarse rings: nothing grows with time.
func TestHistoryDoesNotGrowOverADay(t *testing.T) {
	const queues = 50
	var before, early, late runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	all := make([]*history, queues)
	for i := range all {
		all[i] = newHistory()
		aDay(all[i], 1000, func(sec int) float64 { return 2 })
	}
	runtime.GC()
	runtime.ReadMemStats(&early)
	for _, h := range all {
		aDay(h, 25*3600, func(sec int) float64 { return 2 })
	}
	runtime.GC()
	runtime.ReadMemStats(&late)
	perQueue := float64(late.HeapAlloc-before.HeapAlloc) / queues
	t.Logf("%.1f KiB a queue that was ever active: %.1f MiB for 1,000 of them", perQueue/1024, perQueue*1000/(1<<20))
	if grown := int64(late.HeapAlloc) - int64(early.HeapAlloc); grown > queues*1024 {
		t.Errorf("over a day %d bytes were added", grown)
	}
	if perQueue > 100<<10 {
		t.Errorf("%.0f bytes a queue", perQueue)
	}
	runtime.KeepAlive(all)
}

func TestShortNumbersKeepThreeDigits(t *testing.T) {
	for f := 1e-8; f < 4e9; f *= 1.0137 {
		if got := float64(shortOf(control.Some(f)).float()); math.Abs(got-f) > 5.1e-4*f {
			t.Fatalf("%v became %v", f, got)
		}
	}
	for _, c := range []struct {
		in   control.Value
		want float64
	}{{control.Some(0), 0}, {control.Some(-3), 0}, {control.None(), math.NaN()}} {
		got := float64(shortOf(c.in).float())
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%v became %v", c.in, got)
		}
	}
	if got := shortOf(control.Some(1e300)); got != shortMost || got.float() < 8e9 {
		t.Errorf("the highest is %v", got.float())
	}
}
