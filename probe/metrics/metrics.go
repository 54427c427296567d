package metrics

import (
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"shardpilot/control"
)

// Options is how to show things. Now is required.
type Options struct {
	TopQueues  int              // queues with series of their own, 1 to 1000; 200 when 0
	Version    string           // of shardpilot
	GoVersion  string           // it was built with
	Now        func() time.Time // our clock, as in Event.At
	StaleAfter time.Duration    // age from which what was measured is not shown any more; 15 s when 0
}

const (
	usualTop   = 200
	highestTop = 1000
	usualStale = 15 * time.Second
)

// Metrics turns events into what Prometheus scrapes. Its methods may be called
// from any goroutine.
type Metrics struct {
	opts     Options
	registry *prometheus.Registry

	mu         sync.Mutex
	began      time.Time // our clock
	newest     control.Event
	snapshot   *control.Snapshot // the newest there was
	snapshotAt time.Time         // our clock
	queues     map[string]*queue
	others     total // of queues without series of their own
	summing    bool  // there have been such queues
	ledger     ledger

	policyOK control.Value // 1 or 0, absent without a policy file

	snapshots, failures, statements, dropped float64
}

// New makes the metrics of one process, before its first event.
func New(o Options) *Metrics {
	if o.TopQueues <= 0 {
		o.TopQueues = usualTop
	}
	o.TopQueues = min(o.TopQueues, highestTop)
	if o.StaleAfter <= 0 {
		o.StaleAfter = usualStale
	}
	m := &Metrics{opts: o, registry: prometheus.NewRegistry(), began: o.Now(), queues: map[string]*queue{}, ledger: newLedger()}
	m.registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, EnableOpenMetrics: true,
	})
}

// Observe takes in an event, at most once each. It does not keep the caller
// waiting for a scrape longer than it takes to list what is shown.
func (m *Metrics) Observe(e control.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped = max(m.dropped, float64(e.Dropped))
	if e.Snapshot != nil {
		m.see(e)
	} else if e.Err == nil || !e.Err.Waiting {
		m.failures++
	}
	m.attach(&e)
	m.learn(e.Entries)
	m.settle(e)
	m.newest = e
	m.newest.Changes, m.newest.Verifications, m.newest.Entries = nil, nil, nil
}

// see takes in a snapshot, which replaces the one before.
func (m *Metrics) see(e control.Event) {
	m.snapshots++
	m.statements += float64(max(e.Snapshot.Cost.Statements, 0))
	for _, q := range m.queues {
		q.reading = nil
	}
	for i := range e.Snapshot.Readings {
		r := &e.Snapshot.Readings[i]
		m.queue(r.Queue).reading = r
	}
	m.snapshot = e.Snapshot
}

// attach gives every queue its decision.
func (m *Metrics) attach(e *control.Event) {
	for _, q := range m.queues {
		q.decision = nil
	}
	for i := range e.Decisions {
		d := &e.Decisions[i]
		q, known := m.queues[d.Queue]
		if !known {
			q = &queue{name: d.Queue, decision: d}
			if !q.minded() {
				continue // gone from the snapshot; the controller remembers it a little longer
			}
			q = m.queue(d.Queue)
		}
		q.decision = d
	}
}

func (m *Metrics) policyRead(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.policyOK = control.Some(1)
	if why != nil {
		m.policyOK = control.Some(0)
	}
}

// queue finds or makes one.
func (m *Metrics) queue(name string) *queue {
	q, ok := m.queues[name]
	if !ok {
		q = &queue{name: name, label: queueLabel(name)}
		m.queues[name] = q
	}
	return q
}

// settle decides who has series of their own, and lets go of who is gone.
func (m *Metrics) settle(e control.Event) {
	over := time.Duration(0)
	if e.Snapshot != nil {
		over = e.At.Sub(m.snapshotAt)
		m.snapshotAt = e.At
	}
	there := make([]*queue, 0, len(m.queues))
	var gone []*queue
	for _, q := range m.queues {
		if !q.there() {
			if q.own {
				q.give(false, e.At)
			}
			gone = append(gone, q)
			continue
		}
		q.seen = e.At
		if e.Snapshot != nil {
			q.weigh(over, e.Snapshot.At)
		}
		there = append(there, q)
	}
	choose(there, m.opts.TopQueues, e.At)
	m.summing = m.summing || slices.ContainsFunc(there, func(q *queue) bool { return !q.own })
	m.forget(gone)
	if e.Snapshot != nil {
		m.count(there)
	}
}

// count adds the readings of a snapshot to the counters.
func (m *Metrics) count(there []*queue) {
	for _, q := range there {
		switch {
		case q.reading == nil:
		case q.own:
			q.add(q.count(q.reading))
		default:
			m.others.add(q.count(q.reading))
		}
	}
}

// remembered bounds the queues that are gone and not forgotten, so that their
// counters go on should they come back.
const remembered = 10_000

func (m *Metrics) forget(gone []*queue) {
	kept := gone[:0]
	for _, q := range gone {
		if q.total == (total{}) && q.changed.IsZero() && q.verified.IsZero() {
			delete(m.queues, q.name) // nothing to go on with
			continue
		}
		kept = append(kept, q)
	}
	if len(kept) <= remembered {
		return
	}
	slices.SortFunc(kept, func(a, b *queue) int { return a.seen.Compare(b.seen) })
	for _, q := range kept[:len(kept)-remembered] {
		delete(m.queues, q.name)
	}
}

// learn takes in new entries of the decision log. Older ones than this process
// tell what became of the queues, and are not counted.
func (m *Metrics) learn(entries []control.LogEntry) {
	began := m.began
	if m.snapshot != nil {
		began = began.Add(m.snapshot.ClockSkew)
	}
	m.ledger.meet(entries)
	for i := range entries {
		e := &entries[i]
		if !m.ledger.enter(e, !e.At.Before(began)) {
			continue
		}
		switch e.Kind {
		case control.LogChange, control.LogAdopted:
			if e.Kind == control.LogAdopted || e.Outcome == control.OutcomeApplied {
				m.queue(e.Queue).changed = e.At
			}
		case control.LogVerdict:
			q := m.queue(e.Queue)
			q.verdict, q.verified, q.gain, q.gainHadBeen = e.Verdict, e.At, e.Gain, e.PredictedGain
		case control.LogDecision, control.LogProposed, control.LogWithdrawn, control.LogAct:
		}
	}
}

// current says what of the newest event may still be shown: nothing measured
// once the snapshot is old or reading fails, nothing at all once the events have
// stopped.
func (m *Metrics) current(now time.Time) (measured, decided bool) {
	limit := m.opts.StaleAfter
	decided = !m.newest.At.IsZero() && now.Sub(m.newest.At) <= limit+pause(m.newest)
	measured = decided && m.newest.Snapshot != nil && now.Sub(m.snapshotAt) <= limit
	return measured, decided
}

// pause is how long the runner waits after an event by its own account.
func pause(e control.Event) time.Duration {
	if e.Err == nil {
		return 0
	}
	return max(e.Err.RetryIn, 0)
}

// age is the age of the newest snapshot in seconds; before the first that of the
// process, since a first look that hangs is to be noticed too.
func (m *Metrics) age(now time.Time) float64 {
	since := m.began
	if m.snapshot != nil {
		since = m.snapshotAt
	}
	return math.Max(now.Sub(since).Seconds(), 0)
}
