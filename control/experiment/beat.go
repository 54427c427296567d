package experiment

import (
	"shardpilot/control"
)

// beat is what four looks saw in one second of a crowd, and what was enqueued.
type beat struct {
	wait, hold float64 // Σw, Σh over the looks
	causes     [3]float64
	lanes      []laneBeat
	jobs       int
	shed       int
	// drained[n]: at the last look every lane from n on was empty and unlocked.
	drained []bool
	depth   int // ready jobs at the last look
	latency latencies

	// reading is all of the above as the probe would say it, without time,
	// queue, count, causes and windows.
	reading control.Reading
}

type laneBeat struct {
	wait, busy float64
	depth      int
	lag        float64
	enqueued   int // since the start
	before     int // the same at the end of the beat before
}

// The classes of what stands in front of waiters, as indices of causes.
const (
	behindLane = iota
	behindNotify
	behindStuck
)

// stuckAfter is for how long a transaction keeps a lane, in seconds, before it
// counts as stuck.
const stuckAfter = 2.0

func (b *beat) clear(lanes int) {
	before := b.lanes
	*b = beat{lanes: make([]laneBeat, lanes)}
	for i := range before {
		b.lanes[i].before, b.lanes[i].enqueued = before[i].enqueued, before[i].enqueued
	}
}

// sample looks at the lanes as the probe looks at pg_locks, and ends the beat
// with its fourth look.
func (c *crowd) sample() {
	b := &c.beat
	inNotify := map[int32]bool(nil)
	if c.notify.waiting.len() > 0 {
		inNotify = make(map[int32]bool, c.notify.waiting.len()+1)
		inNotify[c.notify.holder] = true
		for _, who := range c.notify.waiting.items[c.notify.waiting.head:] {
			inNotify[who] = true
		}
	}
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.holder == nobody {
			continue
		}
		w := float64(l.waiting.len())
		b.hold++
		b.wait += w
		b.lanes[i].wait += w
		b.lanes[i].busy++
		class := behindLane
		switch {
		case l.holder == stuckID || c.now-l.since >= stuckAfter:
			class = behindStuck
		case inNotify[l.holder]:
			class = behindNotify
		}
		b.causes[class] += w
	}
	if c.taken++; c.taken == perBeat {
		c.endBeat()
	}
}

func (c *crowd) endBeat() {
	b := &c.beat
	b.drained = make([]bool, len(c.lanes))
	above := true
	for i := len(c.lanes) - 1; i >= 0; i-- {
		l, lb := &c.lanes[i], &b.lanes[i]
		lb.depth, lb.enqueued = l.ready.len(), l.enqueued
		if lb.depth > 0 {
			lb.lag = c.now - l.ready.items[l.ready.head]
		}
		above = above && lb.depth == 0 && l.holder == nobody
		b.drained[i] = above
		b.depth += lb.depth
		b.jobs += lb.enqueued - lb.before
	}
	b.shed, c.shed = c.shed, 0
	b.latency.buckets = b.latency.pack()
	if c.sink != nil {
		c.sink(*b)
	}
	c.taken = 0
	b.clear(len(c.lanes))
}

// say turns the sums into the reading of one second of a queue.
func (b *beat) say(load Load) {
	r := control.Reading{
		PeriodS: 1, Samples: perBeat, Expected: perBeat, WaitSum: b.wait, HoldSum: b.hold,
		Waiters: control.Some(b.wait / perBeat), Holders: control.Some(b.hold / perBeat),
		Inside: control.Some((b.wait + b.hold) / perBeat), EnqueueRate: control.Some(float64(b.jobs)),
		Depth: control.Some(float64(b.depth)), HighestShard: len(b.lanes), Drained: b.drained,
		Producers: control.Some(float64(load.Sessions)),
	}
	worst := 0.0
	r.Lanes = make([]control.LaneReading, len(b.lanes))
	for i, l := range b.lanes {
		worst = max(worst, l.lag)
		r.Lanes[i] = control.LaneReading{
			Priority: 2, Shard: i, Waiters: control.Some(l.wait / perBeat), Busy: control.Some(l.busy / perBeat),
			Depth: control.Some(float64(l.depth)), LagS: control.Some(l.lag), Rate: control.Some(float64(l.enqueued - l.before)),
		}
	}
	r.LagS = control.Some(worst)
	b.reading = r
}
