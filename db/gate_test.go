package db

import (
	"context"
	"strings"
	"testing"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

var _ loop.Gate = (*Gate)(nil)

func TestGateRaisesAndLowersAndLeavesEverythingElseAlone(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{Storage: `st"or`})
		lanes := func() int {
			return scan[int](t, g.admin, `SELECT count(*)::int FROM "st""or".queue_enqueue_heads e JOIN "st""or".queue_claim_heads USING (queue, priority, enqueue_shard) WHERE queue = $1`, g.queue)
		}
		g.exec(`INSERT INTO awa.queue_meta (queue, paused, paused_by) VALUES ('other', true, 'x')`)
		g.apply(g.own(1, 2), control.OutcomeApplied, "why", "2 lanes made") // no row: 1
		g.exec(`UPDATE awa.queue_meta SET paused = true, paused_by = 'someone' WHERE queue = $1`, g.queue)
		g.apply(g.own(2, 4), control.OutcomeApplied, "4 lanes made")
		g.apply(g.own(4, 2), control.OutcomeApplied)
		if n := lanes(); n != 8 {
			t.Errorf("%d lanes, want 2 priorities of 4", n)
		}
		written := func() string { // where each row is, and by which transaction
			return scan[string](t, g.admin, `SELECT string_agg(ctid || ' ' || xmin, ', ' ORDER BY 1) FROM
				(SELECT ctid::text, xmin::text FROM "st""or".queue_enqueue_heads UNION ALL SELECT ctid::text, xmin::text FROM "st""or".queue_claim_heads) h`)
		}
		before := written()
		if c := g.apply(g.own(2, 4), control.OutcomeApplied); strings.Contains(c.Detail, "lanes made") {
			t.Error("lanes that were there were made again: " + c.Detail)
		}
		if after := written(); after != before || lanes() != 8 {
			t.Errorf("a repeat wrote heads:\n%s\n%s", before, after)
		}
		if !scan[bool](t, g.admin, `SELECT paused AND paused_by = 'someone' FROM awa.queue_meta WHERE queue = $1`, g.queue) ||
			scan[int](t, g.admin, `SELECT enqueue_shards::int FROM awa.queue_meta WHERE queue = 'other'`) != 1 {
			t.Error("another setting or queue changed")
		}
		g.apply(g.hand(4, 64), control.OutcomeApplied, "120 lanes made")
		if e := g.log()[0]; scan[int64](t, g.admin, `SELECT coalesce(epoch, -1) FROM shardpilot.decision WHERE id = $1`, e.ID) != -1 && e.Actor != "controller" {
			t.Errorf("%+v", e)
		}
	})
}

func TestGateRefusesWithTheRuleAndTouchesNothing(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	g := gateAt(t, d, rehearsal.Options{})
	gate := func(lead loop.Leader, mode control.Mode) *Gate {
		return newGate(t, d.URL, lead, GateOptions{Mode: mode})
	}
	with := func(s control.Step, change func(*control.Step)) control.Step { change(&s); return s }
	for _, c := range []struct {
		name  string
		gate  *Gate
		step  control.Step
		words []string
	}{
		{"a shadow step", g.gate, with(g.own(1, 2), func(s *control.Step) { s.Mode = control.ModeShadow }), []string{"not both enforced", "mode shadow"}},
		{"a manual step", g.gate, with(g.own(1, 2), func(s *control.Step) { s.Mode = control.ModeManual }), []string{"not both enforced"}},
		{"a step without a mode", g.gate, with(g.own(1, 2), func(s *control.Step) { s.Mode = "" }), []string{"not both enforced"}},
		{"a shadow process", gate(first, control.ModeShadow), g.own(1, 2), []string{"the process shadow"}},
		{"a follower", gate(leads{Name: "bea@x"}, control.ModeEnforced), g.own(1, 2), []string{"does not lead"}},
		{"an old epoch", gate(leads{Leading: true, Epoch: 7}, control.ModeEnforced), g.own(1, 2), []string{"does not lead"}},
		{"no leader at all", gate(nil, control.ModeEnforced), g.own(1, 2), []string{"does not lead"}},
		{"above the maximum", g.gate, g.own(1, 16), []string{"at its maximum", "may have 8"}},
		{"two steps at once", g.gate, g.own(1, 4), []string{"more than one step"}},
		{"above 64", g.gate, g.hand(1, 65), []string{"1 to 64"}},
		{"below 1", g.gate, g.hand(1, 0), []string{"1 to 64"}},
		{"no change", g.gate, g.hand(1, 1), []string{"1 already"}},
		{"a controller that calls itself a person", g.gate, with(g.hand(1, 2), func(s *control.Step) { s.Actor = "controller" }), []string{"name"}},
		{"a person without a hand", g.gate, with(g.own(1, 2), func(s *control.Step) { s.Actor = "anna" }), []string{"without a hand"}},
		{"lanes that nobody may make", g.gate, with(g.own(1, 2), func(s *control.Step) { s.Provision = false }), []string{"not ready", "4 of 8 heads"}},
		{"another policy", g.gate, with(g.hand(1, 2), func(s *control.Step) { s.Policy.Generation = 5 }), []string{"policy was changed", "anna@bastion"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := *g
			g.t = t
			g.through(c.gate, c.step, control.OutcomeRefused, c.words...)
			if g.lanes() != 2 || g.log()[len(g.log())-1].Pending != 0 {
				t.Errorf("%d lanes", g.lanes())
			}
		})
	}
	c, err := g.gate.Apply(within(t), with(g.hand(1, 2), func(s *control.Step) { s.Actor = "" }))
	wantFault(t, err, control.FaultRefused, "needs the person's name")
	if c != (control.Change{}) || g.count() != 1 {
		t.Errorf("%+v", c)
	}
}

// What operators and Awa left in the database counts, whatever the step says.
func TestGateHonoursWhatStandsInTheDatabase(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	g := gateAt(t, d, rehearsal.Options{})
	g.exec(`CREATE TABLE kept AS SELECT * FROM shardpilot.policy`)
	const back = `UPDATE shardpilot.policy p SET pin_shards = null, pin_by = null, pin_why = null, pause_up_at = null, pause_up_by = null, pause_up_why = null,
		auto = true, enforced = true, accepted_by = k.accepted_by, accepted_at = k.accepted_at, max_shards = 8 FROM kept k WHERE p.queue = k.queue`
	for _, c := range []struct {
		name, set, undo string
		hand            bool // binds people too
		words           []string
	}{
		{"a pin", `UPDATE shardpilot.policy SET pin_shards = 1, pin_by = 'bea@x', pin_why = ''`, back, false, []string{"pinned", "bea@x"}},
		{"a pause", `UPDATE shardpilot.policy SET pause_up_at = now(), pause_up_by = 'bea@x', pause_up_why = ''`, back, false, []string{"paused", "bea@x"}},
		{"shadow", `UPDATE shardpilot.policy SET enforced = false`, back, false, []string{"not both enforced"}},
		{"manual", `UPDATE shardpilot.policy SET enforced = false, auto = false`, back, false, []string{"not both enforced", "manual"}},
		{"nobody accepted", `UPDATE shardpilot.policy SET enforced = false, auto = false, accepted_by = null, accepted_at = null`, back, true, []string{"not accepted"}},
		{"a used-up queue", `INSERT INTO shardpilot.decision (kind, queue, from_shards, to_shards, actor, outcome, at)
			SELECT 'change', queue, 1, 2, 'controller', 'applied', now() - interval '23 hours' FROM shardpilot.policy, generate_series(1, 10)`,
			`DELETE FROM shardpilot.decision`, false, []string{"used up", "may have 10"}},
		{"a used-up database", `INSERT INTO shardpilot.decision (kind, queue, from_shards, to_shards, actor, outcome, at)
			SELECT 'change', 'other' || n, 1, 2, 'controller', 'applied', now() - interval '59 minutes' FROM generate_series(1, 12) n`,
			`DELETE FROM shardpilot.decision`, false, []string{"used up", "may have 12"}},
		{"a transition", `UPDATE awa.storage_transition_state SET state = 'mixed_transition', current_engine = 'canonical', prepared_engine = 'queue_storage'`,
			`UPDATE awa.storage_transition_state SET state = 'active', current_engine = 'queue_storage', prepared_engine = null`, true, []string{"in transition"}},
		{"an unknown state", `UPDATE awa.storage_transition_state SET state = 'prepared', current_engine = 'canonical', prepared_engine = 'queue_storage'`,
			`UPDATE awa.storage_transition_state SET state = 'active', current_engine = 'queue_storage', prepared_engine = null`, true, nil},
		{"an old Awa", `UPDATE awa.schema_version SET version = 38`, `UPDATE awa.schema_version SET version = 43`, true, []string{"too old"}},
		{"a newer Awa", `UPDATE awa.schema_version SET version = 44`, `UPDATE awa.schema_version SET version = 43`, true, []string{"newer"}},
		{"a probe that fails", `ALTER FUNCTION awa.reserve_enqueue_seq RENAME TO elsewhere`,
			`ALTER FUNCTION awa.elsewhere RENAME TO reserve_enqueue_seq`, true, []string{"reserve_enqueue_seq"}},
		{"a read-only database", `ALTER DATABASE ` + ident(d.Name) + ` SET default_transaction_read_only = on`,
			`ALTER DATABASE ` + ident(d.Name) + ` RESET default_transaction_read_only`, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := *g
			g.t = t
			run(t, g.admin, c.set)
			gate := newGate(t, d.URL, first, GateOptions{Mode: control.ModeEnforced})
			steps := []control.Step{g.own(1, 2)}
			if c.hand {
				steps = append(steps, g.hand(1, 2))
			}
			for _, s := range steps {
				if strings.Contains(c.set, "read_only") {
					_, err := gate.Apply(within(t), s)
					wantFault(t, err, control.FaultRefused, "read-only", "not changed", "could not be logged")
					continue
				}
				g.through(gate, s, control.OutcomeRefused, c.words...)
			}
			if g.lanes() != 2 || g.count() != 1 {
				t.Errorf("%d lanes", g.lanes())
			}
			run(t, g.admin, c.undo)
		})
	}
	t.Run("a running migration", func(t *testing.T) {
		g := *g
		g.t = t
		run(t, g.admin, "SELECT pg_advisory_lock((1096237407::int8 << 32) | 1296648018)")
		g.apply(g.hand(1, 2), control.OutcomeRefused, "migration lock")
		run(t, g.admin, "SELECT pg_advisory_unlock_all()")
	})
	t.Run("a newer Awa that was allowed", func(t *testing.T) {
		g := *g
		g.t = t
		run(t, g.admin, `UPDATE awa.schema_version SET version = 44`)
		g.through(newGate(t, d.URL, first, GateOptions{Mode: control.ModeEnforced, AllowNewerAwa: true}), g.own(1, 2), control.OutcomeApplied)
		run(t, g.admin, `UPDATE awa.schema_version SET version = 43`)
	})
	t.Run("a queue without lanes", func(t *testing.T) {
		g := *g
		g.t = t
		s := g.hand(1, 2)
		g.queue, s.Queue, s.Policy = "none", "none", control.QueuePolicy{}
		g.apply(s, control.OutcomeRefused, "no lanes")
		if n := scan[int](t, g.admin, `SELECT count(*)::int FROM awa.queue_meta WHERE queue = 'none'`); n != 0 {
			t.Error("a row was made")
		}
	})
}

func TestGateIsSupersededByWhoeverWasFaster(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{})
		stale := g.own(1, 2)
		g.apply(g.hand(1, 2), control.OutcomeApplied)
		g.apply(stale, control.OutcomeSuperseded, "2 now, not 1", "anna@bastion set it at")
		g.exec(`UPDATE awa.queue_meta SET enqueue_shards = 3 WHERE queue = $1`, g.queue)
		generation := g.propose(2, 4)
		s := g.own(2, 4)
		s.Pending = generation
		g.apply(s, control.OutcomeSuperseded, "3 now, not 2", "elsewhere")
		if e := g.log()[2]; e.Pending != generation || g.pending() != 0 {
			t.Errorf("a step for a count that is no more waits on: %+v", e)
		}

		// An edit by hand that is committed between the look and the write.
		edit := d.Connect(t)
		run(t, edit, "BEGIN")
		if _, err := edit.Exec(within(t), `UPDATE awa.queue_meta SET enqueue_shards = 6 WHERE queue = $1`, g.queue); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			awaitBlocked(t, d, 1)
			_, err := edit.Exec(context.Background(), "COMMIT")
			done <- err
		}()
		c, err := g.gate.Apply(within(t), g.hand(3, 6))
		if err != nil || <-done != nil {
			t.Fatal(err)
		}
		g.check(c, g.hand(3, 6), control.OutcomeSuperseded, "6 now, not 3", "elsewhere", "8 of 8 missing lanes were made before that", "nobody uses them yet")
		if c.Outcome == control.OutcomeApplied || g.count() != 6 {
			t.Errorf("count %d", g.count())
		}
	})
}
