package db

import (
	"context"
	"errors"
	"sync"
	"testing"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestTwoHandsOnOnePendingStepHaveOneEffect(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{})
		approve := g.hand(1, 2)
		approve.Pending, approve.Entry.Verb = g.propose(1, 2), control.VerbApprove
		other := approve
		other.Actor = "bea@desk"
		override := g.hand(1, 8)
		override.Actor = "cleo@desk"

		changes := make([]control.Change, 3)
		errs := make([]error, 3)
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i, s := range []control.Step{approve, other, override} {
			gate := newGate(t, d.URL, nil, GateOptions{})
			all.Go(func() {
				<-begin
				changes[i], errs[i] = gate.Apply(within(t), s)
			})
		}
		close(begin)
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		winner := -1
		for i, c := range changes {
			if c.Outcome == control.OutcomeApplied {
				if winner >= 0 {
					t.Fatalf("two effects: %+v", changes)
				}
				winner = i
			}
		}
		if winner < 0 || g.count() != changes[winner].To {
			t.Fatalf("count %d: %+v", g.count(), changes)
		}
		for i, s := range []control.Step{approve, other, override} {
			if i != winner { // told who was faster, and when
				g.check(changes[i], s, control.OutcomeSuperseded, changes[winner].Actor, stampOf(changes[winner].At))
			}
		}
		if log := g.log(); len(log) != 3 || g.pending() != 0 {
			t.Errorf("%d pending, log %+v", g.pending(), log)
		}
	})
}

func TestAStepThatIsOverIsSupersededByWhoeverEndedIt(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	s := g.hand(1, 2)
	s.Pending = g.propose(1, 2)
	store := newStore(t, g.d.URL, first)
	save(t, store, loop.Batch{
		Entries: []control.LogEntry{{Kind: control.LogAct, Queue: g.queue, Actor: "bea@desk", Verb: control.VerbReject, Pending: s.Pending}},
		UseUp:   []loop.Used{{Queue: g.queue, Generation: s.Pending, Must: true}},
	})
	g.apply(s, control.OutcomeSuperseded, "bea@desk ended it", "reject")

	s.Pending = g.propose(1, 2)
	g.exec(`UPDATE shardpilot.pending SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'`)
	g.apply(s, control.OutcomeSuperseded, "in time", "ended at")
	s.Pending = g.propose(1, 4)
	g.apply(s, control.OutcomeSuperseded, "the pending step is 1→4, not 1→2")

	// A refusal leaves it: it may be taken when what stood in the way is gone.
	s = g.own(1, 2)
	s.Pending = g.propose(1, 2)
	g.through(newGate(t, g.d.URL, leads{}, GateOptions{Mode: control.ModeEnforced}), s, control.OutcomeRefused, "does not lead: nobody does yet")
	if g.pending() != 1 {
		t.Error("a refused step used the pending step up")
	}
	g.apply(s, control.OutcomeApplied)
	if g.pending() != 0 {
		t.Error("the pending step outlived its change")
	}
}

func TestAPinIsSavedWithItsChangeOrNotAtAll(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	s := g.pinning(1, 4)
	late := s
	late.Pending = 0
	g.apply(s, control.OutcomeApplied)
	p := g.policy()
	if p.Pin == nil || p.Pin.Shards != 4 || p.UpdatedBy != "anna@bastion" || p.Generation != s.Policy.Generation+1 {
		t.Errorf("%+v", p)
	}
	late.Policy.Pin.Shards = 2
	late.From, late.To, late.Drained = 4, 2, true
	g.apply(late, control.OutcomeRefused, "policy was changed", "anna@bastion")
	if g.policy().Pin.Shards != 4 {
		t.Error("the refused pin was saved")
	}

	// The first policy of a queue, with the acceptance in it.
	g.queue = "new"
	if err := rehearsal.Provision(within(t), g.admin, g.queue, 1); err != nil {
		t.Fatal(err)
	}
	s = control.Step{Queue: "new", From: 1, To: 2, Actor: "anna@bastion", Hand: true, Mode: control.ModeManual, Provision: true,
		Policy: control.QueuePolicy{Queue: "new"}, Entry: control.LogEntry{Reason: control.ReasonOverride, Verb: control.VerbOverride}}
	g.apply(s, control.OutcomeRefused, "not accepted")
	s.Save, s.Policy.AcceptedBy, s.Policy.AcceptedAt = true, "anna@bastion", g.log()[0].At
	g.apply(s, control.OutcomeApplied)
	if p := g.policy(); !p.Accepted() || p.Auto || p.Generation != 1 {
		t.Errorf("%+v", p)
	}
}

// One change is in flight for the whole database.
func TestTheControllerDoesNotQueueBehindAnotherChange(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	writer := g.d.Connect(t)
	run(t, writer, "BEGIN")
	if _, err := writer.Exec(within(t), query("gate/lock"), lockClass, lockGate); err != nil {
		t.Fatal(err)
	}
	g.apply(g.own(1, 2), control.OutcomeRefused, "a change is being written")
	done := make(chan error, 1)
	go func() {
		awaitBlocked(t, g.d, 1)
		_, err := writer.Exec(context.Background(), "COMMIT")
		done <- err
	}()
	g.apply(g.hand(1, 2), control.OutcomeApplied) // a person waits a moment
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestTheControllersChangesCarryTheirEpoch(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	g.exec(`UPDATE shardpilot.leader SET epoch = 7, holder = 'pilot', host = 'bastion', pid = 5`)
	gate := newGate(t, g.d.URL, leads{Leading: true, Epoch: 7}, GateOptions{Mode: control.ModeEnforced})
	g.through(gate, g.own(1, 2), control.OutcomeApplied)
	if e := scan[int64](t, g.admin, `SELECT epoch FROM shardpilot.decision ORDER BY id DESC LIMIT 1`); e != 7 {
		t.Errorf("epoch %d", e)
	}
	g.through(newGate(t, g.d.URL, leads{Leading: true, Epoch: 6}, GateOptions{Mode: control.ModeEnforced}), g.own(2, 4),
		control.OutcomeRefused, "pilot@bastion[5] does")
	// A new leader waits until the change that was made under the old one is over.
	holder := g.d.Connect(t)
	run(t, holder, "BEGIN")
	run(t, holder, query("store/epoch"))
	_, err := g.admin.Exec(within(t), `SET lock_timeout = 100; UPDATE shardpilot.leader SET epoch = epoch + 1`)
	if !isServer(err) {
		t.Errorf("the epoch changed under a change: %v", err)
	}
	run(t, holder, "ROLLBACK")
}

// Whatever isolation the database gives to those who ask for none.
func TestALookAfterAWaitSeesWhatWasCommittedMeanwhile(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	g.apply(g.hand(1, 2), control.OutcomeApplied)
	s := g.hand(2, 1)
	g.exec("ALTER DATABASE " + ident(g.d.Name) + " SET default_transaction_isolation = 'repeatable read'")
	gate := newGate(t, g.d.URL, first, GateOptions{Mode: control.ModeEnforced}) // connects from here on
	writer := g.d.Connect(t)
	run(t, writer, "BEGIN ISOLATION LEVEL READ COMMITTED")
	if _, err := writer.Exec(within(t), query("gate/lock"), lockClass, lockGate); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		awaitBlocked(t, g.d, 1)
		_, err := writer.Exec(context.Background(), `UPDATE shardpilot.policy SET generation = generation + 1, updated_by = 'bea@desk' WHERE queue = $1`, g.queue)
		if err == nil {
			_, err = writer.Exec(context.Background(), "COMMIT")
		}
		done <- err
	}()
	g.through(gate, s, control.OutcomeRefused, "policy was changed", "bea@desk")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
