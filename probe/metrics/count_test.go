package metrics

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardpilot/control"
)

func TestWaitingIsWaitersTimesPeriodAddedUp(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	want := 0.0
	for i, w := range []float64{6, 0, 2.5, 4} {
		r := seen(time.Time{}, "orders", w)
		r.PeriodS = 1 + float64(i)/10
		r.Expected = 4 * r.PeriodS
		want += w * r.PeriodS
		m.Observe(c.tick(r))
	}
	got, ok := scraped(t, m).of(laneLockWait, "orders")
	if !ok || math.Abs(got-want) > 1e-9 {
		t.Errorf("%v s (there: %v), want %v", got, ok, want)
	}
}

func TestPeriodsThatWereNotMeasuredAddNothing(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.Observe(c.tick(seen(time.Time{}, "orders", 5)))
	before := scraped(t, m)

	m.Observe(c.failed())
	for _, spoil := range []func(*control.Reading){
		func(r *control.Reading) { r.Waiters, r.EnqueueRate = control.None(), control.None() },
		func(r *control.Reading) { r.PeriodS = math.NaN() },
		func(r *control.Reading) { r.PeriodS = math.Inf(1) },
		func(r *control.Reading) { r.PeriodS = -3 },
		func(r *control.Reading) { r.PeriodS = 86400 },
		func(r *control.Reading) { r.Waiters, r.EnqueueRate = control.Some(-2), control.Some(-7) },
	} {
		r := seen(time.Time{}, "orders", 5)
		spoil(&r)
		m.Observe(c.tick(r))
	}
	m.Observe(c.tick()) // the queue is not in the snapshot at all
	r := seen(time.Time{}, "orders", 5)
	r.Samples, r.Waiters = 0, control.None()
	r.EnqueueRate = control.None()
	m.Observe(c.tick(r))

	after := scraped(t, m)
	for _, d := range []*definition{laneLockWait, enqueued} {
		was, _ := before.of(d, "orders")
		if is, ok := after.of(d, "orders"); !ok || is != was {
			t.Errorf("%s is %v (there: %v), want %v as before", d.name, is, ok, was)
		}
	}
}

func TestAPeriodMostlyUnsampledCountsForWhatWasSampled(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	r := seen(time.Time{}, "orders", 6)
	r.PeriodS, r.Expected, r.Samples = 60, 240, 12 // stopped for most of a minute
	m.Observe(c.tick(r))
	if got, _ := scraped(t, m).of(laneLockWait, "orders"); math.Abs(got-6*60*12.0/240) > 1e-9 {
		t.Errorf("%v s, want the 3 s that were sampled × 6", got)
	}
}

func TestAnEventSeenTwiceIsCountedOnce(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.full("orders")
	m.Observe(e)
	first := scraped(t, m)
	m.Observe(e)
	again := scraped(t, m)
	for _, d := range []*definition{laneLockWait, enqueued, decisions, changes, verifications, logEntries} {
		for _, k := range first.named(d) {
			again.want(t, k, first[k])
		}
	}
}

// history is what a random fleet of queues went through.
type history struct {
	clock *clock
	m     *Metrics
	names []string
	waitS map[string]float64 // by the obvious sum
}

func (h *history) step(rt *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(rt, "what") {
	case 0:
		h.m.Observe(h.clock.failed())
		return
	case 1:
		h.clock.move(time.Duration(rapid.IntRange(1, 900).Draw(rt, "gap")) * time.Second)
	}
	var list []control.Reading
	for _, name := range h.names {
		if rapid.IntRange(0, 3).Draw(rt, "there") == 0 {
			continue
		}
		r := seen(time.Time{}, name, float64(rapid.IntRange(0, 40).Draw(rt, "waiters")))
		if rapid.IntRange(0, 5).Draw(rt, "absent") == 0 {
			r.Waiters = control.None()
		}
		h.waitS[name] += r.Waiters.Or(0)
		list = append(list, r)
	}
	e := h.clock.tick(list...)
	for _, r := range list {
		if rapid.IntRange(0, 9).Draw(rt, "minded") == 0 {
			e.Decisions = append(e.Decisions, thought(e.Snapshot.At, r.Queue))
		}
	}
	h.m.Observe(e)
}

func TestCountersNeverGoBackAndEachSecondIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		top := rapid.IntRange(1, 6).Draw(rt, "top")
		h := &history{clock: newClock(), waitS: map[string]float64{}}
		h.m = made(h.clock, top)
		for i := range rapid.IntRange(1, 9).Draw(rt, "queues") {
			h.names = append(h.names, fmt.Sprintf("q%d", i))
		}
		highest := samples{}
		last := map[string]float64{}
		for range rapid.IntRange(1, 40).Draw(rt, "ticks") {
			h.step(rt)
			now := scraped(t, h.m)
			for _, d := range []*definition{laneLockWait, enqueued, snapshots, failures, probeStatements} {
				for _, k := range now.named(d) {
					if now[k] < highest[k] {
						rt.Fatalf("%s went from %v back to %v", k, highest[k], now[k])
					}
					highest[k] = now[k]
				}
			}
			own := 0
			for _, k := range now.named(laneLockWait) {
				last[k] = now[k]
				if k != laneLockWait.name+`{queue="`+Others+`"}` {
					own++
				}
			}
			if own > top {
				rt.Fatalf("%d queues have series, %d may", own, top)
			}
		}
		var shown, obvious float64
		for _, v := range last {
			shown += v
		}
		for _, v := range h.waitS {
			obvious += v
		}
		if math.Abs(shown-obvious) > 1e-6 {
			rt.Fatalf("all series say %v s, the readings %v s", shown, obvious)
		}
	})
}
