package record

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"shardpilot/control"
)

// epoch is when every made-up recording begins.
var epoch = time.Date(2026, 3, 14, 9, 26, 53, 589793000, time.UTC)

// stage makes up what a runner would tell, tick by tick.
type stage struct {
	rng    *rand.Rand
	queues int
	busy   int // of them, those whose numbers never stand still
	sec    int
	ids    int64
}

func newStage(queues, busy int) *stage {
	return &stage{rng: rand.New(rand.NewPCG(1, uint64(queues))), queues: queues, busy: busy}
}

func (s *stage) at() time.Time { return epoch.Add(time.Duration(s.sec) * time.Second) }

// some is a measured value, which now and then is absent.
func (s *stage) some(scale float64) control.Value {
	if s.rng.IntN(50) == 0 {
		return control.None()
	}
	return control.Some(s.rng.Float64() * scale)
}

// shown is a value with no more digits than are kept of it.
func (s *stage) shown(scale float64) control.Value { return round(s.some(scale)) }

func (s *stage) reading(i int) control.Reading {
	at := s.at().Add(30 * time.Millisecond)
	r := control.Reading{At: at, Queue: fmt.Sprintf("queue-%04d", i), Shards: 2, PeriodS: 1.0001, WindowS: 30, Samples: 4, Expected: 4.0004,
		Waiters: control.Some(0), Holders: control.Some(0), Share: control.Some(0), ShareLow: control.Some(0), ShareHigh: control.Some(0.02),
		Bottleneck: control.BottleneckNone, Inside: control.Some(0), EnqueueRate: control.Some(0), Depth: control.Some(0), LagS: control.Some(0),
		Applied: control.Some(1), Producers: control.Some(1), HighestShard: 2, Drained: []bool{true, true}}
	for shard := range 2 {
		r.Lanes = append(r.Lanes, control.LaneReading{Priority: 2, Shard: shard, Waiters: control.Some(0), Busy: control.Some(0), Depth: control.Some(0), LagS: control.Some(0), Rate: control.Some(0)})
	}
	r.ProducerList = []control.Producer{{ID: "10.0.0.1 web", Queue: r.Queue, State: control.AppliedUnknown, How: "inferred"}}
	if i >= s.busy {
		return r
	}
	r.WaitSum, r.HoldSum = float64(s.rng.IntN(60)), float64(s.rng.IntN(9))
	r.Waiters, r.Holders, r.Inside = control.Some(r.WaitSum/4), control.Some(r.HoldSum/4), s.some(20)
	r.Share, r.ShareLow, r.ShareHigh, r.LagS, r.WaitPerEnqueueS = s.shown(1), s.shown(1), s.shown(1), s.shown(9), s.shown(0.1)
	r.EnqueueRate, r.Depth = s.some(400), control.Some(float64(s.rng.IntN(1000)))
	r.Bottleneck, r.Stale, r.Drained = bottlenecks[1+s.rng.IntN(5)], s.rng.IntN(3), []bool{false, s.rng.IntN(2) == 0}
	r.Causes = control.Causes{Lane: s.some(1), Notify: s.some(1), Stuck: s.some(1), Unknown: control.Some(0)}
	for k := range r.Lanes {
		l := &r.Lanes[k]
		l.Waiters, l.Busy, l.Depth, l.LagS, l.Rate = s.some(9), control.Some(float64(s.rng.IntN(5))/4), control.Some(float64(s.rng.IntN(500))), s.shown(3), s.shown(200)
	}
	if s.rng.IntN(3) > 0 {
		r.Holder = &control.Holder{PID: 4000 + s.rng.IntN(50), Application: "checkout", User: "app", Client: "10.0.4.17", State: "active",
			WaitEvent: "LWLock:WALWrite", XactAgeS: s.shown(2), Waiters: 5, Class: control.BottleneckLane, Priority: 2, Shard: 1, Hidden: s.rng.IntN(4) == 0}
		own, other := *r.Holder, *r.Holder
		other.PID, other.Shard = 17, 0
		r.Lanes[1].Holder, r.Lanes[0].Holder = &own, &other
		r.Drain = &control.Drain{From: 2, State: control.DrainFalling, Lanes: 1, Jobs: control.Some(4), Rate: s.shown(9), WindowS: 30, LeftS: s.shown(60)}
	}
	for k := range 4 {
		r.ProducerList = append(r.ProducerList, control.Producer{ID: fmt.Sprintf("10.0.4.%d checkout", k), Queue: r.Queue, Sessions: control.Some(4),
			Shards: control.Some(2), State: control.AppliedOn, How: "reported", Detail: "reports 2", SeenAgoS: s.shown(2), Waiting: s.shown(3)})
	}
	return r
}

func (s *stage) decision(r *control.Reading, i int) control.Decision {
	d := control.Decision{At: s.at(), Queue: r.Queue, Mode: control.ModeManual, Action: control.ActionHold, From: 2, To: 2, Reason: control.ReasonManual,
		Detail: "manual mode: never touched", Blockers: []control.Blocker{{Rule: control.ReasonManual, Detail: "never touched"}},
		Policy: control.QueuePolicy{Queue: r.Queue}}
	if i >= s.busy {
		return d
	}
	d.Mode, d.Reason = control.ModeShadow, control.ReasonShareLow
	d.Detail = fmt.Sprintf("share low: share %.2f, needs 0.25", r.Share.Or(0))
	d.Blockers = []control.Blocker{{Rule: control.ReasonShareLow, Detail: d.Detail, For: control.ActionGrow}, {Rule: control.ReasonNotCalm, Detail: "share above", For: control.ActionShrink, Until: s.at().Add(time.Minute)}}
	d.PredictedGain = s.shown(2)
	d.Policy = control.QueuePolicy{Queue: r.Queue, Auto: true, Max: 8, AcceptedBy: "ann@bastion", AcceptedAt: epoch, Generation: 1}
	for _, v := range evidenceFields(&d.Evidence) {
		*v = s.shown(3)
	}
	d.Evidence.WindowS = 120
	return d
}

// event is the next tick: a quiet one now and then lacks a queue, or fails.
func (s *stage) event() control.Event {
	s.sec++
	w := control.World{Now: s.at(), Process: control.ModeShadow, Lead: control.Leadership{Leading: true, Epoch: 3, Name: "self"}}
	ev := control.Event{At: s.at().Add(50 * time.Millisecond), ProcessMode: control.ModeShadow, Leader: "self", Memory: "database", World: w}
	snap := &control.Snapshot{At: s.at().Add(30 * time.Millisecond), ClockSkew: -3 * time.Millisecond,
		Database: control.Database{Host: "db1", Port: 5432, Name: "app", User: "pilot", Version: "18.4", StartedAt: epoch.Add(-time.Hour)},
		Awa:      control.Installation{State: control.AwaActive, Schema: "awa", Version: 43, Sentence: "Queue storage is active.", MayWatch: true, MayWrite: true},
		Cost:     control.Cost{Statements: 9, BusyShare: 0.004, SampleHz: 4, LocksReadShare: control.Some(0.8)}}
	w.Now = snap.At
	ev.World = w
	for i := range s.queues {
		if i == s.queues-1 && s.sec%40 > 30 && s.queues > 2 {
			continue // it has no lanes any more
		}
		r := s.reading(i)
		d := s.decision(&r, i)
		d.At = snap.At
		snap.Readings, ev.Decisions = append(snap.Readings, r), append(ev.Decisions, d)
	}
	if s.sec%45 == 7 {
		ev.Err = &control.Failure{What: "the connection failed", Hint: "is it running?", Since: s.at(), RetryIn: time.Second}
		for i := range ev.Decisions {
			ev.Decisions[i].At = w.Now
		}
		return ev
	}
	ev.Snapshot = snap
	if s.sec%20 == 0 {
		s.ids++
		c := control.Change{At: snap.At, Queue: "queue-0000", From: 2, To: 4, Actor: "controller", Outcome: control.OutcomeApplied, Detail: "2 → 4"}
		ev.Changes = []control.Change{c}
		ev.Entries = []control.LogEntry{{ID: s.ids, At: snap.At, Kind: control.LogChange, Queue: c.Queue, From: 2, To: 4, Actor: "controller",
			Outcome: control.OutcomeApplied, Detail: c.Detail, Reason: control.ReasonContended}}
	}
	return ev
}

// options are a recorder's in tests.
func options() Options {
	return Options{Program: "test", Process: control.ModeShadow, Pace: 1, Policy: control.DefaultPolicy(), Now: func() time.Time { return epoch }}
}

// recorded plays so many ticks into a file and gives them back with its name.
func recorded(t testing.TB, o Options, s *stage, ticks int) (string, []control.Event) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "incident.rec")
	r := NewRecorder(o)
	if err := r.Start(path); err != nil {
		t.Fatal(err)
	}
	var all []control.Event
	for range ticks {
		ev := s.event()
		all = append(all, ev)
		if err := r.Take(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	return path, all
}

func opened(t testing.TB, path string) *Recording {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
