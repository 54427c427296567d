package rehearsal_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// sessionsOf counts backends of the producers by their pid modulo 4.
const sessionsOf = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'checkout' AND pid % 4 = $1`

// TestAWaveSaysWhoWorksAndSpreadSessionsMeetEachLane: with sessions spread over
// four lanes all of them carry jobs, and none does when the wave lets none work.
func TestAWaveSaysWhoWorksAndSpreadSessionsMeetEachLane(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	var working atomic.Int64
	spec := hot(t, 8, time.Millisecond)
	spec.Queues[0].Shards = 4
	p := &spec.Producers[0]
	p.Spread = 4
	p.Wave = func(time.Duration) rehearsal.Level { return rehearsal.Level{Sessions: int(working.Load())} }
	r := start(t, d, spec)
	until(t, "two sessions a lane", func() bool {
		for lane := range 4 {
			if ask[int](t, conn, sessionsOf, lane) != 2 {
				return false
			}
		}
		return true
	})
	if n := r.Stats().Enqueued; n > 0 {
		t.Errorf("%d jobs while nobody was to work", n)
	}
	working.Store(1)
	until(t, "jobs of one session", func() bool { return r.Stats().Enqueued > 0 })
	if n := ask[int](t, conn, `SELECT count(*) FROM awa.queue_enqueue_heads WHERE queue = $1 AND coalesce(pg_sequence_last_value(('awa.' || quote_ident(seq_name))::regclass), 0) > 0`, rehearsal.HotQueue); n != 1 {
		t.Errorf("one session used %d lanes", n)
	}
	working.Store(8)
	until(t, "jobs on every lane", func() bool {
		return ask[int](t, conn, `SELECT count(*) FROM awa.queue_enqueue_heads WHERE queue = $1 AND coalesce(pg_sequence_last_value(('awa.' || quote_ident(seq_name))::regclass), 0) > 0`, rehearsal.HotQueue) == 4
	})
	q := r.Stats().Queues[rehearsal.HotQueue]
	if q.LaneHeldS < 0.001*float64(q.Enqueued) {
		t.Errorf("%d transactions of 1 ms held their lanes for %.4f s", q.Enqueued, q.LaneHeldS)
	}
	var counted uint64
	last := 0.0
	for _, b := range q.Latency.Buckets() {
		if b.UpToS <= last || b.N == 0 {
			t.Errorf("bucket %+v after %v", b, last)
		}
		counted, last = counted+b.N, b.UpToS
	}
	if counted != q.Latency.Count() || math.Abs(q.Latency.Quantile(1)-last) > 1e-12 {
		t.Errorf("buckets hold %d of %d, up to %v s of %v", counted, q.Latency.Count(), last, q.Latency.Quantile(1))
	}
}
