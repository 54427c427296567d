package backtest

import (
	"context"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/control/record"
)

// crowd is a made-up database: one queue, and a crowd at its lanes that goes
// after a while.
type crowd struct{ began time.Time }

func (c crowd) read(context.Context) (control.Snapshot, error) {
	now := time.Now()
	since := now.Sub(c.began)
	n, inside := 1, 16.0
	if since > 4*time.Minute {
		inside = 0.2
	}
	busy := control.Busy(n, inside)
	r := control.Reading{At: now, Queue: "orders", Shards: n, PeriodS: 1, WindowS: 30, Samples: 4, Expected: 4, WaitSum: 4 * (inside - busy), HoldSum: 4 * busy,
		Waiters: control.Some(inside - busy), Holders: control.Some(busy), Inside: control.Some(inside), EnqueueRate: control.Some(100 * busy / 3),
		Producers: control.Some(4), Depth: control.Some(3), HighestShard: n, Drained: make([]bool, n),
		Causes: control.Causes{Lane: control.Some(1), Notify: control.Some(0), Stuck: control.Some(0), Unknown: control.Some(0)}}
	for i := range n {
		r.Lanes = append(r.Lanes, control.LaneReading{Priority: 2, Shard: i, Waiters: control.Some((inside - busy) / float64(n)), Busy: control.Some(busy / float64(n))})
	}
	return control.Snapshot{At: now, Database: control.Database{Host: "db", StartedAt: c.began.Add(-time.Hour)}, Readings: []control.Reading{r},
		Awa: control.Installation{State: control.AwaActive, MayWatch: true, MayWrite: true}}, nil
}

// recorded is a file that a runner's events of ten minutes were recorded to,
// from so long after its start on.
func recorded(t *testing.T, from time.Duration) string {
	path := filepath.Join(t.TempDir(), "shift.rec")
	synctest.Test(t, func(t *testing.T) {
		p := control.DefaultPolicy()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		r, err := loop.New(loop.Config{Policy: p, Process: control.ModeShadow, Read: crowd{time.Now()}.read, Memory: "watch only: a test", Tick: ticker.C, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		rec := record.NewRecorder(record.Options{Program: "test", Process: control.ModeShadow, Policy: p, Now: time.Now})
		events, unsubscribe := r.Subscribe(64)
		defer unsubscribe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() { done <- r.Run(ctx) }()
		go func() {
			rec.Run(ctx, events, func(err error) { t.Error(err) })
			done <- nil
		}()
		if from == 0 {
			if err := rec.Start(path); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		if _, err := r.Do(ctx, control.Command{Verb: control.VerbAuto, Queue: "orders", Actor: "ann", Max: 8, Accept: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(from)
		if from > 0 {
			if err := rec.Start(path); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10*time.Minute - from)
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	return path
}

func tested(t *testing.T, path string, settings ...string) Report {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	changes, err := ParseChanges(r.Header.Policy, r.Header.Pace, settings)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(Options{Policy: r.Header.Policy, Changes: changes, Before: r.Before()}, r.Play().Next)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestTheRecordedThresholdsLeadToWhatWasRecorded(t *testing.T) {
	path := recorded(t, 0)
	for _, same := range [][]string{nil, {"GrowShare=0.25", "grow-window=2m", "FAST_SHARE=0.6"}} {
		r := tested(t, path, same...)
		if !r.Check.Holds() || r.Check.Decisions < 590 || r.Check.Entries < 3 || len(r.Differences) != 0 || r.Reasons != 0 {
			t.Errorf("with %v: %+v, differences %v, %d other reasons", same, r.Check, r.Differences, r.Reasons)
		}
		kinds := map[control.LogKind]int{}
		for _, s := range r.Steps {
			kinds[s.Kind]++
		}
		if kinds[control.LogProposed] != 1 {
			t.Errorf("steps %+v", r.Steps)
		}
	}
}

func TestAThresholdThatDecidesIsNamed(t *testing.T) {
	path := recorded(t, 0)
	r := tested(t, path, "GrowWaiters=15.5", "FastWaiters=15.5", "ShrinkBusy=0.4")
	if !r.Check.Holds() || len(r.Differences) == 0 {
		t.Fatalf("%+v, %d differences", r.Check, len(r.Differences))
	}
	d := r.Differences[0]
	if d.Recorded.Action != control.ActionGrow || d.Other.Action != control.ActionHold ||
		!slices.Equal(d.Decisive, []string{"FastWaiters"}) {
		t.Errorf("%+v", d)
	}
	if d.To.Sub(d.From) < time.Minute {
		t.Errorf("the queue was crowded for minutes, the difference lasts %v", d.To.Sub(d.From))
	}

	one := tested(t, path, "GrowGain=1", "ShrinkBusy=0.4")
	if len(one.Differences) != 1 || !slices.Equal(one.Differences[0].Decisive, []string{"GrowGain"}) ||
		one.Differences[0].Other.Reason != control.ReasonSmallGain || !strings.Contains(one.Differences[0].Other.Detail, "gain") {
		t.Errorf("a gain that is never reached: %+v", one.Differences)
	}
	several := tested(t, path, "GrowGain=1", "GrowWaiters=500", "FastWaiters=500")
	if len(several.Differences) == 0 || len(several.Differences[0].Decisive) != 0 {
		t.Errorf("two thresholds that each would do: %+v", several.Differences)
	}
	lower := tested(t, path, "max=2")
	if len(lower.Differences) != 0 && lower.Differences[0].Recorded.To <= 2 {
		t.Errorf("a maximum that was never reached made a difference: %+v", lower.Differences)
	}
}

// A recording that begins late lacks what was measured before; what it leads
// to is the same once the windows are full.
func TestALateRecordingAgreesOnceWindowsAreFull(t *testing.T) {
	r := tested(t, recorded(t, time.Minute))
	late := 0
	for _, o := range r.Check.Odd {
		if o.At.Sub(r.From) > control.DefaultPolicy().GrowWindow+5*time.Second {
			late++
			t.Logf("%+v", o)
		}
	}
	if r.Check.Decisions < 500 || late > 0 {
		t.Errorf("%d decisions, %d odd ones after the window is full: %+v", r.Check.Decisions, late, r.Check)
	}
}

func TestAQueueThatIsNotInTheRecordingIsRefused(t *testing.T) {
	r, err := record.Open(recorded(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	_, err = Run(Options{Policy: r.Header.Policy, Queue: "nope", Before: r.Before()}, r.Play().Next)
	if control.ExitCode(err) != 3 || !strings.Contains(err.Error(), `no queue "nope"`) || !strings.Contains(err.Error(), "it holds orders") {
		t.Errorf("of a queue that is not there: %v (exit code %d)", err, control.ExitCode(err))
	}
	if one, err := Run(Options{Policy: r.Header.Policy, Queue: "orders", Before: r.Before()}, r.Play().Next); err != nil || len(one.Steps) == 0 {
		t.Errorf("of the one that is: %v, steps %+v", err, one.Steps)
	}
}

// A process begins with the log of those before it; that is no part of what was
// recorded.
func TestStepsFromBeforeTheRecordingAreOnlyCounted(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	step := func(id int64, at time.Time) control.LogEntry {
		return control.LogEntry{ID: id, At: at, Queue: "orders", Kind: control.LogChange, Outcome: control.OutcomeApplied, From: 1, To: 2}
	}
	events := []control.Event{
		{At: start, World: control.World{Now: start}, Entries: []control.LogEntry{step(1, start.Add(-time.Hour)), step(2, start.Add(-time.Minute))}},
		{At: start.Add(time.Second), World: control.World{Now: start.Add(time.Second)}, Entries: []control.LogEntry{step(3, start.Add(time.Second))}},
	}
	r, err := Run(Options{Policy: control.DefaultPolicy()}, func() (control.Event, error) {
		if len(events) == 0 {
			return control.Event{}, io.EOF
		}
		ev := events[0]
		events = events[1:]
		return ev, nil
	})
	if err != nil || r.Earlier != 2 || len(r.Steps) != 1 || !r.Steps[0].At.Equal(start.Add(time.Second)) {
		t.Errorf("%d earlier, steps %+v, %v", r.Earlier, r.Steps, err)
	}
}

func TestBadThresholdsAreRefused(t *testing.T) {
	t.Parallel()
	for set, says := range map[string]string{
		"GrowShare": "sets nothing", "GrowShares=1": "no threshold", "GrowShare=x": "it is a number", "GrowShare=NaN": "it is a number", "GrowShare=Inf": "it is a number", "GrowShare=0.9": "no less than GrowShare", "GrowShare=-1": "must be above 0.05", "GrowShare=2": "must be", "GrowWindow=5": "a duration",
		"Reversals=1.5": "whole number", "max=65": "2 to 64", "FastShare=0.1": "must be",
	} {
		_, err := ParseChanges(control.DefaultPolicy(), 1, []string{set})
		if control.ExitCode(err) != 2 || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a sentence with %q, a next step, and exit code 2", set, err, says)
		}
	}
	if _, err := ParseChanges(control.DefaultPolicy(), 1, []string{"GrowShare=0.3", "growshare=0.4"}); err == nil {
		t.Error("a threshold was set twice")
	}
	c, err := ParseChanges(control.DefaultPolicy().Pace(20), 20, []string{"GrowWindow=4m"})
	if err != nil || c[0].Now != "12s" {
		t.Errorf("at pace 20 four minutes are %+v, %v", c, err)
	}
}

// TestALogThatWasMadeAnewIsLearnedAnew: nothing of what it held before counts,
// and entries that are handed out again are known.
func TestALogThatWasMadeAnewIsLearnedAnew(t *testing.T) {
	at := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	c := newController(rules{policy: control.DefaultPolicy()})
	change := func(id int64, at time.Time) control.LogEntry {
		return control.LogEntry{ID: id, At: at, Kind: control.LogChange, Queue: "orders", From: 1, To: 2, Outcome: control.OutcomeApplied, Actor: "controller", Reason: control.ReasonContended}
	}
	c.learn([]control.LogEntry{change(40, at), change(41, at.Add(time.Second))}, at.Add(time.Minute))
	before := c.member("orders").State
	c.learn([]control.LogEntry{change(40, at), change(41, at.Add(time.Second))}, at.Add(time.Minute))
	if after := c.member("orders").State; !reflect.DeepEqual(before, after) {
		t.Errorf("entries that were handed out again changed the state:\n%+v\n%+v", before, after)
	}
	anew := []control.LogEntry{change(1, at.Add(time.Hour))}
	c.learn(anew, at.Add(time.Hour))
	fresh := newController(c.rules)
	fresh.learn(anew, at.Add(time.Hour))
	if c.last != 1 || !reflect.DeepEqual(c.member("orders").State, fresh.member("orders").State) || !reflect.DeepEqual(c.budget, fresh.budget) {
		t.Errorf("after a log made anew: %d %+v\nof a fresh one: %+v", c.last, c.member("orders").State, fresh.member("orders").State)
	}
}
