package act

import (
	"slices"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestShrinksOneStepAtATimeAndOnlyWhenDrained(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			k := newDesk(t, d)
			// One session is in nobody's way; in batches it takes every lane in turn.
			_, stop := k.load(rehearsal.Spec{Keep: true,
				Queues: []rehearsal.Queue{{Name: hot, Shards: 4}},
				Producers: []rehearsal.Producers{{Queue: hot, Application: "trickle", Count: 1, Batch: 2,
					Hold: 20 * time.Millisecond, Think: 60 * time.Millisecond}},
			})
			_, crowd := k.load(rehearsal.Spec{Keep: true, Producers: []rehearsal.Producers{{Queue: hot, Count: 12, Hold: 20 * time.Millisecond, Spread: 4}}})
			// The workers' first rush falls on the first step down, and is not its doing.
			p := brisk()
			p.Settle = 10 * time.Second
			s := k.hire("anna", p, control.ModeEnforced).settled()
			s.allow(4, true)
			s.await("contention", func(_ control.Decision, r control.Reading) bool { return r.Share.Or(0) > 0.5 })
			busy := crowd().Enqueued

			// It is calm, and nobody works: the upper lanes hold jobs.
			only := func(d control.Decision, _ control.Reading) bool {
				return slices.ContainsFunc(d.Blockers, func(b control.Blocker) bool { return b.Rule == control.ReasonNotDrained }) &&
					!slices.ContainsFunc(d.Blockers, func(b control.Blocker) bool {
						return slices.Contains([]control.Reason{control.ReasonNotCalm, control.ReasonNotCalmYet, control.ReasonBusySlice, control.ReasonRateFalling, control.ReasonUnknownSignal}, b.Rule)
					})
			}
			d1, r1 := s.await("calm with jobs above", only)
			if drained, ok := r1.DrainedAbove(2); d1.Action != control.ActionHold || !ok || drained {
				t.Errorf("with jobs on the upper lanes: %s, drained %v (known %v)", d1.Detail, drained, ok)
			}
			time.Sleep(2 * s.policy.ShrinkSlice)
			if got := k.log(control.LogChange); len(got) > 0 || k.count() != 4 {
				t.Fatalf("changed with jobs on the upper lanes:\n%s", k.changes())
			}
			began := s.server()
			w, rest := k.load(rehearsal.Spec{Keep: true, Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 2}}})
			k.awaitLog("the first step down", applied(4, 2))
			k.awaitLog("the second", applied(2, 1))
			sent := stop().Enqueued + busy
			for end := time.Now().Add(actPatience); w.Stats().Completed < sent && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			did := rest().Completed

			if k.count() != 1 {
				t.Errorf("count %d", k.count())
			}
			oneByOne(t, k, s.policy.ShrinkCooldown, s.policy.Settle)
			for _, e := range k.log(control.LogChange) {
				if e.At.Before(began) || e.Action != control.ActionShrink || e.Actor != "controller" {
					t.Errorf("workers began at %v: %s", began, story(e))
				}
			}
			rows := scan[int](t, k.admin, `SELECT count(*)::int FROM awa.ready_entries WHERE queue = $1`, hot)
			done := scan[int](t, k.admin, `SELECT count(*)::int FROM awa.rehearsal_done JOIN awa.ready_entries USING (job_id)`)
			if uint64(rows) != sent || uint64(done) != sent || did != sent {
				t.Errorf("%d enqueued, %d rows, %d of them done, %d completed", sent, rows, done, did)
			}
			t.Logf("%d jobs, each once\n%s", sent, k.changes())
		})
	}
}
