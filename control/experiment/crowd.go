package experiment

import (
	"math"
	"math/rand/v2"
	"time"
)

// what is the next thing to happen to a session or a worker.
type what uint8

const (
	arrives     what = iota // its next job is there
	outsideDone             // it reaches for its lane
	granted                 // it woke up with the lane
	insideDone              // the row is in
	workDone                // the work inside the transaction is done
	notified                // it woke up with NOTIFY
	commitDone              // the commit record is written
	flushed                 // and on disk: everything is released
	workerLooks             // a worker claims
)

const (
	nobody  = int32(-1)
	stuckID = int32(-2) // the transaction that keeps lane 0
)

type session struct {
	lane    int
	arrived float64 // when the present job arrived
	next    float64 // open loop: when the next one does
}

type simLane struct {
	holder   int32
	since    float64
	waiting  line[int32]
	ready    line[float64] // when each job that no worker has claimed was committed
	enqueued int
}

// crowd is the event-level simulation of one load on one queue with a fixed
// count.
type crowd struct {
	m      Machine
	load   Load
	shards int
	rng    *rand.Rand
	zipf   *rand.Zipf

	now      float64
	timers   dueHeap
	cpu      dueHeap // by CPU had
	had      float64 // CPU that each running task has had, in seconds
	hadAt    float64
	sessions []session
	lanes    []simLane
	notify   struct {
		holder  int32
		waiting line[int32]
	}
	idle     []int32 // workers that found nothing
	shed     int
	enqueued int

	sampleAt float64
	taken    int // samples in the present beat
	beat     beat
	sink     func(beat) // nil to only run

	scatter []float64 // factors to draw from, nil without Scatter
}

const (
	sampleEvery = 0.25 // s, as the probe looks
	perBeat     = 4
	warmUp      = 5.0 // s before a crowd is measured
)

func newCrowd(m Machine, load Load, shards int, seed uint64) *crowd {
	slow := load.slow(shards)
	m, load.Hold = m.slowed(slow), time.Duration(float64(load.Hold)*slow)
	c := &crowd{m: m, load: load, shards: shards, rng: rand.New(rand.NewPCG(seed, 0x5a4d)), sampleAt: sampleEvery}
	c.scatter = lognormal(m.Scatter)
	if load.Keys > 0 && load.Zipf > 1 {
		c.zipf = rand.NewZipf(c.rng, load.Zipf, 1, uint64(load.Keys-1))
	}
	c.lanes = make([]simLane, load.lanesUsed(shards))
	for i := range c.lanes {
		c.lanes[i].holder = nobody
	}
	if load.Stuck {
		c.lanes[0].holder, c.lanes[0].since = stuckID, math.Inf(-1)
	}
	c.notify.holder = nobody
	c.sessions = make([]session, load.Sessions)
	for i := range c.sessions {
		at := c.rng.Float64() * 0.02
		if load.Rate > 0 {
			at = c.gap()
			c.sessions[i].next = at
		}
		c.timers.push(due{at, int32(i), arrives})
	}
	for i := range int32(workerSessions) {
		c.idle = append(c.idle, i)
	}
	c.beat.clear(len(c.lanes))
	return c
}

// run plays until the given time in seconds.
func (c *crowd) run(until float64) {
	for {
		at, fromCPU := math.Inf(1), false
		if len(c.timers) > 0 {
			at = c.timers[0].at
		}
		if len(c.cpu) > 0 {
			if done := c.hadAt + (c.cpu[0].at-c.had)/c.speed(); done < at {
				at, fromCPU = done, true
			}
		}
		if c.sampleAt <= at {
			if c.sampleAt > until {
				break
			}
			c.now = c.sampleAt
			c.sampleAt += sampleEvery
			c.sample()
			continue
		}
		if at > until {
			break
		}
		c.now = max(c.now, at)
		if fromCPU {
			c.turn()
			d := c.cpu.pop()
			c.happen(d.who, d.what)
		} else {
			d := c.timers.pop()
			c.happen(d.who, d.what)
		}
	}
	c.now = max(c.now, until)
}

// speed is how fast each running task gets on.
func (c *crowd) speed() float64 { return min(1, float64(c.m.Cores)/float64(len(c.cpu))) }

// turn brings the CPU's account up to now, before the number of tasks changes.
func (c *crowd) turn() {
	if len(c.cpu) > 0 {
		c.had += (c.now - c.hadAt) * c.speed()
	}
	c.hadAt = c.now
}

func (c *crowd) compute(who int32, seconds float64, then what) {
	c.turn()
	c.cpu.push(due{c.had + c.scattered(seconds), who, then})
}

func (c *crowd) after(who int32, seconds float64, then what) {
	c.timers.push(due{c.now + seconds, who, then})
}

func (c *crowd) scattered(mean float64) float64 {
	if c.scatter == nil {
		return mean
	}
	return mean * c.scatter[c.rng.Uint64()%scatterSteps]
}

// scatterSteps is how many factors stand for a distribution: drawing one of them
// is a fifth of the work of making a new one.
const scatterSteps = 4096

// lognormal are the middles of equally likely parts of a lognormal distribution
// of mean 1, nil when it does not scatter.
func lognormal(variation float64) []float64 {
	if variation == 0 {
		return nil
	}
	sigma := math.Sqrt(math.Log(1 + variation*variation))
	out, sum := make([]float64, scatterSteps), 0.0
	for i := range out {
		out[i] = math.Exp(sigma * math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/scatterSteps-1))
		sum += out[i]
	}
	for i := range out {
		out[i] *= scatterSteps / sum
	}
	return out
}

func (c *crowd) gap() float64 {
	return c.rng.ExpFloat64() * float64(c.load.Sessions) / c.load.Rate
}

func (c *crowd) hold() float64 {
	mean := c.load.Hold.Seconds()
	switch c.load.Kind {
	case HoldExponential:
		return mean * c.rng.ExpFloat64()
	case HoldLognormal:
		const cv = 1.5
		s := math.Sqrt(math.Log(1 + cv*cv))
		return mean * math.Exp(s*c.rng.NormFloat64()-s*s/2)
	}
	return mean
}

// happen moves one session, or worker, on.
func (c *crowd) happen(who int32, w what) {
	switch w {
	case arrives:
		c.sessions[who].arrived = c.now
		if c.load.Rate > 0 {
			c.sessions[who].arrived = c.sessions[who].next
		}
		c.compute(who, c.m.Outside.Seconds(), outsideDone)
	case outsideDone:
		c.reach(who)
	case granted:
		c.compute(who, c.m.Inside.Seconds(), insideDone)
	case insideDone:
		if c.load.Hold > 0 {
			c.after(who, c.hold()+c.m.Wake.Seconds(), workDone)
			return
		}
		c.commit(who)
	case workDone:
		c.commit(who)
	case notified:
		c.compute(who, c.m.Commit.Seconds(), commitDone)
	case commitDone:
		c.after(who, c.scattered(c.m.Flush.Seconds()), flushed)
	case flushed:
		c.release(who)
	case workerLooks:
		c.claim(who)
	}
}

// reach takes the lane of the session's next job, or stands in line for it.
func (c *crowd) reach(who int32) {
	n := c.pick(who)
	c.sessions[who].lane = n
	l := &c.lanes[n]
	if l.holder != nobody {
		l.waiting.put(who)
		return
	}
	l.holder, l.since = who, c.now
	c.happen(who, granted)
}

func (c *crowd) pick(who int32) int {
	shards := c.shards
	if int(who) < c.load.Cached {
		shards = c.load.CachedShards
	}
	if c.load.Keys == 0 {
		return int(who) % shards
	}
	var key uint64
	if c.zipf != nil {
		key = c.zipf.Uint64()
	} else {
		key = c.rng.Uint64N(uint64(c.load.Keys))
	}
	key = (key + 1) * 0x9e3779b97f4a7c15
	key = (key ^ key>>29) * 0xbf58476d1ce4e5b9
	return int((key ^ key>>32) % uint64(shards))
}

func (c *crowd) commit(who int32) {
	if !c.load.Quiet {
		if c.notify.holder != nobody {
			c.notify.waiting.put(who)
			return
		}
		c.notify.holder = who
	}
	c.happen(who, notified)
}

// release ends a transaction: NOTIFY and the lane go to whoever is next, the
// job is ready, and the session waits for its next one.
func (c *crowd) release(who int32) {
	if !c.load.Quiet {
		c.notify.holder = nobody
		if c.notify.waiting.len() > 0 {
			c.notify.holder = c.notify.waiting.take()
			c.after(c.notify.holder, c.m.Handoff.Seconds(), notified)
		}
	}
	s := &c.sessions[who]
	l := &c.lanes[s.lane]
	l.holder = nobody
	if l.waiting.len() > 0 {
		l.holder, l.since = l.waiting.take(), c.now
		c.after(l.holder, c.m.Handoff.Seconds(), granted)
	}
	l.ready.put(c.now)
	l.enqueued++
	c.enqueued++
	c.beat.latency.add(c.now - s.arrived)
	if n := len(c.idle); n > 0 {
		c.after(c.idle[n-1], c.rng.Float64()*workerPoll, workerLooks)
		c.idle = c.idle[:n-1]
	}
	c.again(who)
}

func (c *crowd) again(who int32) {
	if c.load.Rate == 0 {
		c.after(who, c.load.Think.Seconds(), arrives)
		return
	}
	s := &c.sessions[who]
	for s.next += c.gap(); c.now-s.next > tooLate; s.next += c.gap() {
		c.shed++
	}
	c.timers.push(due{max(s.next, c.now), who, arrives})
}

// claim lets a worker take what is ready, lane by lane, and come back when it
// is done with it.
func (c *crowd) claim(who int32) {
	n := 0
	for i := range c.lanes {
		for n < workerBatch && c.lanes[i].ready.len() > 0 {
			c.lanes[i].ready.take()
			n++
		}
	}
	if n == 0 {
		c.idle = append(c.idle, who)
		return
	}
	c.after(who, float64(n)*workerPerJob, workerLooks)
}
