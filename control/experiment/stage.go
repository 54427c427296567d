package experiment

import (
	"math/rand/v2"
	"time"

	"shardpilot/control"
)

// queueName is the queue of every simulation.
const queueName = "orders"

// epoch is when every simulation begins.
var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// source gives the next second of a load at a count.
type source interface {
	next(load Load, shards int) *beat
}

// stage is one queue on a server: load in, readings out.
type stage struct {
	shape   Shape
	source  source
	rng     *rand.Rand
	seconds float64 // since the start
	shards  int
	highest int
	every   int // seconds a reading

	u      float64 // drawn for each block
	cached int     // count that caching sessions go by
	trail  [trailBeats]trace
	recent trace // the sum of the trail

	jobs    int // of the newest reading
	shed    int
	latency []*latencies
	lanes   []control.LaneReading
}

// trailBeats is the window behind the causes and the share of a reading, in
// seconds: that of growing, as the probe takes it.
const trailBeats = 120

// trace is what is kept of a second for as long as the window lasts.
type trace struct {
	causes           [3]float64
	wait, hold, jobs float64
}

func (t *trace) add(o *trace, sign float64) {
	for i := range t.causes {
		t.causes[i] += sign * o.causes[i]
	}
	t.wait += sign * o.wait
	t.hold += sign * o.hold
	t.jobs += sign * o.jobs
}

func newStage(shape Shape, src source, seed uint64, shards, every int) *stage {
	return &stage{
		shape: shape, source: src, rng: rand.New(rand.NewPCG(seed, 0x57a6e)), every: every,
		shards: shards, highest: shards, cached: shards,
	}
}

func (s *stage) now() time.Time { return epoch.Add(time.Duration(s.seconds * float64(time.Second))) }

func (s *stage) set(shards int) {
	s.shards = shards
	s.highest = max(s.highest, shards)
}

// second plays one second.
func (s *stage) second() *beat {
	if int(s.seconds)%blockBeats == 0 {
		s.u = s.rng.Float64()
	}
	if s.shape.Cached > 0 && s.shape.Restart > 0 && int(s.seconds)%int(s.shape.Restart) == 0 {
		s.cached = s.shards
	}
	load := s.shape.At(s.seconds, s.u)
	if s.shape.Cached > 0 && s.cached != s.shards {
		load.Cached, load.CachedShards = s.shape.Cached, s.cached
	}
	b := s.source.next(load, s.shards)
	old := &s.trail[int(s.seconds)%trailBeats]
	s.recent.add(old, -1)
	*old = trace{causes: b.causes, wait: b.wait, hold: b.hold, jobs: float64(b.jobs)}
	s.recent.add(old, 1)
	s.seconds++
	s.jobs += b.jobs
	s.shed += b.shed
	s.latency = append(s.latency, &b.latency)
	return b
}

// read plays on to the next reading.
func (s *stage) read() control.Reading {
	s.jobs, s.shed, s.latency = 0, 0, s.latency[:0]
	b := s.second()
	r := b.reading
	if s.every > 1 {
		r = s.merge(b)
	}
	r.At, r.Queue, r.Shards = s.now(), queueName, s.shards
	r.HighestShard = max(r.HighestShard, s.highest)
	r.WindowS = trailBeats
	r.Applied = r.Producers
	if s.shape.Cached > 0 && s.cached != s.shards {
		r.Stale = s.shape.Cached
		r.Applied = control.Some(r.Producers.Or(0) - float64(r.Stale))
	}
	s.why(&r)
	return r
}

// merge makes one reading of so many seconds.
func (s *stage) merge(b *beat) control.Reading {
	s.lanes = append(s.lanes[:0], b.reading.Lanes...)
	r := b.reading
	for range s.every - 1 {
		b = s.second()
		r.Samples += perBeat
		r.Expected += perBeat
		r.WaitSum += b.wait
		r.HoldSum += b.hold
		for len(s.lanes) < len(b.reading.Lanes) {
			s.lanes = append(s.lanes, control.LaneReading{Priority: 2, Shard: len(s.lanes), Waiters: control.Some(0), Busy: control.Some(0), Rate: control.Some(0)})
		}
		for i := range b.reading.Lanes {
			to, from := &s.lanes[i], &b.reading.Lanes[i]
			to.Waiters = control.Some(to.Waiters.Or(0) + from.Waiters.Or(0))
			to.Busy = control.Some(to.Busy.Or(0) + from.Busy.Or(0))
			to.Rate = control.Some(to.Rate.Or(0) + from.Rate.Or(0))
			to.Depth, to.LagS = from.Depth, from.LagS
		}
		r.Depth, r.LagS, r.Drained, r.Producers = b.reading.Depth, b.reading.LagS, b.drained, b.reading.Producers
	}
	n := float64(s.every)
	for i := range s.lanes {
		l := &s.lanes[i]
		l.Waiters, l.Busy, l.Rate = control.Some(l.Waiters.Or(0)/n), control.Some(l.Busy.Or(0)/n), control.Some(l.Rate.Or(0)/n)
	}
	samples := float64(r.Samples)
	r.PeriodS, r.Lanes, r.HighestShard = n, s.lanes, len(s.lanes)
	r.Waiters, r.Holders = control.Some(r.WaitSum/samples), control.Some(r.HoldSum/samples)
	r.Inside = control.Some((r.WaitSum + r.HoldSum) / samples)
	r.EnqueueRate = control.Some(float64(s.jobs) / n)
	return r
}

// why fills in what takes the window. The interval of the share is left out:
// the controller makes its own, and nobody looks at these readings.
func (s *stage) why(r *control.Reading) {
	r.Share = control.Some(0)
	if all := s.recent.wait + s.recent.hold; all > 0 {
		r.Share = control.Some(s.recent.wait / all)
	}
	if s.recent.jobs > 0 {
		r.WaitPerEnqueueS = control.Some(s.recent.wait / perBeat / s.recent.jobs)
	}
	lane, notify, stuck := s.recent.causes[behindLane], s.recent.causes[behindNotify], s.recent.causes[behindStuck]
	all := lane + notify + stuck
	if all <= 0 {
		r.Bottleneck = control.BottleneckNone
		return
	}
	r.Causes = control.Causes{Lane: control.Some(lane / all), Notify: control.Some(notify / all), Stuck: control.Some(stuck / all), Unknown: control.Some(0)}
	switch max(lane, notify, stuck) {
	case lane:
		r.Bottleneck = control.BottleneckLane
	case notify:
		r.Bottleneck = control.BottleneckNotify
	default:
		r.Bottleneck = control.BottleneckStuck
	}
}

// fromTapes is the source of long runs.
type fromTapes struct {
	tapes  *Tapes
	player player
	key    tapeKey
	tape   *tape
}

func (f *fromTapes) next(load Load, shards int) *beat {
	if key := (tapeKey{load, shards}); f.tape == nil || key != f.key {
		f.key, f.tape = key, f.tapes.get(load, shards)
	}
	return f.player.next(f.tape)
}

// fromEvents plays every enqueue.
type fromEvents struct {
	machine Machine
	seed    uint64
	key     tapeKey
	crowd   *crowd
	newest  beat
}

func (f *fromEvents) next(load Load, shards int) *beat {
	if key := (tapeKey{load, shards}); f.crowd == nil || key != f.key {
		f.seed++
		f.key, f.crowd = key, newCrowd(f.machine, load, shards, f.seed)
		f.crowd.run(warmUp)
		f.crowd.sink = func(b beat) {
			b.say(load)
			f.newest = b
		}
	}
	f.crowd.run(f.crowd.now + 1)
	return &f.newest
}
