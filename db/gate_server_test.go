package db

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestGateRefusesAStandbyUntilItIsPromoted(t *testing.T) {
	noEnv(t)
	d := pgtest.NewServer(t, "17", nil)
	g := gateAt(t, d, rehearsal.Options{})
	s := g.hand(1, 2)
	data := scan[string](t, g.admin, "SHOW data_directory")
	if err := d.Server.StopServer(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Server.StartAgain(within(t)); err != nil {
		t.Fatal(err)
	}
	g.admin = d.Connect(t)
	_, err := g.gate.Apply(within(t), s)
	wantFault(t, err, control.FaultRefused, "was not changed (refused)", "standby", "could not be logged")
	if g.count() != 1 || g.lanes() != 2 {
		t.Errorf("count %d, %d lanes", g.count(), g.lanes())
	}
	if !scan[bool](t, g.admin, "SELECT pg_promote(true, 60)") {
		t.Fatal("not promoted")
	}
	g.apply(s, control.OutcomeApplied)
}

func TestGateWithoutAServerSaysThatNothingWasWritten(t *testing.T) {
	noEnv(t)
	d := pgtest.NewServer(t, "17", nil)
	g := gateAt(t, d, rehearsal.Options{})
	s := g.hand(1, 2)
	g.apply(s, control.OutcomeApplied)
	if err := d.Server.StopServer(within(t)); err != nil {
		t.Fatal(err)
	}
	s.From, s.To = 2, 4
	_, err := g.gate.Apply(within(t), s)
	wantFault(t, err, control.FaultNoConnection, "was not changed (failed)", "nothing was written", "could not be logged")
	if err := d.Server.StartAgain(within(t)); err != nil {
		t.Fatal(err)
	}
	g.admin = d.Connect(t)
	g.apply(g.hand(2, 4), control.OutcomeApplied)
}

// Nothing in the gate relies on a session.
func TestGateWorksBehindATransactionPooler(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	g := gateAt(t, d, rehearsal.Options{})
	gate := newGate(t, d.Bouncer(t, "transaction"), nil, GateOptions{})
	g.through(gate, g.hand(1, 4), control.OutcomeApplied)
	g.through(gate, g.hand(4, 2), control.OutcomeApplied)
	if who := scan[string](t, g.admin, "SELECT coalesce(string_agg(DISTINCT usename, ','), '') FROM pg_stat_activity WHERE datname = current_database()"); who != "postgres" {
		t.Errorf("sessions of %s", who)
	}
}

// The widest raise there is fits into the time a runner gives the gate.
func TestTheWidestRaiseIsMadeInGoodTime(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	if err := rehearsal.Provision(within(t), g.admin, g.queue, 1, 1, 2, 3, 4); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	g.apply(g.hand(1, 64), control.OutcomeApplied, "252 lanes made")
	raised := time.Since(began)
	began = time.Now()
	g.apply(g.hand(64, 1), control.OutcomeApplied)
	t.Logf("1→64 over 4 priorities: %s; 64→1: %s", raised, time.Since(began))
	if raised > storeLimit {
		t.Errorf("took %s", raised)
	}
}
