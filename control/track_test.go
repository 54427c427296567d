package control

import (
	"math"
	"testing"
	"time"
)

func near(a Value, want float64) bool {
	v, ok := a.Get()
	return ok && math.Abs(v-want) < 0.02*math.Max(math.Abs(want), 0.05)
}

func TestSignalIsWhatWasRead(t *testing.T) {
	p := DefaultPolicy()
	s := newStage()
	s.shards, s.queue.Auto = 2, false
	_ = s.do([]string{"run", "40m", "wait=3", "hold=1.5", "rate=60", "top=0.75"})
	g := s.track.Signal(p)
	for name, x := range map[string]struct {
		got  Value
		want float64
	}{
		"waiters": {g.Waiters, 3}, "fast waiters": {g.FastWaiters, 3}, "inside": {g.Inside, 4.5}, "rate": {g.Rate, 60}, "rate of late": {g.RateOfLate, 60},
		"busy": {g.Busy, 1.5}, "wait per enqueue": {g.Figures.WaitPerS, 0.05}, "latency": {g.Figures.LatencyS, 0.075}, "share": {g.Grow.Mean, 2.0 / 3},
		"third": {g.Thirds[0], 2.0 / 3}, "calm": {g.Calm.Mean, 2.0 / 3}, "slice": {g.WorstSlice, 2.0 / 3}, "top lane": {g.TopLane, 0.75}, "coverage": {g.Coverage, 1},
	} {
		if !near(x.got, x.want) {
			t.Errorf("%s is %v, want %v", name, x.got, x.want)
		}
	}
	if g.Age < 39*time.Minute || g.Shards != 2 || !g.Drained || !g.DrainedOK {
		t.Errorf("age %v, shards %d, drained %v %v", g.Age, g.Shards, g.Drained, g.DrainedOK)
	}
}

func TestWhatWasSeenAtAnotherCountIsForgotten(t *testing.T) {
	p := DefaultPolicy()
	s := newStage()
	_ = s.do([]string{"run", "10m", "crowd=16"})
	s.queue.Auto = false
	s.shards = 4
	_ = s.do([]string{"run", "5s", "wait=0", "crowd=0", "hold=0.5", "rate=5"})
	g := s.track.Signal(p)
	if g.Age > 5*time.Second || !near(g.Waiters, 0) || g.Grow.Mean.Or(1) != 0 || !near(g.Figures.Rate, 5) || g.Coverage.Or(0) < 0.99 {
		t.Errorf("five seconds after the count changed: age %v, waiters %v, share %v, rate %v, coverage %v", g.Age, g.Waiters, g.Grow.Mean, g.Figures.Rate, g.Coverage)
	}
}

// A count that could not be read for a moment takes no evidence away; one that
// is another afterwards does.
func TestACountNotKnownForAMomentForgetsNothing(t *testing.T) {
	p := DefaultPolicy()
	s := newStage()
	s.queue.Auto = false
	_ = s.do([]string{"run", "10m", "crowd=16"})
	blind := func() {
		s.now = s.now.Add(time.Second)
		r := s.reading()
		r.Shards = 0
		s.track.Observe(p, r)
	}
	blind()
	if g := s.track.Signal(p); g.Shards != 0 {
		t.Errorf("the count is not known, and the signal says %d", g.Shards)
	}
	_ = s.do([]string{"run", "1s"})
	if g := s.track.Signal(p); g.Shards != 1 || g.Age < 10*time.Minute || g.Grow.Mean.Or(0) < 0.9 {
		t.Errorf("after a second without a count: %d shards, age %v, share %v", g.Shards, g.Age, g.Grow.Mean)
	}
	blind()
	s.shards = 4
	_ = s.do([]string{"run", "1s"})
	if g := s.track.Signal(p); g.Shards != 4 || g.Age > time.Second {
		t.Errorf("the count changed meanwhile: %d shards, age %v", g.Shards, g.Age)
	}
}

func TestAbsentStaysAbsent(t *testing.T) {
	p := DefaultPolicy()
	tr := NewTrack(p)
	if g := tr.Signal(p); !g.At.IsZero() || g.Waiters.OK() || g.Coverage.OK() || g.Grow.Mean.OK() {
		t.Errorf("nothing was read, and the signal says %+v", g)
	}
	for i := range 300 {
		tr.Observe(p, Reading{At: epoch.Add(time.Duration(i) * time.Second), Queue: "q", Shards: 2, PeriodS: 1})
	}
	g := tr.Signal(p)
	for name, v := range map[string]Value{
		"rate": g.Rate, "inside": g.Inside, "share": g.Grow.Mean, "coverage": g.Coverage, "wait per enqueue": g.Figures.WaitPerS, "top lane": g.TopLane, "latency": g.Figures.LatencyS,
	} {
		if v.OK() {
			t.Errorf("%s was never measured, and is %v", name, v)
		}
	}
	if g.DrainedOK {
		t.Error("whether it is drained was never known")
	}
}

func TestMissingSamplesShowInTheCoverage(t *testing.T) {
	p := DefaultPolicy()
	for _, keep := range []float64{0.5, 0.8, 1} {
		s := newStage()
		s.load["cover"] = keep
		_ = s.do([]string{"run", "5m", "crowd=6"})
		if got := s.track.Signal(p).Coverage; !near(got, keep) {
			t.Errorf("%v of the samples are there, coverage says %v", keep, got)
		}
	}
}

func TestReadingsOutOfOrderAreIgnored(t *testing.T) {
	p := DefaultPolicy()
	tr := NewTrack(p)
	r := Reading{At: epoch, Queue: "q", Shards: 1, PeriodS: 1, Samples: 4, Expected: 4, WaitSum: 4, HoldSum: 4, Waiters: Some(1)}
	tr.Observe(p, r)
	r.At, r.WaitSum, r.Shards = epoch.Add(-time.Minute), 400, 7
	tr.Observe(p, r)
	if g := tr.Signal(p); g.Shards != 1 || g.Grow.Samples != 4 {
		t.Errorf("an older reading came through: %+v", g.Grow)
	}
}
