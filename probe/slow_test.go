package probe

import (
	"context"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestDepthCountsReadyJobsAndNothingElse(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 2, "idle": 1})
		for range 9 {
			exec(t, admin, insert, "orders")
		}
		// An aborted enqueue moves the sequence and nothing else.
		exec(t, admin, `begin; select id from awa.insert_job_compat('k', 'idle'); rollback`)
		exec(t, admin, `update awa.ready_segments set first_run_at = now() - interval '100 seconds'`)
		p := start(t, config(d.URL))
		s := until(t, p, "nine ready", func(s control.Snapshot) bool { return of(s, "orders").Depth == control.Some(9) })
		if lag := of(s, "orders").LagS.Or(0); lag < 100 || lag > 160 {
			t.Errorf("lag %v", lag)
		}
		idle := of(s, "idle")
		if idle.Depth != control.Some(0) || idle.LagS != control.Some(0) {
			t.Errorf("an aborted enqueue counts: depth %v, lag %v", idle.Depth, idle.LagS)
		}
		// One job gone by a tombstone ahead of the cursor, others by the cursor.
		exec(t, admin, `insert into awa.ready_tombstones (ready_slot, ready_generation, queue, priority, enqueue_shard, lane_seq, job_id)
			select ready_slot, ready_generation, queue, priority, enqueue_shard, first_lane_seq, -1
			from awa.ready_segments where queue = 'orders' order by first_lane_seq desc limit 1`)
		until(t, p, "eight after a tombstone", func(s control.Snapshot) bool { return of(s, "orders").Depth == control.Some(8) })
		exec(t, admin, `select setval(format('%I.%I', 'awa', c.seq_name), r.n) from awa.queue_claim_heads c
			join (select enqueue_shard, max(next_lane_seq) - 1 as n from awa.ready_segments where queue = 'orders' group by 1) r using (enqueue_shard)
			where c.queue = 'orders'`)
		s = until(t, p, "none when the cursors passed all", func(s control.Snapshot) bool { return of(s, "orders").Depth == control.Some(0) })
		if r := of(s, "orders"); r.LagS != control.Some(0) || r.HighestShard != 2 || r.Shards != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestDrainedIsFalseWhileAProducerHasNotCommitted(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 2})
		exec(t, admin, `update awa.queue_meta set enqueue_shards = 1 where queue = 'orders'`)
		busy := d.Connect(t)
		below, err := busy.Begin(ctxOf(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := below.Exec(ctxOf(t), `select awa.reserve_enqueue_seq('orders', 2::smallint, 0::smallint, 1)`); err != nil {
			t.Fatal(err)
		}
		p := start(t, config(d.URL))
		until(t, p, "drained above 1", func(s control.Snapshot) bool {
			r := of(s, "orders")
			drained, ok := r.DrainedAbove(1)
			if ok && !drained || r.Drain != nil && r.Drain.State == control.DrainLocked {
				t.Errorf("only shard 0 is locked, and the lanes above are called so: %+v %+v", r.Drain, r.Drained)
			}
			return ok && drained
		})
		if err := below.Rollback(ctxOf(t)); err != nil {
			t.Fatal(err)
		}
		conn := d.Connect(t)
		tx, err := conn.Begin(ctxOf(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctxOf(t), `select awa.reserve_enqueue_seq('orders', 2::smallint, 1::smallint, 1)`); err != nil {
			t.Fatal(err)
		}
		s := until(t, p, "not drained, though nothing is ready", func(s control.Snapshot) bool {
			drained, ok := of(s, "orders").DrainedAbove(1)
			return ok && !drained
		})
		if r := of(s, "orders"); r.Depth != control.Some(0) || r.HighestShard != 2 || r.Drain.State != control.DrainLocked {
			t.Errorf("%+v %+v", r, r.Drain)
		}
		if err := tx.Rollback(ctxOf(t)); err != nil {
			t.Fatal(err)
		}
		until(t, p, "drained again", func(s control.Snapshot) bool {
			drained, ok := of(s, "orders").DrainedAbove(1)
			return ok && drained
		})
	})
}

func TestRatesFollowTheEnqueueSequences(t *testing.T) {
	d := pgtest.One(t)
	awa(t, d, map[string]int{"orders": 2, "idle": 1})
	run, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{
		Queues:    []rehearsal.Queue{{Name: "orders", Shards: 2}},
		Producers: []rehearsal.Producers{{Queue: "orders", Application: "shop", Count: 6, Hold: 20 * time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Stop(ctxOf(t)) }()
	p := start(t, config(d.URL))
	until(t, p, "a rate", func(s control.Snapshot) bool { return of(s, "orders").EnqueueRate.Or(0) > 0 })
	// The sum of what the readings say has to be what was enqueued.
	before, begun, sum := run.Stats(), time.Now(), 0.0
	for time.Since(begun) < 5*time.Second {
		time.Sleep(500 * time.Millisecond)
		r := of(read(t, p), "orders")
		sum += r.EnqueueRate.Or(0) * r.PeriodS
	}
	enqueued := float64(run.Stats().Since(before).Enqueued)
	if sum < 0.7*enqueued || sum > 1.3*enqueued || enqueued == 0 {
		t.Errorf("readings add up to %.0f, %.0f were enqueued", sum, enqueued)
	}
	s := read(t, p)
	if idle := of(s, "idle"); idle.EnqueueRate != control.Some(0) || idle.WaitPerEnqueueS.OK() {
		t.Errorf("idle: rate %v, wait %v", idle.EnqueueRate, idle.WaitPerEnqueueS)
	}
	r := of(s, "orders")
	if len(r.ProducerList) != 1 || r.ProducerList[0].Sessions.Or(0) < 2 || !strings.HasSuffix(r.ProducerList[0].ID, " shop") ||
		r.ProducerList[0].How != "inferred" {
		t.Errorf("producers %+v", r.ProducerList)
	}
	if !r.WaitPerEnqueueS.OK() || r.Bottleneck != control.BottleneckLane {
		t.Errorf("wait %v bottleneck %s causes %+v", r.WaitPerEnqueueS, r.Bottleneck, r.Causes)
	}
}

// Where producers stand in line for longer than two seconds, each transaction
// is older than that when it gets the lane, and none of them is stuck.
func TestALongLineOfShortHoldsIsNotStuck(t *testing.T) {
	d := pgtest.One(t)
	admin := awa(t, d, map[string]int{"orders": 1})
	run, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{
		Queues:    []rehearsal.Queue{{Name: "orders", Shards: 1}},
		Producers: []rehearsal.Producers{{Queue: "orders", Count: 40, Hold: 100 * time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Stop(ctxOf(t)) }()
	waitFor(t, admin, `select count(*) >= 30 from pg_locks where locktype = 'advisory' and not granted`)
	p := start(t, config(d.URL))
	old := 0.0
	s := until(t, p, "a window of waiting", func(s control.Snapshot) bool {
		if h := of(s, "orders").Holder; h != nil {
			old = max(old, h.XactAgeS.Or(0))
		}
		return of(s, "orders").WindowS > 4 && old > 2
	})
	if r := of(s, "orders"); r.Bottleneck == control.BottleneckStuck || r.Causes.Stuck.Or(1) > 0.1 {
		t.Errorf("oldest holder's transaction %.1f s: bottleneck %s, causes %+v", old, r.Bottleneck, r.Causes)
	}
}

func TestInstancesTellStaleFromFreshAndIgnoreWhatTheyDoNotKnow(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 1})
		exec(t, admin, `insert into awa.runtime_instances (instance_id, hostname, pid, version, started_at, last_seen_at, snapshot_interval_ms,
			healthy, postgres_connected, poll_loop_alive, heartbeat_alive, shutting_down, leader, queues) values
			('00000000-0000-0000-0000-000000000001', 'a', 7, '0.7', now() - interval '1 hour', now(), 1000, true, true, true, true, false, true,
			 '[{"queue": "orders", "in_flight": 1, "new_key": {"x": []}}, {"other": 1}, 5, "text"]'),
			('00000000-0000-0000-0000-000000000002', 'b', 8, '0.7', now() - interval '1 hour', now() - interval '40 seconds', 1000, true, true, true, true, false, false, '{"not": "a list"}'),
			('00000000-0000-0000-0000-000000000003', null, 9, '0.7', now() + interval '1 hour', now() - interval '40 seconds', 20000, true, true, true, true, true, false, '[]')`)
		p := start(t, config(d.URL))
		s := until(t, p, "three instances", func(s control.Snapshot) bool { return len(s.Instances) == 3 })
		a, b, c := s.Instances[0], s.Instances[1], s.Instances[2]
		if a.Stale || !a.Leader || len(a.Queues) != 1 || a.Queues[0] != "orders" || a.UptimeS.Or(0) < 3600 {
			t.Errorf("a %+v", a)
		}
		if !b.Stale || len(b.Queues) != 0 || b.SeenAgoS.Or(0) < 40 {
			t.Errorf("b %+v", b)
		}
		if c.Stale || !c.ShuttingDn || c.UptimeS != control.Some(0) {
			t.Errorf("c %+v", c)
		}
	})
}

// Σ waiters × period is lock-wait seconds: the producers' own stop-watches say
// the same.
func TestWaitingAddsUpToWhatTheProducersTimed(t *testing.T) {
	d := pgtest.One(t)
	awa(t, d, map[string]int{"orders": 2})
	run, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{
		Queues: []rehearsal.Queue{{Name: "orders", Shards: 2}},
		Producers: []rehearsal.Producers{
			{Queue: "orders", Count: 8, Hold: 40 * time.Millisecond, Think: 60 * time.Millisecond},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Stop(ctxOf(t)) }()
	p := start(t, config(d.URL))
	until(t, p, "waiters", func(s control.Snapshot) bool { return of(s, "orders").Waiters.Or(0) > 0 })
	before, seconds, begun := run.Stats(), 0.0, time.Now()
	for time.Since(begun) < 6*time.Second {
		time.Sleep(250 * time.Millisecond)
		r := of(read(t, p), "orders")
		seconds += r.Waiters.Or(0) * r.PeriodS
	}
	timed := run.Stats().Since(before).Queues["orders"].LaneWaitS
	t.Logf("looks %.2f s, producers %.2f s", seconds, timed)
	if seconds < 0.7*timed || seconds > 1.3*timed || timed < 1 {
		t.Errorf("looks say %.2f s of waiting, producers %.2f s", seconds, timed)
	}
}
