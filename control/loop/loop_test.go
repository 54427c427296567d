package loop

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"shardpilot/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEnforcedQueueGrowsThroughTheGateAndIsVerified(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		events, _ := r.Subscribe(2000)
		pass(9 * time.Minute)
		if got := decision(t, r, "orders"); got.Reason != control.ReasonWarmUp {
			t.Errorf("a new leader warms up, got %s: %s", got.Reason, got.Detail)
		}
		pass(15 * time.Minute)
		if d.count("orders") != 8 || len(d.steps()) != 3 {
			t.Errorf("sixteen producers ended on %d shards after %d steps, want 8 after 3", d.count("orders"), len(d.steps()))
		}
		changes, verdicts := 0, 0
		for len(events) > 0 {
			e := <-events
			changes, verdicts = changes+len(e.Changes), verdicts+len(e.Verifications)
			if (e.Snapshot == nil) == (e.Err == nil) {
				t.Fatalf("an event has snapshot %v and error %v, want exactly one", e.Snapshot, e.Err)
			}
		}
		if changes != 3 || verdicts != 3 {
			t.Errorf("events told of %d changes and %d verdicts, want 3 each", changes, verdicts)
		}
	})
}

func TestShadowNeverReachesTheGate(t *testing.T) {
	for name, c := range map[string]struct {
		process  control.Mode
		enforced bool
	}{"shadow process": {control.ModeShadow, true}, "shadow queue": {control.ModeEnforced, false}} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase()
			d.allow(control.QueuePolicy{Queue: "orders", Enforced: c.enforced})
			config := d.config()
			config.Process = c.process
			play(t, config, func(t *testing.T, r *Runner) {
				pass(3 * time.Hour)
				if len(d.steps()) != 0 || d.count("orders") != 1 {
					t.Errorf("%d steps reached the gate, the count is %d", len(d.steps()), d.count("orders"))
				}
				if got := decision(t, r, "orders"); !got.Pending || got.Step == nil || got.To != 2 {
					t.Errorf("three hours of crowd left no proposal: %+v", got)
				}
			})
		})
	}
}

func TestApprovalTakesTheStepOnceAndTheLoserIsToldWho(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	d.slow = 2 * time.Second
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(13 * time.Minute)
		step := decision(t, r, "orders").Step
		if step == nil {
			t.Fatal("nothing is pending")
		}
		results := make([]error, 2)
		var wg sync.WaitGroup
		for i, who := range []string{"ann", "bob"} {
			wg.Go(func() {
				var res control.Result
				res, results[i] = r.Do(context.Background(), control.Command{Verb: control.VerbApprove, Queue: "orders", Actor: who, Host: "bastion", Expect: step.Generation})
				if results[i] == nil && (res.Change == nil || res.Change.Outcome != control.OutcomeApplied) {
					t.Errorf("%s: %+v", who, res)
				}
			})
		}
		wg.Wait()
		if len(d.steps()) != 1 || d.count("orders") != 2 {
			t.Fatalf("%d effects, count %d; want one, and 2", len(d.steps()), d.count("orders"))
		}
		winner, loser := d.steps()[0].Actor, results[0]
		if loser == nil {
			loser = results[1]
		}
		if control.ExitCode(loser) != 3 || !strings.Contains(loser.Error(), winner) {
			t.Errorf("the loser was told %v, want who won (%s)", loser, winner)
		}
		_, err := r.Do(context.Background(), control.Command{Verb: control.VerbReject, Queue: "orders", Actor: "eve", Host: "bastion", Expect: step.Generation, Why: "too late"})
		if control.ExitCode(err) != 3 || !strings.Contains(err.Error(), winner) {
			t.Errorf("who rejects what is taken was told %v, want who took it (%s)", err, winner)
		}
		tried := map[string]control.Outcome{}
		for _, e := range d.kinds(control.LogChange) {
			tried[e.Actor] = e.Outcome
			if e.Outcome == control.OutcomeSuperseded && (e.From != 1 || e.To != 2 || e.Reason != control.ReasonSuperseded || !strings.Contains(e.Detail, winner) || e.Pending != 0) {
				t.Errorf("the log says of who came too late: %+v", e)
			}
		}
		if len(tried) != 3 || tried[winner] != control.OutcomeApplied || tried["eve@bastion"] != control.OutcomeSuperseded {
			t.Errorf("the log has %v, want the winner and both who came too late", tried)
		}
	})
}

func TestASlowReceiverDropsEventsAndStallsNothing(t *testing.T) {
	d := newDatabase()
	play(t, d.config(), func(t *testing.T, r *Runner) {
		events, _ := r.Subscribe(1)
		pass(time.Minute)
		if d.looks() < 55 {
			t.Errorf("%d reads in a minute: the receiver stalled them", d.looks())
		}
		<-events
		pass(2 * time.Second)
		if e := <-events; e.Dropped < 50 {
			t.Errorf("%d events dropped, want the 50 and more that nobody took", e.Dropped)
		}
	})
}

func TestNewsOfDroppedEventsComeWithTheNext(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		events, _ := r.Subscribe(1)
		pass(30 * time.Minute)
		<-events
		pass(2 * time.Second)
		if e := <-events; len(e.Changes) != 3 || len(e.Verifications) != 3 {
			t.Errorf("after half an hour away: %d changes, %d verdicts, want 3 each", len(e.Changes), len(e.Verifications))
		}
	})
}

func TestWithoutAStoreItWatchesInMemoryAndSaysWhy(t *testing.T) {
	d := newDatabase()
	c := d.config()
	c.Store, c.Leader, c.Gate, c.Memory = nil, nil, nil, "schema shardpilot is not installed"
	play(t, c, func(t *testing.T, r *Runner) {
		pass(5 * time.Second)
		do := func(c control.Command) error {
			c.Queue, c.Actor = "orders", "ann"
			_, err := r.Do(context.Background(), c)
			return err
		}
		if err := do(control.Command{Verb: control.VerbAuto, Max: 4, Accept: true, Enforced: true}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Minute)
		got := decision(t, r, "orders")
		if got.Mode != control.ModeShadow || !got.Pending {
			t.Errorf("watching: mode %s, pending %v (%s); want shadow with a proposal", got.Mode, got.Pending, got.Detail)
		}
		if e, _ := r.Newest(); e.Memory != c.Memory || e.Leader != "" {
			t.Errorf("the event says memory %q, leader %q", e.Memory, e.Leader)
		}
		if err := do(control.Command{Verb: control.VerbOverride, To: 2}); control.ExitCode(err) != 3 {
			t.Errorf("a count was written without a gate: %v", err)
		}
		if err := do(control.Command{Verb: control.VerbPin}); err != nil {
			t.Errorf("a pin in memory: %v", err)
		}
		pass(2 * time.Second)
		if got := decision(t, r, "orders"); got.Reason != control.ReasonPinned {
			t.Errorf("pinned, and the reason is %s", got.Reason)
		}
	})
}

func TestAFollowerWritesNothingAndKnowsWhatTheLeaderDid(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	synctest.Test(t, func(t *testing.T) {
		follower := d.config()
		follower.Leader = leaderFunc(func() control.Leadership { return control.Leadership{Epoch: 1, Name: "db-host"} })
		stop := start(t, d.config(), func(*Runner) {})
		stop2 := start(t, follower, func(r *Runner) {
			pass(12 * time.Minute)
			got := decision(t, r, "orders")
			if got.Reason != control.ReasonNotLeader || got.From < 2 {
				t.Errorf("the follower says %s at %d", got.Reason, got.From)
			}
			for _, e := range d.kinds(control.LogAdopted) {
				t.Errorf("a change of the leader was taken for somebody else's: %s", e.Detail)
			}
			if _, err := r.Do(context.Background(), control.Command{Verb: control.VerbPin, Queue: "orders", Actor: "ann", To: 4}); err != nil {
				t.Errorf("a hand may act without leading: %v", err)
			}
			pass(10 * time.Second)
		})
		if d.count("orders") != 4 {
			t.Errorf("pinned to 4, and the count is %d", d.count("orders"))
		}
		if err := errors.Join(stop(), stop2()); err != nil {
			t.Error(err)
		}
	})
}

type leaderFunc func() control.Leadership

func (f leaderFunc) Leadership() control.Leadership { return f() }

func TestAChangeFromElsewhereIsAdoptedOnce(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	d.crowd["orders"] = 0
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(11 * time.Minute)
		d.set(func() { d.shards["orders"] = 4 })
		pass(time.Minute)
		adopted := d.kinds(control.LogAdopted)
		if len(adopted) != 1 || adopted[0].From != 1 || adopted[0].To != 4 {
			t.Fatalf("the log has %+v, want one adoption 1 to 4", adopted)
		}
	})
}

func TestANewProcessKnowsCooldownsAndWarmsUp(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true, Max: 2})
	synctest.Test(t, func(t *testing.T) {
		stop := start(t, d.config(), func(*Runner) { pass(12 * time.Minute) })
		if err := stop(); err != nil || d.count("orders") != 2 {
			t.Fatalf("%v, %d shards", err, d.count("orders"))
		}
		d.set(func() { d.crowd["orders"] = 0; d.lead.Epoch++ })
		stop = start(t, d.config(), func(r *Runner) {
			pass(45 * time.Minute)
			got := decision(t, r, "orders")
			if got.Reason != control.ReasonReverse || len(d.kinds(control.LogAdopted)) != 0 {
				t.Errorf("after a restart: %s (%s), want the two hours before a step back", got.Reason, got.Detail)
			}
			pass(80 * time.Minute)
		})
		if err := stop(); err != nil || d.count("orders") != 1 {
			t.Errorf("%v; two hours later: %d shards, want 1", err, d.count("orders"))
		}
	})
}

func TestFlappingReasonsDoNotFloodTheLog(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Max: 2})
	play(t, d.config(), func(t *testing.T, _ *Runner) {
		pass(11 * time.Minute)
		for i := range 1200 {
			d.set(func() { d.crowd["orders"] = float64(i % 7 % 3 * 8) })
			pass(time.Second)
		}
		if n := len(d.kinds(control.LogDecision)); n > 25 {
			t.Errorf("%d decisions logged in twenty minutes of flapping", n)
		}
	})
}

func TestAtMostOneChangeIsInFlight(t *testing.T) {
	d := newDatabase()
	for _, q := range []string{"a", "b", "c"} {
		d.shards[q], d.crowd[q] = 1, 16
		d.allow(control.QueuePolicy{Queue: q, Enforced: true})
	}
	d.crowd["b"] = 30
	d.slow = 5 * time.Second
	play(t, d.config(), func(t *testing.T, _ *Runner) {
		pass(10*time.Minute + 40*time.Second)
		changes := d.kinds(control.LogChange)
		if len(changes) != 3 || changes[0].Queue != "b" {
			t.Fatalf("%d steps; want three, the longest queue first", len(changes))
		}
		for i := range 2 {
			if gap := changes[i+1].At.Sub(changes[i].At); gap < d.slow {
				t.Errorf("two changes %v apart, while each takes %v", gap, d.slow)
			}
		}
	})
}

func TestTheFirstEventKnowsTheLog(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	d.memory.pending["orders"] = control.Pending{Queue: "orders", From: 1, To: 2, Generation: 7, Until: time.Now().Add(time.Hour * 1e6)}
	play(t, d.config(), func(t *testing.T, r *Runner) {
		events, _ := r.Subscribe(1)
		e := <-events
		if len(e.Decisions) != 1 || e.Decisions[0].Mode != control.ModeShadow || e.Decisions[0].Step == nil || e.Memory != "database" {
			t.Errorf("the first event says %+v", e)
		}
		if _, err := r.Do(context.Background(), control.Command{Verb: control.VerbReject, Queue: "orders", Actor: "ann", Expect: 7}); err != nil {
			t.Errorf("a command after the first event: %v", err)
		}
	})
}

func TestTheFirstEventComesWithoutALogToo(t *testing.T) {
	d := newDatabase()
	d.down = errDown
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(3 * time.Second)
		if e, ok := r.Newest(); !ok || e.Snapshot == nil || !strings.Contains(e.Memory, "connection refused") {
			t.Errorf("with the store down from the start: %v, %+v", ok, e)
		}
	})
}

func TestANewLeaderReadsTheLogBeforeItWrites(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders", Enforced: true})
	d.crowd["orders"] = 0
	leads := false
	c := d.config()
	c.Reload = 30 * time.Second
	c.Leader = leaderFunc(func() (l control.Leadership) {
		d.set(func() { l = control.Leadership{Leading: leads, Epoch: 1, Name: "bea@x"} })
		return l
	})
	play(t, c, func(t *testing.T, _ *Runner) {
		pass(time.Minute)
		d.set(func() { d.shards["orders"] = 4 })
		pass(35 * time.Second) // the log has been read since, and says nothing of it
		entry := control.LogEntry{Kind: control.LogAdopted, Queue: "orders", From: 1, To: 4, Reason: control.ReasonAdopted, Actor: "elsewhere"}
		if err := d.Save(context.Background(), Batch{Entries: []control.LogEntry{entry}}); err != nil {
			t.Fatal(err)
		}
		d.set(func() { leads = true })
		pass(20 * time.Second)
		if adopted := d.kinds(control.LogAdopted); len(adopted) != 1 {
			t.Errorf("one change from elsewhere is in the log %d times: %+v", len(adopted), adopted)
		}
	})
}

func TestAStepThatTheRulesAllowAgainIsNotLoggedAtEachTick(t *testing.T) {
	d := newDatabase()
	d.allow(control.QueuePolicy{Queue: "orders"})
	play(t, d.config(), func(t *testing.T, r *Runner) {
		pass(14 * time.Minute)
		d.set(func() { d.crowd["orders"] = 0 })
		pass(4 * time.Minute) // the step outlives the lull
		d.set(func() { d.crowd["orders"] = 16 })
		pass(8 * time.Minute)
		got := decision(t, r, "orders")
		if got.Action != control.ActionGrow || !got.Pending {
			t.Fatalf("after the lull: %s, %s, pending %t", got.Action, got.Reason, got.Pending)
		}
		var before control.LogEntry
		for _, e := range d.kinds(control.LogDecision) {
			if e.Action == before.Action && e.Reason == before.Reason {
				t.Errorf("the same mind is in the log twice: %s at %v and at %v", e.Reason, before.At, e.At)
			}
			before = e
		}
	})
}
