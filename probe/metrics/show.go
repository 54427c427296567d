package metrics

import (
	"cmp"
	"slices"

	"shardpilot/control"
)

// showQueues adds what is by queue, in the order of names.
func (m *Metrics) showQueues(p *page, measured, decided bool) {
	var others rest
	own := make([]*queue, 0, m.opts.TopQueues)
	for _, q := range m.queues {
		switch {
		case !q.there():
		case q.own:
			own = append(own, q)
		default:
			others.add(q)
		}
	}
	slices.SortFunc(own, func(a, b *queue) int { return cmp.Compare(a.name, b.name) })
	p.list = slices.Grow(p.list, len(own)*45)
	for _, q := range own {
		p.put(laneLockWait, q.waitS, q.label)
		p.put(enqueued, q.jobs, q.label)
		p.when(lastChange, q.changed, q.label)
		if !q.verified.IsZero() {
			p.when(lastVerdict, q.verified, q.label, text(string(q.verdict)))
			p.value(lastGain, q.gain, q.label)
			p.value(lastPredicted, q.gainHadBeen, q.label)
		}
		if measured && q.reading != nil {
			p.reading(q.label, q.reading)
		}
		if decided && q.decision != nil {
			p.decision(q.label, q.decision)
		}
	}
	if measured {
		p.put(queuesSummed, float64(others.n))
	}
	if m.summing {
		p.put(laneLockWait, m.others.waitS, Others)
		p.put(enqueued, m.others.jobs, Others)
	}
	if others.n > 0 {
		others.show(p, measured, decided)
	}
}

func (p *page) reading(q string, r *control.Reading) {
	p.value(laneWaiters, r.Waiters, q)
	p.value(laneHolders, r.Holders, q)
	p.value(laneSessions, r.Inside, q)
	p.value(waitShare, r.Share, q)
	p.value(waitShareLow, r.ShareLow, q)
	p.value(waitShareHigh, r.ShareHigh, q)
	p.value(waitCause, r.Causes.Lane, q, string(control.BottleneckLane))
	p.value(waitCause, r.Causes.Notify, q, string(control.BottleneckNotify))
	p.value(waitCause, r.Causes.Stuck, q, string(control.BottleneckStuck))
	p.value(waitCause, r.Causes.Unknown, q, string(control.BottleneckUnknown))
	p.value(waitPerJob, r.WaitPerEnqueueS, q)
	p.value(enqueueRate, r.EnqueueRate, q)
	p.value(depth, r.Depth, q)
	p.value(lag, r.LagS, q)
	if r.Shards > 0 {
		p.put(configuredShards, float64(r.Shards), q)
		if empty, known := r.DrainedAbove(r.Shards); known {
			p.is(drained, empty, q)
		}
	}
	if d := r.Drain; d != nil {
		p.value(upperJobs, d.Jobs, q)
		p.value(upperLeft, d.LeftS, q)
	}
	if r.HighestShard > 0 {
		p.put(laneShards, float64(r.HighestShard), q)
	}
	p.value(producers, r.Producers, q)
	p.value(producersOn, r.Applied, q)
	if r.Producers.OK() {
		p.put(producersStale, float64(r.Stale), q)
	}
}

func (p *page) decision(q string, d *control.Decision) {
	p.put(queueMode, 1, q, string(modeWord(d.Mode)))
	p.put(queueDecision, 1, q, string(actionWord(d.Action)), string(reasonWord(d.Reason)))
	gain, target := d.PredictedGain, d.To
	steps := 0.0
	if d.Step != nil {
		steps, target = 1, d.Step.To
		if !gain.OK() {
			gain = d.Step.PredictedGain
		}
		p.put(pendingAge, max(d.At.Sub(d.Step.At).Seconds(), 0), q)
	}
	p.put(pendingSteps, steps, q)
	p.value(predictedGain, gain, q)
	if target > 0 {
		p.put(targetShards, float64(target), q)
	}
	if d.Policy.Auto {
		p.put(maxShards, float64(d.Policy.Max), q)
	}
	holds := d.Policy.Pin.Holds(d.At)
	p.is(pinned, holds, q)
	if holds {
		p.put(pinShards, float64(d.Policy.Pin.Shards), q)
	}
}

// rest sums up the queues without series of their own, as far as known.
type rest struct {
	n                                      int
	steps                                  float64
	waiters, holders, inside, rate, depths control.Value
}

func (s *rest) add(q *queue) {
	s.n++
	if q.decision != nil && q.decision.Step != nil {
		s.steps++
	}
	if r := q.reading; r != nil {
		s.waiters = plus(s.waiters, r.Waiters)
		s.holders = plus(s.holders, r.Holders)
		s.inside = plus(s.inside, r.Inside)
		s.rate = plus(s.rate, r.EnqueueRate)
		s.depths = plus(s.depths, r.Depth)
	}
}

func plus(a, b control.Value) control.Value {
	if !b.OK() {
		return a
	}
	return control.Some(a.Or(0) + b.Or(0))
}

func (s *rest) show(p *page, measured, decided bool) {
	if decided {
		p.put(pendingSteps, s.steps, Others)
	}
	if !measured {
		return
	}
	p.value(laneWaiters, s.waiters, Others)
	p.value(laneHolders, s.holders, Others)
	p.value(laneSessions, s.inside, Others)
	p.value(enqueueRate, s.rate, Others)
	p.value(depth, s.depths, Others)
}
