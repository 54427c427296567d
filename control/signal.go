package control

import (
	"math"
	"time"
)

// Signal is what a Track amounts to at one moment: every number the rules
// look at, and nothing else. All of it is at the time of the newest reading.
type Signal struct {
	At      time.Time     // server clock, end of the newest reading; zero when there is none
	Shards  int           // configured count, 0 when unknown
	Period  time.Duration // of the newest reading
	Age     time.Duration // how far back the windows reach, since the count changed at most
	Highest int           // lanes that exist, at least Shards

	Coverage Value // samples there are of those there should be over GrowWindow, 0..1

	Grow        Interval // over GrowWindow
	Thirds      [3]Value // its thirds, oldest first
	Waiters     Value    // sessions, over GrowWindow
	Inside      Value    // sessions, over GrowWindow
	Fast        Interval // over FastWindow; its ends only where the mean is above FastShare
	FastWaiters Value
	FastInside  Value
	Causes      Causes // of the newest reading, over its own window
	TopLane     Value  // share of the waits in the worst lane
	Stale       int    // producers proven not to work with the configured count
	Applied     Value
	Producers   Value

	// Calm is over ShrinkWindow; only with two shards or more, and its ends only
	// where the mean is below ShrinkShare.
	Calm Interval
	// CalmCoverage is Coverage over ShrinkWindow.
	CalmCoverage Value
	WorstSlice   Value // highest share of a slice of it
	Rate         Value // jobs/s over ShrinkWindow
	RateOfLate   Value // jobs/s over its newest slice or GrowWindow, whichever is lower
	Busy         Value // lanes' worth of holding sessions: the larger of both
	// Drained is whether every lane at or above half the count is empty and
	// unlocked; DrainedOK is whether that is known.
	Drained, DrainedOK bool

	Figures Figures       // over VerifyWindow
	Parts   [3]Figures    // its thirds, oldest first: rate and latency only
	Figured time.Duration // of VerifyWindow, as much as was read
	Depth   Value         // ready jobs
}

// Signal measures the track under a policy.
func (t *Track) Signal(p Policy) Signal {
	r := &t.newest
	s := Signal{
		At: r.At, Shards: r.Shards, Age: t.age(), Highest: max(r.HighestShard, r.Shards),
		Period: time.Duration(r.PeriodS * float64(time.Second)),
		Causes: r.Causes, Stale: r.Stale, Applied: r.Applied, Producers: r.Producers, Depth: r.Depth,
		TopLane: t.topLane(),
	}
	if r.At.IsZero() {
		return s
	}
	s.Grow = t.window.Share(r.At, p.GrowWindow)
	third := p.GrowWindow / 3
	for i := range s.Thirds {
		if v, ok := s.Grow.Mean.Get(); ok && v == 0 && s.Age >= p.GrowWindow {
			s.Thirds[i] = s.Grow.Mean // nobody waited in any of them
			continue
		}
		s.Thirds[i] = t.window.mean(r.At.Add(-time.Duration(2-i)*third), third)
	}
	s.Coverage = t.coverage(p.GrowWindow, s.Grow.Samples)
	grow := t.over(p.GrowWindow)
	s.Waiters, s.Inside = grow.waiters(), grow.inside()
	fast := t.over(p.FastWindow)
	s.FastWaiters, s.FastInside = fast.waiters(), fast.inside()
	s.Fast = Interval{Mean: t.window.mean(r.At, p.FastWindow)}
	if s.Fast.Mean.Or(0) > p.FastShare { // or its lower end is not above it either
		s.Fast = t.window.Share(r.At, p.FastWindow)
	}
	s.Figures, s.Parts, s.Figured = t.figures(p)
	if r.Shards > 1 {
		t.calm(p, &s)
	}
	return s
}

// coverage is how many samples there are over a span of those there should be
// at the base rate, since the windows began at most.
func (t *Track) coverage(span time.Duration, samples int) Value {
	r := &t.newest
	from := t.window.began(r.At, span)
	if t.since.After(from) {
		from = t.since
	}
	should := r.At.Sub(from).Seconds() * r.Expected / r.PeriodS
	if !(should > 0) {
		return None()
	}
	return Some(min(float64(samples)/should, 1))
}

func (t *Track) calm(p Policy, s *Signal) {
	at := t.newest.At
	var buf [coarseSlots]cell
	s.Calm, _ = t.window.glance(at, p.ShrinkWindow, buf[:0])
	if s.Calm.Mean.Or(0) < p.ShrinkShare { // or its upper end is not below it either
		s.Calm = t.window.Share(at, p.ShrinkWindow)
	}
	s.CalmCoverage = t.coverage(p.ShrinkWindow, s.Calm.Samples)
	slices := int((p.ShrinkWindow + p.ShrinkSlice - 1) / p.ShrinkSlice)
	if v, ok := s.Calm.Mean.Get(); ok && v == 0 {
		s.WorstSlice, slices = s.Calm.Mean, 0
	}
	for i := range min(slices, 64) {
		share := t.window.mean(at.Add(-time.Duration(i)*p.ShrinkSlice), p.ShrinkSlice)
		if v, ok := share.Get(); ok && v >= s.WorstSlice.Or(0) {
			s.WorstSlice = share
		}
	}
	long, slice := t.over(p.ShrinkWindow), t.over(p.ShrinkSlice)
	s.Rate, s.RateOfLate = long.rate(), slice.rate()
	if late, ok := t.over(p.GrowWindow).rate().Get(); ok && late < s.RateOfLate.Or(0) {
		s.RateOfLate = Some(late)
	}
	if long.seenT > 0 && slice.seenT > 0 {
		s.Busy = Some(float64(max(long.busyS/long.seenT, slice.busyS/slice.seenT)))
	}
	s.Drained, s.DrainedOK = t.newest.DrainedAbove(s.Shards / 2)
}

// A mean that is known for less than half the time is not known.
func (t tally) waiters() Value {
	if t.seenT == 0 || t.seenT < t.seconds/2 {
		return None()
	}
	return Some(float64(t.waitS / t.seenT))
}

func (t tally) inside() Value {
	if t.insideT == 0 || t.insideT < t.seconds/2 {
		return None()
	}
	return Some(float64(t.insideS / t.insideT))
}

func (t tally) rate() Value {
	if t.rateT == 0 || t.rateT < t.seconds/2 {
		return None()
	}
	return Some(float64(t.jobs / t.rateT))
}

// figures are what a verification compares, over VerifyWindow and its thirds,
// and how much of it was read.
func (t *Track) figures(p Policy) (f Figures, parts [3]Figures, read time.Duration) {
	sum := t.over(p.VerifyWindow)
	read = time.Duration(float64(sum.seconds) * float64(time.Second))
	f = Figures{Rate: sum.rate(), Waiters: sum.waiters(), LatencyS: sum.latency(), Producers: t.newest.Producers}
	if sum.jobs > 0 && f.Rate.OK() {
		f.WaitPerS = Some(float64(sum.waitS / sum.jobs))
	}
	if t.fine.cells == nil {
		f.RateErr = Some(0)
		return f, parts, read
	}
	var e deviations
	var third tally
	last, n := slotOf(t.newest.At, t.fine.step), max(int64((p.VerifyWindow+t.fine.step/2)/t.fine.step), 1)
	if n < 3 {
		parts = [3]Figures{f, f, f} // too short to tell its thirds apart
	}
	for i := range n {
		c := t.fine.get(last - n + 1 + i)
		e.add(&c, f.LatencyS.Or(0))
		third.add(c)
		if at := 3 * i / n; n >= 3 && 3*(i+1)/n > at {
			parts[at] = Figures{Rate: third.rate(), LatencyS: third.latency()}
			third = tally{}
		}
	}
	f.RateErr, f.LatencyErr = e.of(f.LatencyS)
	return f, parts, read
}

// latency is what an enqueue spends waiting and holding, by Little's law.
func (t *tally) latency() Value {
	rate, ok1 := t.rate().Get()
	inside, ok2 := t.inside().Get()
	if !ok1 || !ok2 || rate == 0 {
		return None()
	}
	return Some(inside / rate)
}

// deviations are the standard errors of the enqueue rate, a mean of batches, and of
// the latency, a ratio of sums over them: N is seen in samples, and where few
// sessions come and go a window of them tells it within a third or so.
type deviations struct {
	n, total, squares  float64
	m, jobs, residuals float64
}

func (e *deviations) add(c *tally, latency float64) {
	if rate, ok := c.rate().Get(); ok {
		e.n++
		e.total += rate
		e.squares += rate * rate
	}
	if c.inside().OK() {
		e.m++
		e.jobs += float64(c.jobs)
		residual := float64(c.insideS) - latency*float64(c.jobs)
		e.residuals += residual * residual
	}
}

func (e *deviations) of(latency Value) (rateErr, latencyErr Value) {
	if e.n >= 3 {
		mean := e.total / e.n
		rateErr = Some(math.Sqrt(max(e.squares/e.n-mean*mean, 0) / (e.n - 1)))
	}
	if e.m >= 3 && e.jobs > 0 && latency.OK() {
		latencyErr = Some(math.Sqrt(e.residuals*e.m/(e.m-1)) / e.jobs)
	}
	return rateErr, latencyErr
}

// evidence is the signal as a decision carries it.
func (s Signal) evidence(fast bool, gain Value) Evidence {
	iv, waiters, inside := s.Grow, s.Waiters, s.Inside
	if fast {
		iv, waiters, inside = s.Fast, s.FastWaiters, s.FastInside
	}
	return Evidence{
		Share: iv.Mean, ShareLow: iv.Low, ShareHigh: iv.High, WindowS: iv.SpanS,
		Waiters: waiters, Inside: inside, EnqueueRate: s.Figures.Rate, WaitPerEnqS: s.Figures.WaitPerS,
		Depth: s.Depth, Causes: s.Causes, TopLaneShare: s.TopLane,
		Applied: s.Applied, Producers: s.Producers, PredictedGain: gain,
	}
}
