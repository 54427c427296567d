package experiment

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
)

// house is a store, a gate and a leader around a stage, for a real runner.
type house struct {
	stage   *stage
	newest  control.Reading
	saved   loop.Saved
	applied []ChangeAt
}

func (h *house) Read(context.Context) (control.Snapshot, error) {
	h.newest = h.stage.read()
	return control.Snapshot{
		At:       h.newest.At,
		Database: control.Database{Host: "simulator", Port: 5432, StartedAt: epoch.Add(-time.Hour)},
		Awa:      control.Installation{State: control.AwaActive, MayWatch: true, MayWrite: true},
		Readings: []control.Reading{h.newest},
	}, nil
}

func (h *house) Load(_ context.Context, after int64) (loop.Saved, error) {
	s := h.saved
	s.Entries = s.Entries[after:]
	return s, nil
}

func (h *house) Save(_ context.Context, b loop.Batch) error {
	for _, e := range b.Entries {
		h.log(e)
	}
	return nil
}

func (h *house) log(e control.LogEntry) {
	h.saved.Last++
	e.ID = h.saved.Last
	h.saved.Entries = append(h.saved.Entries, e)
}

func (h *house) Leadership() control.Leadership {
	return control.Leadership{Leading: true, Epoch: 1, Name: "self"}
}

func (h *house) Apply(_ context.Context, s control.Step) (control.Change, error) {
	e := s.Entry
	e.At, e.Outcome = h.stage.now(), control.OutcomeApplied
	h.applied = append(h.applied, ChangeAt{AtS: h.stage.seconds, From: s.From, To: s.To, Reason: string(e.Reason)})
	h.stage.set(s.To)
	h.log(e)
	return control.Change{At: e.At, Queue: e.Queue, From: s.From, To: s.To, Actor: s.Actor, Outcome: e.Outcome}, nil
}

// TestTheRunnerTakesTheSameSteps plays an hour through control/loop, with its
// store, gate and goroutines, and the same hour through Play: the same changes
// for the same reasons. The runner asks its store first and may be a tick late.
func TestTheRunnerTakesTheSameSteps(t *testing.T) {
	for _, name := range []string{"steady", "notify", "idle"} {
		shape := named(t, name)
		want := play(t, shape, 3600, 9, Options{})
		got := throughRunner(t, shape, 3600, 9)
		if len(got) != len(want.Changes) {
			t.Fatalf("%s: the runner took %v, Play took %v", name, got, want.Changes)
		}
		for i, c := range got {
			w := want.Changes[i]
			if c.From != w.From || c.To != w.To || c.Reason != w.Reason || c.AtS < w.AtS-5 || c.AtS > w.AtS+5 {
				t.Errorf("%s: the runner took %v, Play took %v", name, c, w)
			}
		}
	}
}

func throughRunner(t *testing.T, shape Shape, seconds int, seed uint64) (applied []ChangeAt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		src := &fromTapes{tapes: shelf(), player: newPlayer(seed)}
		h := &house{stage: newStage(shape, src, seed, shape.Start, 1)}
		h.saved.Policies = []control.QueuePolicy{{
			Queue: queueName, Auto: true, Enforced: true, Max: shape.Max, AcceptedBy: "simulator", AcceptedAt: epoch, Generation: 1,
		}}
		tick := make(chan time.Time)
		r, err := loop.New(loop.Config{
			Policy: control.DefaultPolicy(), Process: control.ModeEnforced, Read: h.Read,
			Store: h, Leader: h, Gate: h, Tick: tick, Now: h.stage.now,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		for range seconds {
			tick <- time.Time{}
			synctest.Wait()
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		applied = h.applied
	})
	return applied
}
