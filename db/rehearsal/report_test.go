package rehearsal_test

import (
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestWorkersTellThatTheyLiveAndThatTheyLeave(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec, err := rehearsal.Shape("idle", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, d, spec)
	const alive = `SELECT count(*) FROM awa.runtime_instances
		WHERE healthy AND poll_loop_alive AND NOT shutting_down AND snapshot_interval_ms = 10000
		  AND last_seen_at > now() - interval '30 s' AND storage_capability = 'queue_storage'`
	until(t, "both processes", func() bool { return ask[int](t, conn, alive) == 2 })
	if n := ask[int](t, conn, `SELECT count(*) FROM awa.runtime_instances WHERE leader AND maintenance_alive`); n != 1 {
		t.Errorf("%d leaders", n)
	}
	served := ask[[]string](t, conn, `SELECT array_agg(q ->> 'queue' ORDER BY q ->> 'queue' COLLATE "C")
		FROM awa.runtime_instances, jsonb_array_elements(queues) AS q WHERE (q ->> 'in_flight')::int >= 0 AND q ? 'config'`)
	if len(served) != 4 || served[1] != rehearsal.HotQueue {
		t.Errorf("queues %q", served)
	}
	stop(t, r)
	if n := ask[int](t, conn, `SELECT count(*) FROM awa.runtime_instances WHERE shutting_down AND NOT healthy`); n != 2 {
		t.Errorf("%d of 2 said that they leave", n)
	}
}

func TestProducersReportTheCountTheyWorkWith(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec := hot(t, 3, time.Millisecond)
	spec.Producers[0].Rate = 20
	cached := spec.Producers[0]
	cached.Application, cached.CacheShards = "cached", true
	spec.Producers = append(spec.Producers, cached)
	r := start(t, d, spec)
	until(t, "jobs", func() bool { return r.Stats().Enqueued > 5 })

	// The table may appear while they run.
	do(t, conn, `CREATE SCHEMA shardpilot`)
	do(t, conn, `CREATE TABLE shardpilot.producer (instance_id text, queue text, shards int, observed_at timestamptz,
		PRIMARY KEY (instance_id, queue))`)
	reported := func(application string, shards int) bool {
		return ask[int](t, conn, `SELECT count(*) FROM shardpilot.producer WHERE queue = 'orders' AND shards = $2
			AND instance_id LIKE $1 || '-_' AND observed_at > now() - interval '1 min'`, application, shards) == 3
	}
	until(t, "all on 1", func() bool { return reported("checkout", 1) && reported("cached", 1) })
	if err := rehearsal.Provision(within(t), conn, "orders", 2); err != nil {
		t.Fatal(err)
	}
	if err := rehearsal.SetShards(within(t), conn, "orders", 2); err != nil {
		t.Fatal(err)
	}
	until(t, "SQL producers on 2", func() bool { return reported("checkout", 2) })
	if !reported("cached", 1) {
		t.Error("caching producers should still say 1")
	}
	r.Told()
	until(t, "all on 2", func() bool { return reported("cached", 2) })
	if s := r.Stats(); len(s.Errors) > 0 {
		t.Errorf("errors %v", s.Errors)
	}
}
