package bench

import (
	"fmt"
	"time"

	"shardpilot/control/experiment"
	"shardpilot/db/rehearsal"
)

// day is what a shape that moves over a day goes through in one run, in seconds.
const day = 86400.0

// atRest is the rate in jobs/s below which a shape means a rest.
const atRest = 0.01

// load turns a shape into sessions. What the shape is like at some moment of
// the run follows from its own At, so that bench and simulator play the same.
func (b *Bench) load(shape experiment.Shape, job experiment.Job) (rehearsal.Spec, error) {
	clock := clock(shape, job)
	at := func(since time.Duration) experiment.Load { return shape.At(clock(since.Seconds()), 0.5) }
	first := at(0)
	if first.Cached > 0 || shape.Cached > 0 {
		return rehearsal.Spec{}, fmt.Errorf("shape %s: producers that cache the count are not played on a server", shape.Name)
	}
	spec := rehearsal.Spec{Seed: job.Seed}
	p := rehearsal.Producers{
		Queue: queue, Application: "checkout", Count: most(at, job.Seconds), Payload: 200, Report: true,
		Hold: time.Duration(float64(first.Hold) * b.o.Slow), Think: first.Think,
		Keys: rehearsal.Keys{N: first.Keys, Zipf: first.Zipf}, Quiet: first.Quiet, Spread: shape.Max,
	}
	faster := 1 / b.o.Slow
	if first.Hold == 0 { // nothing is held, so that a rate can be sped up like the controller
		faster = pace(job)
	}
	p.Rate = first.Rate * faster
	p.Wave = func(since time.Duration) rehearsal.Level {
		l := at(since)
		if l.Rate > 0 && l.Rate < atRest {
			return rehearsal.Level{}
		}
		return rehearsal.Level{Sessions: l.Sessions, Rate: l.Rate * faster}
	}
	spec.Producers = []rehearsal.Producers{p}
	spec.Workers = []rehearsal.Workers{{Queues: []string{queue}, Application: "fulfilment", Count: 2, PerJob: 200 * time.Microsecond, Leader: true}}
	if first.Stuck {
		spec.Holders = []rehearsal.Holder{holder(at, job.Seconds)}
	}
	return spec, nil
}

func pace(job experiment.Job) float64 { return max(job.Pace, 1) }

// clock is the shape's own time, in seconds, so many seconds into a run.
func clock(shape experiment.Shape, job experiment.Job) func(float64) float64 {
	faster := pace(job)
	if shape.Daily {
		faster = day / float64(job.Seconds)
	}
	return func(s float64) float64 { return s * faster }
}

// step is how finely a shape is looked through.
const step = 10 * time.Millisecond

// most is the number of sessions at the shape's widest.
func most(at func(time.Duration) experiment.Load, seconds int) int {
	n := 1
	for t := time.Duration(0); t < time.Duration(seconds)*time.Second; t += step {
		n = max(n, at(t).Sessions)
	}
	return n
}

// holder is the session that keeps lane 0 while the shape says it is stuck: for
// as long as the first time, with rests as long as the first.
func holder(at func(time.Duration) experiment.Load, seconds int) rehearsal.Holder {
	until := func(from time.Duration, stuck bool) time.Duration {
		t := from
		for t < time.Duration(seconds)*time.Second && at(t).Stuck != stuck {
			t += step
		}
		return t
	}
	free := until(0, false)
	again := until(free, true)
	return rehearsal.Holder{Queue: queue, Application: "nightly-import", Hold: free, Rest: max(again-free, step)}
}
