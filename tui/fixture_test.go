package tui

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"shardpilot/control"
)

// start is when every world begins, by both clocks.
var start = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// world is a made-up installation whose readings follow from the second alone.
type world struct {
	t     *testing.T
	names []string
	m     *Model
	now   time.Time // our clock
	sec   int       // seconds played
	skew  time.Duration
	edit  func(*control.Event)
}

// calm is an environment in which nothing is inherited from the machine.
func calm(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if k, val, _ := strings.Cut(v, "="); k == name {
				return val
			}
		}
		return ""
	}
}

func newWorld(t *testing.T, o Options, names ...string) *world {
	t.Helper()
	w := &world{t: t, names: names, now: start}
	if len(names) == 0 {
		w.names = []string{"orders", "email", "payments.settle", "search-index", "webhooks", "exports", "audit", "sms"}
	}
	if o.Getenv == nil {
		o.Getenv = calm("LC_ALL=C.UTF-8", "TERM=xterm-256color")
	}
	o.Now = func() time.Time { return w.now }
	w.m = New(o)
	return w
}

// play feeds n seconds of ticks and shows the last.
func (w *world) play(n int) *world {
	for range n {
		w.sec++
		w.now = w.now.Add(time.Second)
		ev := w.event()
		if w.edit != nil {
			w.edit(&ev)
		}
		w.m.Ingest(ev)
	}
	w.m.Advance()
	return w
}

func (w *world) fail(what string, after time.Duration) {
	w.now = w.now.Add(after)
	w.m.Apply(control.Event{At: w.now, ProcessMode: control.ModeShadow, Err: &control.Failure{
		What: what, Hint: "is PostgreSQL running, and may this host reach it?", Since: w.now.Add(-12 * time.Second), RetryIn: 4 * time.Second}})
}

func (w *world) event() control.Event {
	at := start.Add(time.Duration(w.sec) * time.Second).Add(w.skew)
	s := &control.Snapshot{At: at, ClockSkew: w.skew,
		Database: control.Database{Host: "db1.example", Port: 5432, Name: "app", User: "pilot", Version: "18.4", StartedAt: start.Add(-70 * time.Hour), Label: "prod"},
		Awa:      control.Installation{State: control.AwaActive, Schema: "awa", Version: 43, Sentence: "Queue storage is active.", MayWatch: true, MayWrite: true},
		Cost:     control.Cost{Statements: 9, BusyShare: 0.004, SampleHz: 4, LocksReadShare: control.Some(0.8)}}
	ev := control.Event{At: w.now, Snapshot: s, ProcessMode: control.ModeShadow, Leader: "self", Memory: "database"}
	for i, name := range w.names {
		r := reading(name, at, i, w.sec)
		s.Readings = append(s.Readings, r)
		ev.Decisions = append(ev.Decisions, decision(r, i))
	}
	for i := range 3 {
		s.Instances = append(s.Instances, control.Instance{ID: fmt.Sprintf("01987a%d", i), Hostname: fmt.Sprintf("worker-%d", i),
			PID: 1200 + i, Version: "0.6.9", Healthy: i != 1, Stale: i == 2, Leader: i == 0, SeenAgoS: control.Some(2.1), UptimeS: control.Some(86400), Queues: w.names[:1]})
	}
	if w.sec == 200 {
		ev.Changes = []control.Change{{At: at, Queue: w.names[0], From: 2, To: 4, Actor: "erika@bastion", Outcome: control.OutcomeApplied, Detail: "approved by hand"}}
	}
	return ev
}

func reading(name string, at time.Time, i, sec int) control.Reading {
	t := float64(sec)
	wait := math.Max(0, 6-float64(i)*1.4+2*math.Sin(t/37+float64(i)))
	if i > 4 {
		wait = 0
	}
	r := control.Reading{At: at, Queue: name, Shards: 1, PeriodS: 1, WindowS: 30, Samples: 4, Expected: 4,
		Waiters: control.Some(wait), Holders: control.Some(1), Share: control.Some(wait / (wait + 2)),
		ShareLow: control.Some(wait / (wait + 2.5)), ShareHigh: control.Some(wait / (wait + 1.6)),
		Bottleneck: control.BottleneckNone, Inside: control.Some(wait + 1), EnqueueRate: control.Some(210 + 20*math.Sin(t/20)),
		WaitPerEnqueueS: control.Some(wait / 210), Depth: control.Some(math.Floor(120 + 90*math.Sin(t/60+float64(i)))), LagS: control.Some(0.4),
		Applied: control.Some(14), Producers: control.Some(16), HighestShard: 1}
	if i == 0 {
		r.Shards = 2
		if sec > 200 {
			r.Shards = 4
		}
		r.Stale = 1
	}
	if wait > 0 {
		r.Bottleneck = []control.Bottleneck{control.BottleneckLane, control.BottleneckLane, control.BottleneckNotify, control.BottleneckUnknown, control.BottleneckStuck}[i%5]
		r.Causes = control.Causes{Lane: control.Some(0.82), Notify: control.Some(0.12), Stuck: control.Some(0), Unknown: control.Some(0.06)}
		r.Holder = &control.Holder{PID: 48213, Application: "checkout", User: "app", Client: "10.0.4.17", State: "active",
			WaitEvent: "LWLock:WALWrite", XactAgeS: control.Some(0.018), Waiters: 5, Class: r.Bottleneck, Priority: 2}
	}
	for shard := range r.Shards {
		r.Lanes = append(r.Lanes, control.LaneReading{Priority: 2, Shard: shard, Waiters: control.Some(wait / float64(r.Shards)),
			Busy: control.Some(0.97), Depth: control.Some(61), LagS: control.Some(0.4), Rate: control.Some(105)})
	}
	r.Lanes[0].Holder = r.Holder
	for p, state := range []control.AppliedState{control.AppliedOn, control.AppliedStale, control.AppliedUnknown} {
		r.ProducerList = append(r.ProducerList, control.Producer{ID: fmt.Sprintf("10.0.4.%d checkout", 17+p), Queue: name, Sessions: control.Some(4),
			Shards: control.Some(float64(r.Shards)), State: state, How: []string{"reported", "inferred", "inferred"}[p],
			Detail: "took lane 2/1 after the change", SeenAgoS: control.Some(0.8), Waiting: control.Some(wait / 3)})
	}
	return r
}

func decision(r control.Reading, i int) control.Decision {
	d := control.Decision{At: r.At, Queue: r.Queue, Mode: control.ModeManual, Action: control.ActionHold, From: r.Shards, To: r.Shards,
		Reason: "manual", Detail: "This queue is not opted in; its count is never touched."}
	switch i {
	case 0:
		d.Mode, d.Reason, d.Detail = control.ModeShadow, "cooldown", "The count was raised 40 s ago."
		d.Blockers = []control.Blocker{{Rule: "cooldown", Detail: "80 s left of 2 min", Until: r.At.Add(80 * time.Second)}, {Rule: "stale_producers", Detail: "1 of 16 still works with 2"}}
		d.PredictedGain, d.Next = control.Some(1.9), r.At.Add(80*time.Second)
	case 1:
		d.Mode, d.Action, d.To, d.Pending, d.Reason = control.ModeShadow, control.ActionGrow, 2, true, "contended"
		d.Detail, d.PredictedGain = "Producers wait most of the time they enqueue.", control.Some(1.98)
		d.Evidence = control.Evidence{Share: r.Share, ShareLow: r.ShareLow, ShareHigh: r.ShareHigh, WindowS: 120, Waiters: r.Waiters,
			Inside: r.Inside, EnqueueRate: r.EnqueueRate, Applied: r.Applied, Producers: r.Producers}
	}
	return d
}

// plainView is the view without escape sequences.
func plainView(m *Model) string { return ansi.Strip(m.View()) }

// keys presses keys, by bubbletea's names.
func (w *world) keys(names ...string) Effect {
	var e Effect
	for _, n := range names {
		e = w.m.Key(n)
	}
	return e
}

// open goes to the page of a queue.
func (w *world) open(queue string) {
	w.m.Resize(120, 40)
	w.keys(append(append([]string{"/"}, strings.Split(queue, "")...), "enter", "enter")...)
}

// fits asserts that a view is exactly h lines of exactly w columns.
func fits(t interface {
	Helper()
	Fatalf(string, ...any)
}, view string, w, h int) {
	t.Helper()
	if h == 0 {
		if view != "" {
			t.Fatalf("a view of no lines is not empty: %q", view)
		}
		return
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%dx%d: line %d has %d columns: %q", w, h, i, got, l)
		}
	}
}

func has(t *testing.T, m *Model, want ...string) {
	t.Helper()
	v := plainView(m)
	for _, s := range want {
		if !strings.Contains(v, s) {
			t.Errorf("the view lacks %q:\n%s", s, v)
		}
	}
}

func lacks(t *testing.T, m *Model, not ...string) {
	t.Helper()
	v := plainView(m)
	for _, s := range not {
		if strings.Contains(v, s) {
			t.Errorf("the view has %q:\n%s", s, v)
		}
	}
}
