package probe

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// quoted is a role name fit for a statement that is shown.
func quoted(role string) string {
	if role == "" {
		return "<role>"
	}
	return pgx.Identifier{role}.Sanitize()
}

// snapshot adds up what was seen over period and clears it.
func (c Config) snapshot(s *state, now time.Time, period time.Duration) control.Snapshot {
	s.prune(now)
	server := now.Add(s.skew)
	if !s.queuesAt.IsZero() && now.Sub(s.queuesAt) > c.scaled(queuesStale, queuesEvery) {
		for _, q := range s.queues {
			q.shards = 0
		}
	}
	out := control.Snapshot{
		At: server, Database: s.database, Awa: s.awa, ClockSkew: s.skew,
		Readings:  make([]control.Reading, 0, len(s.queues)),
		Instances: slices.Clone(s.instances),
		Cost:      c.cost(s, period),
	}
	for _, q := range s.queues {
		out.Readings = append(out.Readings, c.reading(q, s.reports[q.name], now, server, period, s.planned(c.BaseHz)))
	}
	slices.SortFunc(out.Readings, func(a, b control.Reading) int { return cmp.Compare(a.Queue, b.Queue) })
	for _, p := range s.problems {
		out.Problems = append(out.Problems, p)
	}
	slices.SortFunc(out.Problems, func(a, b control.Problem) int { return cmp.Compare(a.Part, b.Part) })
	return out
}

func (c Config) cost(s *state, period time.Duration) control.Cost {
	m := &s.meter
	out := control.Cost{Statements: m.statements, SampleHz: s.hz, SlowedDown: s.late || s.slowed,
		LocksReadShare: control.Some(float64(m.read) / float64(m.looks)), // 0 looks make it absent
		Pace:           c.Pace, AimHz: c.BaseHz, AimShare: c.MaxCost}
	if period > 0 {
		m.share.over(m.busy.Seconds()/period.Seconds(), period.Seconds()/30)
	}
	out.BusyShare = m.share.v
	*m = meter{share: m.share, ours: m.ours}
	return out
}

// over is add for a share that stood for part of the smoothing time. It starts
// from nothing: connecting costs more than it will ever again.
func (a *average) over(x, part float64) { a.v += min(max(part, 0), 1) * (x - a.v) }

// planned is how many looks a second the sampler means to take: the base rate,
// or what its cost allows. Samples it leaves out on purpose are not missing.
func (s *state) planned(baseHz float64) float64 {
	if s.hz > 0 {
		return min(s.hz, baseHz)
	}
	return baseHz
}

func (c Config) reading(q *queue, reports []report, now, server time.Time, period time.Duration, hz float64) control.Reading {
	r := control.Reading{
		At: server, Queue: q.name, Shards: q.shards,
		PeriodS: max(period, 0).Seconds(), Samples: q.samples, WaitSum: q.wait, HoldSum: q.hold,
		Lanes: make([]control.LaneReading, 0, len(q.lanes)),
	}
	r.Expected = hz * r.PeriodS
	n := float64(q.samples) // 0 makes every mean absent
	r.Waiters, r.Holders = control.Some(q.wait/n), control.Some(q.hold/n)
	busy := 0.0
	depth, lag, rate := sum{}, sum{}, sum{}
	for _, l := range q.lanes {
		r.Lanes = append(r.Lanes, control.LaneReading{
			Priority: l.priority, Shard: l.shard,
			Waiters: control.Some(l.wait / n), Busy: control.Some(l.busy / n),
			Depth: l.depth, LagS: l.lag, Rate: l.rate, Holder: l.holder,
		})
		busy += l.busy
		depth.add(l.depth)
		lag.add(l.lag)
		rate.add(l.rate)
		r.HighestShard = max(r.HighestShard, l.shard+1)
	}
	r.Inside = control.Some((q.wait + busy) / n)
	r.Depth, r.LagS, r.EnqueueRate = depth.total(), lag.worst(), rate.total()
	r.Drained = q.drained(r.HighestShard, now)
	c.overWindow(q, &r, now, server)
	r.Holder = q.culprit(r.Bottleneck)
	r.Drain = control.DrainOf(r, q.levels, c.scaled(leastDrain, leastTick))
	r.ProducerList = q.producers(reports, now, c.scaled(groupsWindow, c.window()))
	countApplied(&r)
	q.clearPeriod()
	return r
}

// sum adds up values; one absent value makes the whole absent.
type sum struct {
	all, most float64
	n, absent int
}

func (s *sum) add(v control.Value) {
	x, ok := v.Get()
	if !ok {
		s.absent++
		return
	}
	s.n++
	s.all += x
	s.most = max(s.most, x)
}

func (s *sum) total() control.Value {
	if s.n == 0 || s.absent > 0 {
		return control.None()
	}
	return control.Some(s.all)
}

func (s *sum) worst() control.Value {
	if s.n == 0 || s.absent > 0 {
		return control.None()
	}
	return control.Some(s.most)
}

// drained says for each n below highest whether all lanes from n on are empty,
// nil as soon as that is not known of one lane.
func (q *queue) drained(highest int, now time.Time) []bool {
	if highest == 0 {
		return nil
	}
	full := make([]bool, highest)
	for _, l := range q.lanes {
		empty, known := l.empty(now)
		if !known {
			return nil
		}
		full[l.shard] = full[l.shard] || !empty
	}
	out := make([]bool, highest)
	for n, above := highest-1, true; n >= 0; n-- {
		above = above && !full[n]
		out[n] = above
	}
	return out
}

// overWindow fills in what needs more than one period.
func (c Config) overWindow(q *queue, r *control.Reading, now, server time.Time) {
	span := c.window()
	q.trail = append(q.trail, moment{at: now, period: r.PeriodS, samples: q.samples, wait: q.wait, causes: q.causes, rate: r.EnqueueRate})
	old := 0
	for old < len(q.trail) && now.Sub(q.trail[old].at) >= span {
		old++
	}
	q.trail = slices.Delete(q.trail, 0, old)

	in := q.window.Share(server, span)
	r.Share, r.ShareLow, r.ShareHigh = in.Mean, in.Low, in.High
	r.WindowS = in.SpanS

	var why causes
	var samples, wait, waited, enqueued float64
	for _, m := range q.trail {
		why.add(m.causes)
		samples += float64(m.samples)
		wait += m.wait
		if rate, ok := m.rate.Get(); ok && m.samples > 0 {
			waited += m.wait / float64(m.samples) * m.period
			enqueued += rate * m.period
		}
	}
	r.Causes = why.shares()
	r.Bottleneck = why.bottleneck(control.Some(wait / samples))
	if enqueued > 0 {
		r.WaitPerEnqueueS = control.Some(waited / enqueued)
	}
}

// countApplied fills in the n of m.
func countApplied(r *control.Reading) {
	on := 0
	for _, p := range r.ProducerList {
		switch p.State {
		case control.AppliedOn:
			on++
		case control.AppliedStale:
			r.Stale++
		case control.AppliedUnknown:
		}
	}
	if len(r.ProducerList) == 0 {
		return
	}
	r.Producers = control.Some(float64(len(r.ProducerList)))
	if r.Shards > 0 { // on a count that nobody knows there is not none of them
		r.Applied = control.Some(float64(on))
	}
}
