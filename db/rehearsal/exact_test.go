package rehearsal_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// ledger compares what was enqueued with what was completed. Nothing may have
// been pruned.
type ledger struct {
	ready, done, leased int
	twice, outOfOrder   int
}

func books(t *testing.T, conn *pgx.Conn) ledger {
	t.Helper()
	return ledger{
		ready:  ask[int](t, conn, `SELECT count(*) FROM awa.ready_entries`),
		done:   ask[int](t, conn, `SELECT count(*) FROM awa.rehearsal_done JOIN awa.ready_entries USING (job_id)`),
		leased: ask[int](t, conn, `SELECT count(*) FROM awa.rehearsal_lease`),
		twice: ask[int](t, conn, `SELECT count(*) FROM (
			SELECT FROM awa.ready_entries GROUP BY job_id HAVING count(*) > 1) AS x`),
		// In each lane, jobs were written and claimed in the order of their numbers.
		outOfOrder: ask[int](t, conn, `SELECT count(*) FROM (
			SELECT e.created_at < lag(e.created_at) OVER lane OR d.claimed_at < lag(d.claimed_at) OVER lane AS early
			  FROM awa.ready_entries AS e JOIN awa.rehearsal_done AS d USING (job_id)
			WINDOW lane AS (PARTITION BY e.queue, e.priority, e.enqueue_shard ORDER BY e.lane_seq)) AS x WHERE early`),
	}
}

// depth is the number of ready jobs as Awa's segments tell it.
const depth = `
	SELECT coalesce(sum(s.next_lane_seq - greatest(s.first_lane_seq, cn)), 0)::int
	  FROM awa.queue_claim_heads AS h
	 CROSS JOIN LATERAL (SELECT coalesce(pg_sequence_last_value(format('awa.%I', h.seq_name)::regclass) + 1, 1) AS cn) AS c
	  JOIN awa.ready_segments AS s USING (queue, priority, enqueue_shard)
	 WHERE s.next_lane_seq > cn`

func TestNoJobIsLostOrDoneTwiceWhileCountsChangeAndSessionsDie(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		install(t, conn, rehearsal.Options{})
		spec := hot(t, 8, time.Millisecond)
		spec.Keep = true
		spec.OnError = func(rehearsal.Incident) {}
		spec.Queues[0].Priorities = []int{1, 2}
		spec.Workers[0].Count, spec.Workers[0].Batch = 3, 7
		spec.Producers[0].Count, spec.Producers[0].Priorities = 4, []int{1, 2}
		batch := spec.Producers[0]
		batch.Application, batch.Batch, batch.CacheShards = "bulk", 5, true
		spec.Producers = append(spec.Producers, batch)

		r := start(t, d, spec)
		for _, shards := range []int{3, 1, 2} {
			if err := rehearsal.Provision(within(t), conn, rehearsal.HotQueue, shards); err != nil {
				t.Fatal(err)
			}
			if err := rehearsal.SetShards(within(t), conn, rehearsal.HotQueue, shards); err != nil {
				t.Fatal(err)
			}
			r.Told()
			seen := r.Stats().Enqueued
			until(t, "jobs under the new count", func() bool { return r.Stats().Enqueued > seen+100 })
			do(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name IN ('checkout', 'bulk', 'fulfilment')`)
		}
		seen := r.Stats()
		until(t, "producers that came back", func() bool { return r.Stats().Enqueued > seen.Enqueued+50 })
		stop(t, r)
		s := r.Stats()
		if s.Errors["57P01"] == 0 || s.Errors["57P01"]+s.Errors["connection"] < 16 {
			t.Errorf("three rounds of killing eleven sessions left these errors: %v", s.Errors)
		}

		finish(t, d, conn, spec.Workers, s)
	})
}

// finish lets workers empty the queue and looks at the books.
func finish(t *testing.T, d *pgtest.DB, conn *pgx.Conn, workers []rehearsal.Workers, s rehearsal.Stats) {
	t.Helper()
	r := start(t, d, rehearsal.Spec{Keep: true, Workers: workers})
	until(t, "an empty queue", func() bool { return ask[int](t, conn, depth) == 0 })
	stop(t, r)
	b := books(t, conn)
	if b.ready == 0 || b.done+b.leased != b.ready || b.twice > 0 || b.outOfOrder > 0 {
		t.Errorf("%+v", b)
	}
	if got := uint64(b.ready); got < s.Enqueued || got > s.Enqueued+s.Uncertain {
		t.Errorf("%d jobs are there, producers counted %d and %d uncertain", b.ready, s.Enqueued, s.Uncertain)
	}
}

func TestALoadComesBackAfterTheServerCrashed(t *testing.T) {
	d := pgtest.NewServer(t, "18", nil)
	install(t, d.Connect(t), rehearsal.Options{})
	spec := hot(t, 4, time.Millisecond)
	spec.Keep = true
	spec.OnError = func(rehearsal.Incident) {}
	r := start(t, d, spec)
	until(t, "jobs done", func() bool { return r.Stats().Completed > 100 })
	if err := d.Server.Crash(within(t)); err != nil {
		t.Fatal(err)
	}
	until(t, "refused connections", func() bool { return r.Stats().Errors["connection"] > 4 })
	seen := r.Stats()
	if err := d.Server.StartAgain(within(t)); err != nil {
		t.Fatal(err)
	}
	until(t, "jobs done again", func() bool {
		s := r.Stats()
		return s.Enqueued > seen.Enqueued+100 && s.Completed > seen.Completed+100
	})
	stop(t, r)
	finish(t, d, d.Connect(t), spec.Workers, r.Stats())
}

func TestDepthCountsCommittedJobsThatNobodyClaimed(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		install(t, conn, rehearsal.Options{})
		spec := rehearsal.Spec{
			Queues: []rehearsal.Queue{{Name: "q", Shards: 2}},
			Producers: []rehearsal.Producers{
				{Queue: "q", Count: 2, Batch: 9},
				{Queue: "q", Count: 2, Keys: rehearsal.Keys{N: 5}},
			},
		}
		r := start(t, d, spec)
		until(t, "jobs", func() bool { return r.Stats().Enqueued > 200 })
		stop(t, r)
		do(t, conn, `BEGIN`)
		do(t, conn, `SELECT awa.insert_job_compat('x', 'q', p_ordering_key => 'a')`)
		do(t, conn, `ROLLBACK`)
		jobs := ask[int](t, conn, `SELECT count(*) FROM awa.ready_entries`)
		if n := ask[int](t, conn, depth); n != jobs {
			t.Errorf("depth %d of %d jobs", n, jobs)
		}
		claimed := 0
		for _, most := range []int{4, 100, 3} {
			claimed += ask[int](t, conn, `SELECT count(*) FROM awa.rehearsal_claim('q', 'me', $1)`, most)
			if n := ask[int](t, conn, depth); n != jobs-claimed {
				t.Errorf("depth %d of %d jobs after %d claims", n, jobs, claimed)
			}
		}
		// A claim that aborts leaves its jobs for the next.
		do(t, conn, `BEGIN`)
		do(t, conn, `SELECT awa.rehearsal_claim('q', 'me', 10)`)
		do(t, conn, `ROLLBACK`)
		for {
			n := ask[int](t, conn, `SELECT count(*) FROM awa.rehearsal_claim('q', 'me', 1000)`)
			if n == 0 {
				break
			}
			claimed += n
		}
		if n := ask[int](t, conn, depth); claimed != jobs || n != 0 {
			t.Errorf("claimed %d of %d, depth %d", claimed, jobs, n)
		}
	})
}

func TestWhatIsFinishedIsPrunedAndStaysCounted(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec := hot(t, 4, 0)
	spec.Producers[0].Batch = 50
	spec.Workers[0].PerJob = 0
	r := start(t, d, spec)
	until(t, "many jobs done", func() bool { return r.Stats().Completed > 20_000 })
	until(t, "jobs pruned after their time", func() bool {
		return ask[int](t, conn, `SELECT sum(pruned_completed_count)::int FROM awa.queue_lanes`) > 0
	})
	stop(t, r)
	s := r.Stats()
	total := ask[int](t, conn, `SELECT (SELECT sum(pruned_completed_count) FROM awa.queue_lanes)::int
		+ (SELECT count(*) FROM awa.rehearsal_done)::int + (SELECT count(*) FROM awa.rehearsal_lease)::int`) + ask[int](t, conn, depth)
	if uint64(total) != s.Enqueued {
		t.Errorf("%d of %d jobs accounted for", total, s.Enqueued)
	}
	if n := ask[int](t, conn, `SELECT count(*) FROM awa.ready_entries`); uint64(n) > s.Enqueued/2 {
		t.Errorf("%d ready rows of %d jobs are left", n, s.Enqueued)
	}
	if len(s.Errors) > 0 {
		t.Errorf("errors %v", s.Errors)
	}
}
