package loop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardpilot/control"
)

func TestStateDoesNotMoveUntilTheStoreHasConfirmed(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(10 * time.Minute)
		d.set(func() { d.down = errDown })
		pass(5 * time.Minute)
		got := decision(t, r, "orders")
		if got.Step != nil || got.Pending || got.Reason != control.ReasonStore {
			t.Errorf("with the store down: %s, pending %v, step %v; want a hold that says so", got.Reason, got.Pending, got.Step)
		}
		e, _ := r.Newest()
		if !strings.Contains(e.Memory, "connection refused") {
			t.Errorf("the event says decisions are kept in %q", e.Memory)
		}
		if _, err := r.Do(context.Background(), control.Command{Verb: control.VerbPause, Queue: "orders", Actor: "ann"}); control.ExitCode(err) != 3 {
			t.Errorf("a command while the log cannot be written: %v, want a refusal", err)
		}
		d.set(func() { d.down = nil })
		pass(20 * time.Second)
		if got := decision(t, r, "orders"); got.Step == nil {
			t.Errorf("the store is back, and nothing is pending: %s %s", got.Reason, got.Detail)
		}
		if n := len(d.kinds(control.LogProposed)); n != 1 {
			t.Errorf("%d proposals in the log, want one", n)
		}
	})
}

func TestAFailedGateIsLoggedAndTriedAgainLater(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	d.gate = errDown
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(15 * time.Minute)
		failed := d.kinds(control.LogChange)
		if n := len(failed); n < 2 || n > 4 {
			t.Fatalf("%d attempts in five minutes, want one every two", n)
		}
		if failed[0].Outcome != control.OutcomeFailed || !strings.Contains(failed[0].Detail, "connection refused") {
			t.Errorf("the log says %s, %s", failed[0].Outcome, failed[0].Detail)
		}
		d.set(func() { d.gate = nil })
		pass(3 * time.Minute)
		if d.count("orders") < 2 {
			t.Error("the gate works again, and nothing was written")
		}
	})
}

// One queue has something for the log, another a step for the gate, and the log
// can be read and not written.
func TestALogThatCannotBeWrittenIsToldAlsoWhereAStepWaits(t *testing.T) {
	d := newDatabase()
	d.shards["mail"], d.crowd["mail"] = 1, 16
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	d.allow(control.QueuePolicy{Queue: "mail"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(9 * time.Minute)
		d.set(func() { d.full = errDown })
		events, _ := r.Subscribe(1000)
		pass(3 * time.Minute)
		told := false
		for len(events) > 0 {
			e := <-events
			told = told || strings.Contains(e.Memory, "connection refused")
		}
		if !told || len(d.steps()) != 0 {
			t.Errorf("told %v, %d steps", told, len(d.steps()))
		}
	})
}

func TestFailedReadsBackOffTellAndFreeze(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(11 * time.Minute)
		d.set(func() { d.broken, d.reads = errDown, 0 })
		pass(5 * time.Minute)
		e, _ := r.Newest()
		if e.Err == nil || e.Err.What == "" || e.Err.RetryIn > longestRetry || e.At.Sub(e.Err.Since) < 4*time.Minute {
			t.Errorf("the event says %+v", e.Err)
		}
		if d.looks() < 50 || d.looks() > 70 {
			t.Errorf("%d reads in five minutes without an answer, want a pause that grows to %v", d.looks(), longestRetry)
		}
		if got := decision(t, r, "orders"); got.Reason != control.ReasonStale {
			t.Errorf("the newest reading is old, and the reason is %s", got.Reason)
		}
		d.set(func() { d.broken = nil })
		pass(longestRetry + 2*time.Second)
		if e, _ := r.Newest(); e.Err != nil {
			t.Errorf("the database is back: %+v", e.Err)
		}
	})
}

// The pause between two tries is no time in which nothing is told.
func TestBetweenFailedReadsTheLeadIsToldAsItIs(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(time.Minute)
		d.set(func() { d.broken = errDown })
		pass(3 * time.Minute)
		before, reads := newest(t, r), d.looks()
		d.set(func() { d.lead = control.Leadership{Epoch: 2, Name: "bea@desk"} })
		pass(2 * time.Second)
		e := newest(t, r)
		if e.Leader != "bea@desk" || e.World.Lead.Leading {
			t.Errorf("two seconds after another process began to lead, %q does", e.Leader)
		}
		if e.At.Sub(before.At) < time.Second || e.Err == nil || !before.Err.Waiting && !e.Err.Waiting || !e.Err.Since.Equal(before.Err.Since) || e.Err.RetryIn > longestRetry {
			t.Errorf("at %v the event says %+v; at %v it said %+v", e.At, e.Err, before.At, before.Err)
		}
		pass(30 * time.Second)
		if n := d.looks() - reads; n > 8 {
			t.Errorf("%d reads in half a minute without an answer", n)
		}
	})
}

func newest(t *testing.T, r *Runner) control.Event {
	t.Helper()
	e, ok := r.Newest()
	if !ok {
		t.Fatal("no tick yet")
	}
	return e
}

func TestStoppingJoinsEverythingAndAnswersCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		d.slow = time.Hour // the gate hangs until it is told to end
		d.memory.policies["orders"] = control.QueuePolicy{Queue: "orders", AcceptedBy: "ann"}
		var r *Runner
		got := make(chan error, 2)
		c := d.config()
		c.Timeout = 2 * time.Hour
		stop := start(t, c, func(x *Runner) {
			r = x
			pass(5 * time.Second)
			for range 2 {
				go func() {
					_, err := r.Do(context.Background(), control.Command{Verb: control.VerbOverride, Queue: "orders", Actor: "ann", To: 2, Accept: true})
					got <- err
				}()
			}
			pass(5 * time.Second)
		})
		began := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		for range 2 {
			if err := <-got; err == nil {
				t.Error("a command that was cut off said it succeeded")
			}
		}
		if _, err := r.Do(context.Background(), control.Command{}); err == nil {
			t.Error("a command after the end was taken")
		}
		events, _ := r.Subscribe(1)
		if _, open := <-events; open {
			t.Error("a subscription after the end is open")
		}
	})
}

// shardpilot's schema was dropped and installed again, or an older backup was
// put back: ids begin anew, and so does what is known.
func TestALogThatWasMadeAnewIsLearnedFromItsStart(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true, Max: 2})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(14 * time.Minute)
		if d.count("orders") != 2 {
			t.Fatalf("%d shards", d.count("orders"))
		}
		d.memory.mu.Lock()
		q := d.memory.policies["orders"]
		q.Max = 4
		d.memory.policies["orders"], d.memory.entries, d.memory.last = q, nil, 0
		d.memory.mu.Unlock()
		pass(20 * time.Minute)
		verdicts := d.kinds(control.LogVerdict)
		if d.count("orders") != 4 || len(d.kinds(control.LogAdopted)) != 0 || len(verdicts) != 1 || verdicts[0].To != 4 {
			t.Errorf("%d shards, adopted %+v, verdicts %+v; want its own step to 4, known and judged", d.count("orders"), d.kinds(control.LogAdopted), verdicts)
		}
	})
}

func TestADefectInAReadEndsTheRunnerWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		d.panics = true
		stop := start(t, d.config(), func(*Runner) { pass(5 * time.Second) })
		err := stop()
		var f *control.Fault
		if !errors.As(err, &f) || !strings.Contains(f.Err.Error(), "a defect") {
			t.Errorf("the runner ended with %v, want the panic as a fault", err)
		}
	})
}

func TestAStandbyIsWatchedAndNothingIsWritten(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	c := d.config()
	c.Read = func(ctx context.Context) (control.Snapshot, error) {
		s, err := d.Read(ctx)
		s.Database.Standby = true
		return s, err
	}
	play(t, c, func(t *testing.T, r *Runner) {
		pass(20 * time.Minute)
		if got := decision(t, r, "orders"); got.Reason != control.ReasonStandby || d.saved() != 0 || len(d.steps()) != 0 {
			t.Errorf("on a standby: %s, %d saves, %d steps", got.Reason, d.saved(), len(d.steps()))
		}
	})
}

func TestALostAnswerIsLearnedFromTheLog(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true, Max: 2})
	c := d.config()
	c.Gate = gateFunc(func(ctx context.Context, s control.Step) (control.Change, error) {
		if _, err := d.Apply(ctx, s); err != nil {
			return control.Change{}, err
		}
		return control.Change{}, errDown // it was done, and the answer got lost
	})
	play(t, c, func(t *testing.T, r *Runner) {
		pass(14 * time.Minute)
		if len(d.steps()) != 1 || d.count("orders") != 2 || len(d.kinds(control.LogAdopted)) != 0 {
			t.Errorf("%d steps, count %d, adopted %v; want the one step known as ours", len(d.steps()), d.count("orders"), d.kinds(control.LogAdopted))
		}
		if got := decision(t, r, "orders"); got.Reason != control.ReasonAtMax {
			t.Errorf("afterwards: %s (%s)", got.Reason, got.Detail)
		}
	})
}

type gateFunc func(context.Context, control.Step) (control.Change, error)

func (f gateFunc) Apply(ctx context.Context, s control.Step) (control.Change, error) {
	return f(ctx, s)
}

func TestOnlyTheServersClockCounts(t *testing.T) {
	for _, skew := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			d := newDatabase()
			d.skew = skew
			d.allow(control.QueuePolicy{Queue: "orders", Enforced: true, Max: 2})
			synctest.Test(t, func(t *testing.T) {
				stop := start(t, d.config(), func(r *Runner) {
					pass(9 * time.Minute)
					if got := decision(t, r, "orders"); got.Reason != control.ReasonWarmUp || len(d.steps()) != 0 {
						t.Errorf("nine minutes after the start: %s, %d steps", got.Reason, len(d.steps()))
					}
					pass(90 * time.Second)
					if len(d.steps()) != 1 {
						t.Errorf("%d steps after the warm-up, want one", len(d.steps()))
					}
				})
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				d.set(func() { d.crowd["orders"] = 0 })
				stop = start(t, d.config(), func(*Runner) {
					pass(110 * time.Minute)
					if d.count("orders") != 2 {
						t.Error("a step back within two hours: the log was read on the wrong clock")
					}
					pass(15 * time.Minute)
				})
				if err := stop(); err != nil || d.count("orders") != 1 {
					t.Errorf("%v; after two hours: %d shards", err, d.count("orders"))
				}
			})
		})
	}
}
