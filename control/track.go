package control

import "time"

// Track keeps what was measured of one queue, bounded in memory: the rolling
// windows behind the wait share and the sums behind every other mean. It is
// the measuring half of what a queue remembers; the deciding half is State.
//
// Whenever the configured count changes the windows start anew: what was seen
// at two shards is no evidence about four. A Track is not safe for concurrent
// use.
type Track struct {
	window       *Window
	fine, coarse ring[tally] // nil cells as long as the queue is idle
	moved        time.Time   // newest reading with anything in it
	since        time.Time   // start of the oldest reading in the windows
	newest       Reading     // without its lists
	count        int         // configured, as it was last known; 0 before
	lanes        []laneWait
}

// tally is what one batch of readings summed up to.
type tally struct {
	seconds float32 // measured
	seenT   float32 // seconds in which waiters and holders are known
	waitS   float32 // session-seconds waiting
	insideS float32 // session-seconds waiting or holding
	insideT float32 // seconds in which the sessions inside are known
	busyS   float32 // lane-seconds held
	jobs    float32 // enqueued
	rateT   float32 // seconds in which the enqueue rate is known
}

func (t *tally) add(o tally) {
	t.seconds += o.seconds
	t.seenT += o.seenT
	t.waitS += o.waitS
	t.insideS += o.insideS
	t.insideT += o.insideT
	t.busyS += o.busyS
	t.jobs += o.jobs
	t.rateT += o.rateT
}

// laneWait is the waiting at one lane, fading with age.
type laneWait struct {
	priority, shard int
	waitS           float64
}

const (
	trackFine   = 64
	trackCoarse = 32
)

// NewTrack makes an empty track with windows as long as p asks for.
func NewTrack(p Policy) *Track {
	t := &Track{window: NewWindow(p.ShrinkWindow, p.Batch)}
	t.fine.step = max(p.Batch, (p.GrowWindow+trackFine-5)/(trackFine-4))
	t.coarse.step = max(t.fine.step, (p.ShrinkWindow+trackCoarse-3)/(trackCoarse-2))
	return t
}

// longestPeriod is the length of a reading beyond which it is not believed.
const longestPeriod = 10 * time.Minute

// Reset forgets everything but the configured count, as after a step of the
// clock.
func (t *Track) Reset() {
	t.window.Reset()
	t.fine.cells, t.coarse.cells = nil, nil
	t.since, t.moved = time.Time{}, time.Time{}
	t.lanes = t.lanes[:0]
	t.newest = Reading{Shards: t.newest.Shards}
}

// Observe adds a reading. One that is not newer than the newest is ignored.
func (t *Track) Observe(p Policy, r Reading) {
	if !r.At.After(t.newest.At) {
		return
	}
	if r.Shards != 0 { // not known for a moment is not changed
		if t.count != 0 && r.Shards != t.count {
			t.Reset()
		}
		t.count = r.Shards
	}
	if !(r.PeriodS >= 0 && r.PeriodS <= longestPeriod.Seconds()) {
		r.PeriodS = 0 // no length at all: its samples count, its means weigh nothing
	}
	period := time.Duration(r.PeriodS * float64(time.Second))
	if t.since.IsZero() {
		t.since = r.At.Add(-period)
	}
	t.window.Add(r.At, r.WaitSum, r.HoldSum, r.Samples)
	t.tally(p, r)
	t.fade(p, r)
	t.newest = r
	t.newest.Lanes, t.newest.ProducerList, t.newest.Holder = nil, nil, nil
}

func (t *Track) tally(p Policy, r Reading) {
	c := tally{seconds: float32(r.PeriodS)}
	if waiters, ok := r.Waiters.Get(); ok {
		c.waitS, c.seenT = float32(waiters*r.PeriodS), c.seconds
	}
	if inside, ok := r.Inside.Get(); ok {
		c.insideS, c.insideT = float32(inside*r.PeriodS), c.seconds
	}
	for _, l := range r.Lanes {
		c.busyS += float32(l.Busy.Or(0) * r.PeriodS)
	}
	if len(r.Lanes) == 0 {
		c.busyS = float32(r.Holders.Or(0) * r.PeriodS)
	}
	if rate, ok := r.EnqueueRate.Get(); ok {
		c.jobs, c.rateT = float32(rate*r.PeriodS), c.seconds
	}
	still := c.waitS == 0 && c.insideS == 0 && c.busyS == 0 && c.jobs == 0 && c.rateT > 0
	if !still {
		t.moved = r.At
	}
	if t.fine.cells == nil {
		if still {
			return
		}
		t.open(r.At)
	} else if still && r.At.Sub(t.moved) > p.ShrinkWindow+2*t.coarse.step {
		t.fine.cells, t.coarse.cells = nil, nil
		return
	}
	for _, ring := range [...]*ring[tally]{&t.fine, &t.coarse} {
		if slot := ring.at(slotOf(r.At, ring.step)); slot != nil {
			slot.add(c)
		}
	}
}

// open allocates the rings. What came before was idle: time in which nothing
// was enqueued and nobody stood anywhere.
func (t *Track) open(at time.Time) {
	t.fine.cells, t.coarse.cells = make([]tally, trackFine), make([]tally, trackCoarse)
	for _, r := range [...]*ring[tally]{&t.fine, &t.coarse} {
		r.head = slotOf(at, r.step)
		for i := r.head - int64(len(r.cells)) + 1; i < r.head; i++ {
			if time.Unix(0, i*int64(r.step)).After(t.since) {
				s := float32(r.step.Seconds())
				*r.place(i) = tally{seconds: s, seenT: s, rateT: s, insideT: s}
			}
		}
	}
}

// fade keeps the waits of each lane with a memory of about the growth window,
// at most one entry a lane.
func (t *Track) fade(p Policy, r Reading) {
	keep := 1 - min(r.PeriodS/max(p.GrowWindow.Seconds()/2, r.PeriodS, 1e-9), 1)
	n := 0
	for _, l := range t.lanes {
		if l.waitS *= keep; l.waitS > 1e-4 {
			t.lanes[n] = l
			n++
		}
	}
	t.lanes = t.lanes[:n]
next:
	for _, l := range r.Lanes {
		w := l.Waiters.Or(0) * r.PeriodS
		if w <= 0 {
			continue
		}
		for i := range t.lanes {
			if t.lanes[i].priority == l.Priority && t.lanes[i].shard == l.Shard {
				t.lanes[i].waitS += w
				continue next
			}
		}
		t.lanes = append(t.lanes, laneWait{l.Priority, l.Shard, w})
	}
}

// topLane is the share of the waits in the worst lane, absent without waits.
func (t *Track) topLane() Value {
	var sum, top float64
	for _, l := range t.lanes {
		sum += l.waitS
		top = max(top, l.waitS)
	}
	if sum == 0 {
		return None()
	}
	return Some(top / sum)
}

// over sums the batches of the span that ends at the newest reading. An idle
// queue has measured time and nothing in it.
func (t *Track) over(span time.Duration) tally {
	if t.fine.cells == nil {
		s := float32(min(span, t.age()).Seconds())
		return tally{seconds: s, seenT: s, rateT: s, insideT: s}
	}
	var sum tally
	r := &t.fine
	if span > trackFine*r.step {
		r = &t.coarse
	}
	last := slotOf(t.newest.At, r.step)
	older, newer, _ := r.between(last-max(int64((span+r.step/2)/r.step), 1)+1, last)
	for i := range older {
		sum.add(older[i])
	}
	for i := range newer {
		sum.add(newer[i])
	}
	return sum
}

func (t *Track) age() time.Duration {
	if t.since.IsZero() {
		return 0
	}
	return t.newest.At.Sub(t.since)
}
