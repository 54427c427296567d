package metrics

import (
	"math"
	"time"

	"shardpilot/control"
)

// queue is what is remembered of one queue. Readings and decisions belong to
// the event they came with and are never changed.
type queue struct {
	name, label string
	reading     *control.Reading  // of the newest snapshot, nil when it is not in it
	decision    *control.Decision // of the newest event, nil when it is not in it
	read        time.Time         // server clock, of the newest reading that was counted

	own   bool      // it has series of its own
	since time.Time // our clock, when it got or lost them
	seen  time.Time // our clock, when it was last there

	total // while it had series of its own

	waiters, rate, depth smooth
	standing             float64 // how much it deserves series of its own

	changed           time.Time // server clock, of the newest applied change
	verdict           control.Verdict
	verified          time.Time // server clock
	gain, gainHadBeen control.Value
}

// total is what is counted of a queue, or of all the others.
type total struct {
	waitS float64 // session-seconds
	jobs  float64
}

func (t *total) add(o total) { t.waitS += o.waitS; t.jobs += o.jobs }

// there says whether a queue exists: it was in the newest snapshot, or the
// controller has been told to mind it.
func (q *queue) there() bool { return q.reading != nil || q.minded() }

func (q *queue) minded() bool {
	d := q.decision
	return d != nil && (d.Policy.Auto || d.Policy.Pin.Holds(d.At) || d.Step != nil)
}

// count is what a reading adds to the counters.
func (q *queue) count(r *control.Reading) total {
	if r.At.Equal(q.read) {
		return total{} // counted already
	}
	q.read = r.At
	s := measured(r)
	return total{waitS: max(r.Waiters.Or(0), 0) * s, jobs: max(r.EnqueueRate.Or(0), 0) * max(period(r), 0)}
}

// longestPeriod is the length beyond which a period is not believed.
const longestPeriod = 10 * time.Minute

func period(r *control.Reading) float64 {
	if !(r.PeriodS > 0 && r.PeriodS <= longestPeriod.Seconds()) {
		return 0
	}
	return r.PeriodS
}

// measured is the time for which the samples of a reading stand: its period,
// or that part of it which was sampled when more than half of the samples are
// missing, as after the process was stopped for a while.
func measured(r *control.Reading) float64 {
	if part := float64(r.Samples) / r.Expected; part < 0.5 {
		return period(r) * part
	}
	return period(r)
}

// smoothing is how long a smoothed value remembers.
const smoothing = time.Minute

// smooth is an exponentially fading mean. Absent values leave it as it is.
type smooth struct {
	v     float64
	begun bool
}

func (s *smooth) add(v control.Value, over time.Duration) {
	x, ok := v.Get()
	switch {
	case !ok:
	case !s.begun:
		s.v, s.begun = x, true
	default:
		s.v += (1 - math.Exp(-max(over, 0).Seconds()/smoothing.Seconds())) * (x - s.v)
	}
}

// What a queue's standing is made of, beside the sessions that wait in it:
// the steps that need a hand come first, then those that wait, then those the
// controller minds, then the busy ones.
const (
	standingPending = 100
	standingBad     = 10 // a change did not pay, of late
	standingMinded  = 1
	standingRate    = 0.01  // for each e-fold of jobs/s
	standingDepth   = 0.001 // for each e-fold of ready jobs
)

// badNews is how long a change that did not pay is worth knowing.
const badNews = 24 * time.Hour

// weigh brings the standing up to date; server is the server's clock.
func (q *queue) weigh(over time.Duration, server time.Time) {
	if r := q.reading; r != nil {
		q.waiters.add(r.Waiters, over)
		q.rate.add(r.EnqueueRate, over)
		q.depth.add(r.Depth, over)
	}
	q.standing = max(q.waiters.v, 0) + standingRate*math.Log1p(max(q.rate.v, 0)) + standingDepth*math.Log1p(max(q.depth.v, 0))
	if d := q.decision; d != nil && d.Step != nil {
		q.standing += standingPending
	}
	bad := q.verdict == control.VerdictHarmful || q.verdict == control.VerdictIneffective
	if bad && server.Sub(q.verified) < badNews {
		q.standing += standingBad
	}
	if q.minded() {
		q.standing += standingMinded
	}
}
