package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"shardpilot/control"
)

// fleet is a number of queues, the first of which wait as told.
func fleet(n int, waiting ...float64) []control.Reading {
	list := make([]control.Reading, n)
	for i := range list {
		w := 0.0
		if i < len(waiting) {
			w = waiting[i]
		}
		list[i] = seen(time.Time{}, fmt.Sprintf("q%02d", i), w)
		list[i].EnqueueRate, list[i].Depth = control.Some(1), control.Some(1)
	}
	return list
}

// own are the queues with series of their own.
func (m *Metrics) own() []string {
	var list []string
	for name, q := range m.queues {
		if q.own {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func TestTheQueuesThatWaitMostHaveSeriesOfTheirOwn(t *testing.T) {
	c := newClock()
	m := made(c, 3)
	m.Observe(c.tick(fleet(8, 0, 7, 0, 3, 0, 0, 5, 0)...))
	if got := fmt.Sprint(m.own()); got != "[q01 q03 q06]" {
		t.Errorf("they are %s", got)
	}
}

func TestAPendingStepAndBadNewsComeBeforeMereWaiting(t *testing.T) {
	c := newClock()
	m := made(c, 2)
	e := c.tick(fleet(6, 8, 8, 8, 8)...)
	e.Decisions = []control.Decision{thought(e.Snapshot.At, "q05")}
	e.Entries = []control.LogEntry{{ID: 1, At: e.Snapshot.At.Add(-time.Hour), Kind: control.LogVerdict, Queue: "q04", Verdict: control.VerdictHarmful}}
	m.Observe(e)
	if got := fmt.Sprint(m.own()); got != "[q04 q05]" {
		t.Errorf("they are %s", got)
	}
	got := scraped(t, m)
	if n := len(got.named(lastVerdict)); n != 1 {
		t.Errorf("%d verdicts are shown, want the one from before the start", n)
	}
	got.want(t, `shardpilot_verifications_total{result="harmful"}`, 0) // which is not counted
}

func TestSeriesDoNotFlapBetweenQueuesOfOneKind(t *testing.T) {
	c := newClock()
	m := made(c, 3)
	m.Observe(c.tick(fleet(8, 4, 4, 4, 4, 4, 4)...))
	was := m.own()
	for i := range 3600 { // an hour in which everybody has its turn
		w := make([]float64, 8)
		for j := range w {
			w[j] = 3 + float64((i/7+j*3)%5)/2
		}
		m.Observe(c.tick(fleet(8, w...)...))
		if got := m.own(); !slices.Equal(got, was) {
			t.Fatalf("after %d s: %v instead of %v", i, got, was)
		}
	}
}

func TestALoudQueueGetsSeriesWithinAMinuteOrSo(t *testing.T) {
	c := newClock()
	m := made(c, 3)
	for range 30 {
		m.Observe(c.tick(fleet(8)...))
	}
	if slices.Contains(m.own(), "q07") {
		t.Fatal("q07 has series before it waits")
	}
	began := c.now()
	for range 300 {
		m.Observe(c.tick(fleet(8, 0, 0, 0, 0, 0, 0, 0, 8)...))
		if slices.Contains(m.own(), "q07") {
			break
		}
	}
	if took := c.now().Sub(began); took > 90*time.Second {
		t.Errorf("it took %v", took)
	}
	if n := len(m.own()); n != 3 {
		t.Errorf("%d queues have series", n)
	}
}

func TestNobodyLosesItsSeriesWithinAMinute(t *testing.T) {
	c := newClock()
	a, b := &queue{name: "a", label: "a"}, &queue{name: "b", label: "b"}
	swaps := 0
	for range 600 { // whoever has no series is the louder by far
		was := a.own
		a.standing, b.standing = 1000, 0
		if a.own {
			a.standing, b.standing = 0, 1000
		}
		choose([]*queue{a, b}, 1, c.move(time.Second))
		if a.own == b.own {
			t.Fatal("one place, and not one queue in it")
		}
		if a.own != was {
			swaps++
		}
	}
	if swaps < 9 || swaps > 11 {
		t.Errorf("%d changes in 10 minutes, want one a minute", swaps)
	}
}

func TestAVanishedQueueLeavesItsPlaceAtOnce(t *testing.T) {
	c := newClock()
	m := made(c, 3)
	m.Observe(c.tick(fleet(8, 5, 5, 5)...))
	m.Observe(c.tick(fleet(8, 5, 5, 5)[1:]...))
	if got := m.own(); len(got) != 3 || slices.Contains(got, "q00") {
		t.Errorf("they are %v", got)
	}
}

func TestQueuesThatAreGoneAreForgottenOldestFirst(t *testing.T) {
	c := newClock()
	m := made(c, highestTop)
	for i := range 12 { // a new thousand each time
		list := make([]control.Reading, highestTop)
		for j := range list {
			list[j] = seen(time.Time{}, fmt.Sprintf("q%d-%d", i, j), 1)
		}
		m.Observe(c.tick(list...))
	}
	if n := len(m.queues); n != remembered+highestTop {
		t.Errorf("%d queues are remembered", n)
	}
	if _, ok := m.queues["q0-0"]; ok {
		t.Error("the oldest is remembered")
	}
	if _, ok := m.queues["q10-0"]; !ok {
		t.Error("the newest that is gone is forgotten")
	}
}
