package rehearsal

import (
	"math/rand/v2"
	"time"
)

// tooLate is how far an open loop may fall behind before it gives arrivals up:
// without an end to it, an overload would be felt long after it was over.
const tooLate = 5 * time.Second

// pace says when one session's next job arrives.
type pace struct {
	spec   Producers
	start  time.Time
	random *rand.Rand
	due    time.Time // of the next arrival
	paid   bool      // the job that was due has been enqueued
}

func newPace(spec Producers, start time.Time, random *rand.Rand) *pace {
	p := &pace{spec: spec, start: start, random: random, due: start}
	if spec.Rate > 0 {
		p.due = start.Add(p.gap())
	}
	return p
}

// gap is the time between two arrivals of an open loop: exponential.
func (p *pace) gap() time.Duration {
	rate := p.spec.Rate
	if p.spec.Wave != nil {
		rate = p.spec.Wave(p.due.Sub(p.start)).Rate
	}
	each := rate / float64(p.spec.Count*max(p.spec.Batch, 1))
	return time.Duration(p.random.ExpFloat64() / each * float64(time.Second))
}

// next is when the next job is due, and how many jobs before it were given up.
// A job that was not enqueued (done not called) stays due.
func (p *pace) next(now time.Time) (due time.Time, shed int) {
	if p.paid {
		p.paid = false
		if p.spec.Rate > 0 {
			p.due = p.due.Add(p.gap())
		} else {
			p.due = now.Add(p.spec.Think)
		}
	}
	if p.spec.Rate == 0 {
		p.due = later(p.due, now)
	}
	for p.spec.Rate > 0 && now.Sub(p.due) > tooLate {
		p.due = p.due.Add(p.gap())
		shed += max(p.spec.Batch, 1)
	}
	p.due = p.awake(p.due)
	return p.due, shed
}

// done says that the job that was due is in.
func (p *pace) done() { p.paid = true }

// awake moves a time in a rest to the end of the rest.
func (p *pace) awake(t time.Time) time.Time {
	if p.spec.Off <= 0 {
		return t
	}
	cycle := p.spec.On + p.spec.Off
	into := t.Sub(p.start) % cycle
	if into < p.spec.On {
		return t
	}
	return t.Add(cycle - into)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
