package act

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// orderKeys are enough that some of them move to another shard and some stay.
const orderKeys = 24

// enqueueRounds enqueues rounds jobs of every ordering key, each key by one
// session, so that the order of a key is that of its numbers.
func (k *desk) enqueueRounds(phase string, rounds int) {
	k.t.Helper()
	const sessions = 4
	var all sync.WaitGroup
	errs := make([]error, sessions)
	for s := range sessions {
		conn := k.d.Connect(k.t)
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), actPatience)
			defer cancel()
			for n := range rounds {
				for key := s; key < orderKeys; key += sessions {
					_, err := conn.Exec(ctx, `SELECT awa.insert_job_compat(p_kind => 'ordered', p_queue => $1, p_ordering_key => convert_to($2, 'UTF8'),
						p_args => jsonb_build_object('phase', $3::text, 'key', $2, 'n', $4::int))`, hot, fmt.Sprintf("customer %d", key), phase, n)
					if err != nil {
						errs[s] = err
						return
					}
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			k.t.Fatal(err)
		}
	}
}

// inversions counts the jobs of a phase that a worker got after a later one of
// the same key, and the jobs of the phase that are done.
func (k *desk) inversions(phase string) (inverted, done int) {
	k.t.Helper()
	err := k.admin.QueryRow(within(k.t), `
		WITH got AS (
		    SELECT e.args->>'key' AS key, (e.args->>'n')::int AS n,
		           row_number() OVER (ORDER BY d.claimed_at, d.enqueue_shard, d.lane_seq) AS turn
		      FROM awa.rehearsal_done d JOIN awa.ready_entries e USING (job_id) WHERE e.args->>'phase' = $1),
		seen AS (SELECT n, max(n) OVER (PARTITION BY key ORDER BY turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM got)
		SELECT count(*) FILTER (WHERE before > n)::int, count(*)::int FROM seen`, phase).Scan(&inverted, &done)
	if err != nil {
		k.t.Fatal(err)
	}
	return inverted, done
}

// work lets one worker run until every job of a phase is done.
func (k *desk) work(phase string, jobs int) {
	k.t.Helper()
	_, stop := k.load(rehearsal.Spec{Keep: true, Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1, Batch: 256}}})
	for deadline := time.Now().Add(actPatience); ; time.Sleep(20 * time.Millisecond) {
		if _, done := k.inversions(phase); done == jobs {
			break
		}
		if time.Now().After(deadline) {
			k.t.Fatalf("phase %s was not worked off", phase)
		}
	}
	stop()
}

// A key keeps its order as long as the count stays. While the rows from before
// a change drain it may not, as many times as are counted here, and what tells
// of it is that the reading is not drained above the count.
func TestOrderOfAKeyHoldsAtAConstantCountAndBreaksOnlyWhileDraining(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			k := newDesk(t, d)
			k.load(rehearsal.Spec{Keep: true, Queues: []rehearsal.Queue{{Name: hot, Shards: 4}}})
			s := k.hire("anna", brisk(), control.ModeShadow).settled()
			s.allow(8, false)
			jobs := func(rounds int) int { return rounds * orderKeys }

			k.enqueueRounds("before", 20)
			k.work("before", jobs(20))
			if bad, _ := k.inversions("before"); bad != 0 {
				t.Errorf("%d inversions at a constant count", bad)
			}
			drained := func(want bool) func(control.Decision, control.Reading) bool {
				return func(_ control.Decision, r control.Reading) bool {
					d, ok := r.DrainedAbove(r.Shards)
					return ok && d == want && r.Shards == 2
				}
			}

			// Half of the jobs before the change and half after it, then one worker.
			if got := s.ask(control.Command{Verb: control.VerbOverride, From: 4, To: 2, Why: "an empty queue"}); got.Change.Outcome != control.OutcomeApplied {
				t.Fatalf("lowering an empty queue: %+v", got.Change)
			}
			s.await("drained", drained(true))
			if got := s.ask(control.Command{Verb: control.VerbOverride, From: 2, To: 4, Why: "up again"}); got.Change.Outcome != control.OutcomeApplied {
				t.Fatalf("%+v", got.Change)
			}
			s.await("four", func(_ control.Decision, r control.Reading) bool { return r.Shards == 4 })
			half(t, k, s)
			_, r := s.await("draining", drained(false))
			if r.HighestShard != 4 {
				t.Errorf("%d lanes exist", r.HighestShard)
			}
			k.work("during", jobs(20))
			broken, _ := k.inversions("during")
			if broken == 0 {
				t.Error("no inversion around the change: the measurement cannot tell order from disorder")
			}
			s.await("drained again", drained(true))

			k.enqueueRounds("after", 20)
			k.work("after", jobs(20))
			if bad, _ := k.inversions("after"); bad != 0 {
				t.Errorf("%d inversions after the drain", bad)
			}
			t.Logf("inversions of %d jobs each: 0 before, %d while draining, 0 after", jobs(20), broken)
		})
	}
}

// half enqueues ten rounds, lowers the count over them by force, and enqueues
// ten more whose numbers go on.
func half(t *testing.T, k *desk, s *pilot) {
	t.Helper()
	// The lanes that stay come first, so that a worker gets what moves to them
	// before what it is overtaking.
	for shard := range 2 {
		if _, err := k.admin.Exec(within(t), `SELECT awa.insert_job_compat(p_kind => 'ordered', p_queue => $1, p_args => '{"phase": "first"}',
			p_ordering_key => convert_to((SELECT min(args->>'key') FROM awa.ready_entries WHERE args->>'phase' = 'before' AND enqueue_shard = $2), 'UTF8'))`, hot, shard); err != nil {
			t.Fatal(err)
		}
	}
	k.enqueueRounds("during", 10)
	refused := s.ask(control.Command{Verb: control.VerbOverride, From: 4, To: 2, Why: "not yet"})
	if refused.Change == nil || refused.Change.Outcome != control.OutcomeRefused {
		t.Errorf("lowered over jobs without force: %+v", refused.Change)
	}
	forced := s.ask(control.Command{Verb: control.VerbOverride, From: 4, To: 2, Force: true, Why: "forced"})
	if forced.Change == nil || forced.Change.Outcome != control.OutcomeApplied {
		t.Fatalf("%+v", forced.Change)
	}
	if _, err := k.admin.Exec(within(t), `UPDATE awa.ready_entries SET args = args || jsonb_build_object('n', (args->>'n')::int - 10) WHERE args->>'phase' = 'during'`); err != nil {
		t.Fatal(err)
	}
	k.enqueueRounds("during", 10)
}
