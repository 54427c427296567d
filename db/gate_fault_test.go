package db

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// whole checks that a change happened with everything that belongs to it, or
// not at all, and that the log says so.
func (g *gateScene) whole(s control.Step, c control.Change) {
	g.t.Helper()
	log, pinned := g.log(), g.policy().Pin != nil
	if len(log) != 1 || changeOf(log[0]) != c {
		g.t.Errorf("the gate said %+v, the log %+v", c, log)
		return
	}
	happened := c.Outcome == control.OutcomeApplied
	if happened != (g.count() == s.To) || happened != pinned || happened != (g.pending() == 0) || !happened && g.count() != s.From {
		g.t.Errorf("half a change: %+v; count %d, pinned %v, %d pending", c, g.count(), pinned, g.pending())
	}
	if happened != (log[0].Pending == s.Pending) {
		g.t.Errorf("pending %d of %d: %+v", log[0].Pending, s.Pending, log[0])
	}
	if happened == (c.Outcome == control.OutcomeFailed) || !happened && !strings.Contains(c.Detail, "nothing was written") {
		g.t.Errorf("%+v", c)
	}
}

// pinning is a person's step that uses a pending step up and saves a policy.
func (g *gateScene) pinning(from, to int) control.Step {
	s := g.hand(from, to)
	s.Pending, s.Save = g.propose(from, to), true
	s.Policy.Pin = &control.Pin{Shards: to, By: s.Actor, Why: "incident"}
	return s
}

func TestEveryFaultLeavesAWholeChangeOrNone(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.On(t, "18"), rehearsal.Options{})
	g.strikes("the connection ends", 1, func() failure { return cut })
	g.strikes("the answer is lost", 2, func() failure { return swallow })
}

func TestAKilledBackendLeavesAWholeChangeOrNone(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.On(t, "17"), rehearsal.Options{})
	killer := g.d.Connect(t)
	g.strikes("the backend is terminated", 1, func() failure {
		_, err := killer.Exec(context.Background(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'shardpilot'`)
		if err != nil {
			t.Error(err)
		}
		return none
	})
}

// strikes has a fault strike at the first statement of a change, then at the
// second, and so on past the last. As many changes must come through as said:
// the one without a fault, and the one whose commit was only not answered.
func (g *gateScene) strikes(name string, through int, fault func() failure) {
	g.t.Helper()
	p, url := proxied(g.t, g.d.URL)
	outcomes := map[control.Outcome]int{}
	struck := true
	for at := 1; struck; at++ {
		g.fresh(fmt.Sprintf("%s %d", name, at))
		gate := newGate(g.t, url, first, GateOptions{Mode: control.ModeEnforced})
		s := g.pinning(1, 2)
		struck = false
		p.arm(func(n int, _ string) failure {
			if n != at || struck {
				return none
			}
			struck = true
			return fault()
		})
		c, err := gate.Apply(within(g.t), s)
		p.arm(nil)
		if err != nil {
			g.t.Fatalf("%s at statement %d: %v", name, at, err)
		}
		g.whole(s, c)
		outcomes[c.Outcome]++
		if err := gate.Close(within(g.t)); err != nil {
			g.t.Log(err)
		}
	}
	g.t.Logf("%s: %v", name, outcomes)
	if outcomes[control.OutcomeApplied] != through || outcomes[control.OutcomeFailed] < 40 || len(outcomes) != 2 {
		g.t.Errorf("%s: the faults did not hit as they should: %v", name, outcomes)
	}
}

// A commit that never reaches the server, and a network that does not say so.
func TestACommitThatVanishesIsLookedUpWhenItsTransactionIsOver(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	p, through := proxied(t, g.d.URL)
	gate := newGate(t, through, first, GateOptions{Mode: control.ModeEnforced})
	commits := 0
	ctx, giveUp := context.WithCancel(within(t))
	defer giveUp()
	p.arm(func(_ int, text string) failure {
		if !strings.HasPrefix(text, "commit") {
			return none
		}
		if commits++; commits == 3 { // after the look and the lanes
			time.AfterFunc(time.Second, giveUp) // no answer comes, however long we wait
			return vanish
		}
		return none
	})
	s := g.pinning(1, 2)
	c, err := gate.Apply(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	p.arm(nil)
	g.whole(s, c)
	g.check(c, s, control.OutcomeFailed, "broke at the commit", "nothing was written")
	if commits < 3 || scan[int](t, g.admin, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`) != 0 {
		t.Errorf("%d commits, or the old transaction is still open", commits)
	}
	c, err = gate.Apply(within(t), s)
	if err != nil || c.Outcome != control.OutcomeApplied {
		t.Errorf("tried again: %+v %v", c, err)
	}
}

func TestWhenNobodyCanBeAskedTheErrorSaysThatItIsNotKnown(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	p, through := proxied(t, g.d.URL)
	gate := newGate(t, through, first, GateOptions{Mode: control.ModeEnforced})
	gate.doubt = 2 * time.Second
	commits, gone := 0, false
	p.arm(func(_ int, text string) failure {
		if gone {
			return cut
		}
		if !strings.HasPrefix(text, "commit") {
			return none
		}
		commits++
		gone = commits == 3
		if gone {
			return swallow
		}
		return none
	})
	c, err := gate.Apply(within(t), g.hand(1, 2))
	wantFault(t, err, control.FaultFailed, "not known", "1→2", "shardpilot log")
	if c != (control.Change{}) || commits != 3 || g.count() != 2 {
		t.Errorf("%+v after %d commits, count %d", c, commits, g.count())
	}
	p.arm(nil)
	g.through(gate, g.hand(1, 2), control.OutcomeSuperseded, "2 now, not 1", "anna@bastion set it at")
}

func TestALockThatIsHeldTooLongFailsAndRollsBack(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	g := gateAt(t, d, rehearsal.Options{})
	for _, c := range []struct {
		name, lock string
		args       []any
		words      []string
	}{
		{"the install key", `SELECT pg_advisory_xact_lock(hashtextextended('awa:' || $1 || ':2:3', 0))`, []any{g.queue}, []string{"held a lock for too long", "6 lanes in the making, rolled back"}},
		{"the table of heads", `LOCK TABLE awa.queue_enqueue_heads IN SHARE MODE`, nil, []string{"6 lanes in the making, rolled back"}},
		{"the row of the count", `INSERT INTO awa.queue_meta (queue) VALUES ($1)`, []any{g.queue}, []string{"held a lock for too long", "6 of 6 missing lanes were made before that"}},
	} {
		holder := d.Connect(t)
		run(t, holder, "BEGIN")
		if _, err := holder.Exec(within(t), c.lock, c.args...); err != nil {
			t.Fatal(err)
		}
		was := g.lanes()
		s := g.hand(1, 4)
		ch := g.apply(s, control.OutcomeFailed, append(c.words, "nothing was written")...)
		if strings.Contains(ch.Detail, "rolled back") && g.lanes() != was {
			t.Errorf("%s: %d lanes were left", c.name, g.lanes()-was)
		}
		run(t, holder, "ROLLBACK")
	}
	g.apply(g.hand(1, 4), control.OutcomeApplied)
}
