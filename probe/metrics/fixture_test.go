package metrics

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"shardpilot/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is ours, moved by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	return c.t
}

// skew is how far the server's clock is ahead of ours in these tests.
const skew = 250 * time.Millisecond

// seen is a reading of a second in which a queue's producers were waiting.
func seen(at time.Time, queue string, waiters float64) control.Reading {
	return control.Reading{
		At: at, Queue: queue, Shards: 2, PeriodS: 1, WindowS: 30, Samples: 4, Expected: 4,
		Waiters: control.Some(waiters), Holders: control.Some(1.5),
		Share: control.Some(0.76), ShareLow: control.Some(0.71), ShareHigh: control.Some(0.8),
		Causes: control.Causes{Lane: control.Some(0.7), Notify: control.Some(0.1), Stuck: control.Some(0.15), Unknown: control.Some(0.05)},
		Inside: control.Some(waiters + 1.5), EnqueueRate: control.Some(200), WaitPerEnqueueS: control.Some(0.03),
		Depth: control.Some(120), LagS: control.Some(0.4), Applied: control.Some(15), Producers: control.Some(16), Stale: 1,
		HighestShard: 4, Drained: []bool{false, false, true, true},
		Drain: &control.Drain{From: 2, State: control.DrainFalling, Lanes: 1, Jobs: control.Some(40), Rate: control.Some(5), LeftS: control.Some(8)},
	}
}

// thought is a decision about a queue that is opted in and has a step pending.
func thought(at time.Time, queue string) control.Decision {
	return control.Decision{
		At: at, Queue: queue, Mode: control.ModeShadow, Action: control.ActionGrow, From: 2, To: 4,
		Reason: control.ReasonContended, PredictedGain: control.Some(1.9), Pending: true,
		Step: &control.Pending{Queue: queue, From: 2, To: 4, At: at.Add(-90 * time.Second), Until: at.Add(time.Hour), Generation: 7},
		Policy: control.QueuePolicy{Queue: queue, Auto: true, Max: 8, AcceptedBy: "ada@bastion",
			Pin: &control.Pin{Shards: 2, By: "ada@bastion"}},
	}
}

// tick is an event with a snapshot of readings, a second after the one before.
func (c *clock) tick(readings ...control.Reading) control.Event {
	at := c.move(time.Second)
	for i := range readings {
		readings[i].At = at.Add(skew)
	}
	return control.Event{
		At: at, ProcessMode: control.ModeShadow, Leader: "self", Memory: "database",
		Snapshot: &control.Snapshot{
			At: at.Add(skew), ClockSkew: skew, Readings: readings,
			Database: control.Database{Host: "db.example", Port: 5432, Name: "app", Version: "18.4", Label: "prod"},
			Awa:      control.Installation{State: control.AwaActive, Schema: "awa_queue", Version: 40},
			Cost:     control.Cost{Statements: 9, BusyShare: 0.004, SampleHz: 4, LocksReadShare: control.Some(1)},
			Problems: []control.Problem{{Part: "activity", Detail: "hidden"}},
		},
	}
}

// full is an event in which nothing is missing.
func (c *clock) full(queue string) control.Event {
	e := c.tick(seen(time.Time{}, queue, 6))
	e.Decisions = []control.Decision{thought(e.Snapshot.At, queue)}
	id := c.now().UnixNano()
	entry := control.LogEntry{At: e.Snapshot.At, Queue: queue, Mode: control.ModeShadow, Action: control.ActionGrow,
		From: 1, To: 2, Reason: control.ReasonContended, Actor: "controller"}
	for _, kind := range []control.LogKind{control.LogDecision, control.LogProposed, control.LogChange, control.LogVerdict} {
		id++
		entry.ID, entry.Kind = id, kind
		entry.Outcome, entry.Verdict = "", ""
		switch kind {
		case control.LogChange:
			entry.Outcome = control.OutcomeApplied
		case control.LogVerdict:
			entry.Verdict, entry.Gain, entry.PredictedGain = control.VerdictKept, control.Some(1.8), control.Some(1.9)
		}
		e.Entries = append(e.Entries, entry)
	}
	return e
}

// failed is an event of a read that did not succeed.
func (c *clock) failed() control.Event {
	at := c.move(time.Second)
	return control.Event{At: at, ProcessMode: control.ModeShadow, Memory: "database",
		Err: &control.Failure{What: "the connection was lost", Since: at, RetryIn: time.Second}}
}

func made(c *clock, top int) *Metrics {
	return New(Options{TopQueues: top, Version: "v1.2.3", GoVersion: "go1.26", Now: c.now})
}

// samples are those of a scrape by name and labels: name{a="b",c="d"}.
type samples map[string]float64

// scraped gathers through a registry that checks every sample against what
// was described.
func scraped(t testing.TB, m *Metrics) samples {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(m); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := samples{}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			var labels []string
			for _, l := range one.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			key := f.GetName()
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			if one.Counter != nil {
				out[key] = one.GetCounter().GetValue()
			} else {
				out[key] = one.GetGauge().GetValue()
			}
		}
	}
	return out
}

// named are the keys of one metric, in order.
func (s samples) named(d *definition) []string {
	var list []string
	for k := range s {
		if k == d.name || strings.HasPrefix(k, d.name+"{") {
			list = append(list, k)
		}
	}
	sort.Strings(list)
	return list
}

// sum adds up the samples of one metric.
func (s samples) sum(d *definition) float64 {
	n := 0.0
	for _, k := range s.named(d) {
		n += s[k]
	}
	return n
}

// of is the sample of a metric of a queue.
func (s samples) of(d *definition, queue string) (float64, bool) {
	v, ok := s[fmt.Sprintf("%s{queue=%q}", d.name, queue)]
	return v, ok
}

func (s samples) want(t *testing.T, key string, want float64) {
	t.Helper()
	if got, ok := s[key]; !ok || got != want {
		t.Errorf("%s is %v (there: %v), want %v", key, got, ok, want)
	}
}
