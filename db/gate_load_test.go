package db

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// soakEnv lengthens the flips under load, as in SHARDPILOT_GATE_SOAK=10m.
const soakEnv = "SHARDPILOT_GATE_SOAK"

func soakFor(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv(soakEnv)
	if text == "" {
		return 7 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", soakEnv, err)
	}
	return d
}

// produce lets SQL producers enqueue into the scene's queue until stop, which
// gives what they did.
func (g *gateScene) produce(sessions int) (r *rehearsal.Running, stop func() rehearsal.Stats) {
	g.t.Helper()
	all := rehearsal.Producers{Queue: g.queue, Count: sessions, Priorities: []int{1, 2}}
	if sessions <= 16 { // more meet every lane by chance
		all.Spread = 8
	}
	r, err := rehearsal.Run(context.Background(), g.d.URL, rehearsal.Spec{Producers: []rehearsal.Producers{all}, Keep: true})
	if err != nil {
		g.t.Fatal(err)
	}
	stop = func() rehearsal.Stats {
		g.t.Helper()
		if err := r.Stop(within(g.t)); err != nil {
			g.t.Error(err)
		}
		return r.Stats()
	}
	eventually(g.t, "every producer at work", func() bool { return r.Stats().Enqueued > uint64(4*sessions) || len(r.Stats().Errors) > 0 })
	return r, stop
}

// topShard is the highest shard that the queue has rows of.
func (g *gateScene) topShard() int {
	g.t.Helper()
	return scan[int](g.t, g.admin, `SELECT coalesce(max(enqueue_shard), 0)::int FROM awa.ready_entries WHERE queue = $1`, g.queue)
}

// flips takes a queue through counts while producers enqueue.
var flips = []int{2, 4, 8, 1}

func TestNoEnqueueLandsOnALaneThatIsNotThere(t *testing.T) {
	noEnv(t)
	for _, c := range []struct {
		version   string
		producers int
	}{{"17", 16}, {"18", 64}} {
		t.Run(fmt.Sprintf("pg%s with %d producers", c.version, c.producers), func(t *testing.T) {
			g := gateAt(t, pgtest.On(t, c.version), rehearsal.Options{})
			until := time.Now().Add(soakFor(t))
			var rounds, enqueued, highest int
			for ; rounds < 2 || time.Now().Before(until); rounds++ {
				g.fresh(fmt.Sprintf("queue %d", rounds)) // lanes are for ever, so each round has its own
				r, stop := g.produce(c.producers)
				from := 1
				for _, to := range flips {
					s := g.hand(from, to)
					s.Drained = false // nobody works here; the person forced it
					g.apply(s, control.OutcomeApplied)
					seen := r.Stats().Enqueued
					eventually(t, "jobs under the new count", func() bool {
						return r.Stats().Enqueued > seen+uint64(2*c.producers) || len(r.Stats().Errors) > 0
					})
					from = to
				}
				s := stop()
				if len(s.Errors) > 0 || s.Uncertain > 0 {
					t.Fatalf("round %d: producers failed: %v", rounds, s.Errors)
				}
				enqueued, highest = enqueued+int(s.Enqueued), max(highest, g.topShard())
			}
			if highest != 7 {
				t.Errorf("the highest shard used is %d: the counts never reached the producers", highest)
			}
			t.Logf("%d rounds of %v, %d jobs, no error", rounds, flips, enqueued)
		})
	}
}

// The test above proves nothing unless what it watches for happens without the
// gate.
func TestWithoutLanesProducersFail(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	for round := range 50 {
		g.fresh(fmt.Sprintf("queue %d", round))
		r, stop := g.produce(16)
		if err := rehearsal.SetShards(within(t), g.admin, g.queue, 8); err != nil {
			t.Fatal(err)
		}
		seen := r.Stats().Enqueued
		eventually(t, "jobs under the new count", func() bool {
			return r.Stats().Enqueued > seen+64 || len(r.Stats().Errors) > 0
		})
		if s := stop(); s.Errors["23505"] > 0 {
			t.Logf("round %d: %v", round, s.Errors)
			return
		}
	}
	t.Fatal("50 raises without lanes, and not one producer failed")
}

func TestRowsAboveALoweredCountDrainOnceEach(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{})
		r, stop := g.produce(8)
		g.apply(g.hand(1, 4), control.OutcomeApplied)
		eventually(t, "jobs on the upper lanes", func() bool {
			return scan[int](t, g.admin, `SELECT count(DISTINCT enqueue_shard)::int FROM awa.ready_entries WHERE queue = $1`, g.queue) == 4
		})

		// Not empty: the controller's step and a person's are both refused.
		g.apply(g.own(4, 2), control.OutcomeRefused, "not drained", "from shard 2 on", " left in ")
		forced := g.hand(4, 1)
		forced.Drained, forced.Force = false, true
		g.apply(forced, control.OutcomeApplied)
		e := g.log()[len(g.log())-1]
		if !e.Forced || len(e.Blockers) != 1 || e.Blockers[0].Rule != control.ReasonNotDrained || !strings.Contains(e.Blockers[0].Detail, "from shard 1 on ") ||
			!strings.Contains(e.Blockers[0].Detail, " left in ") || e.Role != "postgres" {
			t.Errorf("the log does not say what was set aside, and by whom: %+v", e)
		}
		seen := r.Stats().Enqueued
		eventually(t, "jobs under the lowered count", func() bool { return r.Stats().Enqueued > seen+64 })
		s := stop()

		above := func() int {
			return scan[int](t, g.admin, `SELECT count(*)::int FROM awa.ready_entries e WHERE queue = $1 AND enqueue_shard > 0
				AND NOT EXISTS (SELECT FROM awa.rehearsal_done x WHERE x.job_id = e.job_id)`, g.queue)
		}
		if above() == 0 {
			t.Fatal("nothing was left above the count, so nothing is tried")
		}
		w, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{Keep: true,
			Workers: []rehearsal.Workers{{Queues: []string{g.queue}, Count: 4, Batch: 16}}})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the last job", func() bool {
			return above() == 0 && scan[int](t, g.admin, `SELECT count(*)::int FROM awa.rehearsal_done`) == int(s.Enqueued)
		})
		if err := w.Stop(within(t)); err != nil {
			t.Error(err)
		}
		done := scan[int](t, g.admin, `SELECT count(*)::int FROM awa.rehearsal_done JOIN awa.ready_entries USING (job_id)`)
		rows := scan[int](t, g.admin, `SELECT count(*)::int FROM awa.ready_entries`)
		if len(s.Errors) > 0 || done != rows || uint64(done) != s.Enqueued || w.Stats().Completed != s.Enqueued || len(w.Stats().Errors) > 0 {
			t.Errorf("%d enqueued, %d rows, %d done, %d completed, errors %v %v", s.Enqueued, rows, done, w.Stats().Completed, s.Errors, w.Stats().Errors)
		}
	})
}

func TestLoweringWaitsForJobsAndForUncommittedProducers(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{})
		g.apply(g.own(1, 2), control.OutcomeApplied)
		producer := d.Connect(t)
		enqueue := func(end string) {
			t.Helper()
			run(t, producer, "BEGIN")
			if _, err := producer.Exec(within(t), `SELECT awa.reserve_enqueue_seq($1, 1::int2, 1::int2, 1)`, g.queue); err != nil {
				t.Fatal(err)
			}
			if end == "" {
				return
			}
			if _, err := producer.Exec(within(t), `SELECT awa.rehearsal_append($1, 1::int2, 1::int2, 1, 1, 'k', '{}', 1::int2, now(), '{}', null, null)`, g.queue); err != nil {
				t.Fatal(err)
			}
			run(t, producer, end)
		}
		enqueue("") // holds the lane, has written nothing
		g.apply(g.own(2, 1), control.OutcomeRefused, "not drained", "0 jobs left in 0 of 2 lanes", "hold 1 lane lock and wait for 0")
		run(t, producer, "ROLLBACK")
		// An aborted enqueue leaves a gap in the sequence, which is no job.
		g.apply(g.own(2, 1), control.OutcomeApplied)
		g.apply(g.own(1, 2), control.OutcomeApplied)
		enqueue("COMMIT")
		g.apply(g.own(2, 1), control.OutcomeRefused, "not drained", "1 job left in 1 of 2 lanes", "hold 0 lane locks")
		g.exec(`INSERT INTO awa.ready_tombstones (ready_slot, ready_generation, queue, priority, enqueue_shard, lane_seq, job_id) VALUES (0, 0, $1, 1, 1, 1, 1)`, g.queue)
		g.apply(g.own(2, 1), control.OutcomeApplied) // it was cancelled
	})
}

func TestRaisingDoesNotWaitForProducersThatHoldTheirLane(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		g := gateAt(t, d, rehearsal.Options{})
		holder := d.Connect(t)
		run(t, holder, "BEGIN")
		if _, err := holder.Exec(within(t), `SELECT awa.insert_job_compat(p_kind => 'k', p_queue => $1, p_priority => 1::int2)`, g.queue); err != nil {
			t.Fatal(err)
		}
		// The lane stays locked until this test ends it, and the gate's own lock
		// timeout is a second: a raise that waited for the lane would fail.
		g.apply(g.own(1, 2), control.OutcomeApplied)
		g.apply(g.hand(2, 8), control.OutcomeApplied)
		held := scan[int](t, g.admin, `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		if held == 0 {
			t.Error("the producer did not hold its lane all the while")
		}
		run(t, holder, "COMMIT")
	})
}
