package probe

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// The two sizes that the limits of this package are made for: 1,000 queues with
// 4 priorities and 8 shards each, and 34,000 locks in the lock table.
const (
	benchQueues = 1000
	benchShards = 8
	benchLoaded = 20 // queues with ready jobs on every lane: 640 lanes
	benchLocks  = 34_000
)

// roomy is a server whose lock table takes the fixtures.
func roomy(b *testing.B) *pgtest.DB {
	return pgtest.NewServer(b, newest(), map[string]string{"max_locks_per_transaction": "2048"})
}

// large makes the 32,000 lanes on four connections.
func large(b *testing.B, d *pgtest.DB) {
	awa(b, d, nil)
	var wg sync.WaitGroup
	for part := range 4 {
		conn := d.Connect(b)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := part; i < benchQueues; i += 4 {
				name := fmt.Sprintf("queue-%04d", i)
				if err := rehearsal.Provision(context.Background(), conn, name, benchShards, 1, 2, 3, 4); err != nil {
					b.Error(err)
					return
				}
				if err := rehearsal.SetShards(context.Background(), conn, name, benchShards); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	exec(b, d.Connect(b), `insert into awa.ready_segments (ready_slot, ready_generation, queue, priority, enqueue_shard, first_lane_seq, next_lane_seq, first_run_at)
		select 0, 0, e.queue, e.priority, e.enqueue_shard, 1 + 10 * n, 11 + 10 * n, now()
		from awa.queue_enqueue_heads e, generate_series(0, 9) n where e.queue < $1`, fmt.Sprintf("queue-%04d", benchLoaded))
	exec(b, d.Connect(b), `analyze`)
}

// busy takes the locks in a session of its own, with keys that are no lanes.
func busy(b *testing.B, d *pgtest.DB, n int) pgx.Tx {
	b.Helper()
	tx, err := d.Connect(b).Begin(ctxOf(b))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Exec(ctxOf(b), `select count(*) from (select pg_advisory_xact_lock(7000000000 + i) from generate_series(1, $1::int4) i) x`, n); err != nil {
		b.Fatal(err)
	}
	return tx
}

// BenchmarkLook reports what one look takes for us, and at least on the server
// (the rest is waiting for a processor), by what is in the lock table and how it
// is asked.
func BenchmarkLook(b *testing.B) {
	d := roomy(b)
	l := &link{conn: d.Connect(b), now: time.Now, spent: func(time.Duration) {}}
	keys := make([]int64, benchQueues*4*benchShards)
	byKey := map[int64]*lane{}
	for i := range keys {
		keys[i] = int64(i) * 1_000_003
		byKey[keys[i]] = &lane{queue: &queue{}}
	}
	for _, locks := range []int{0, 2000, benchLocks} {
		var tx pgx.Tx
		if locks > 0 {
			tx = busy(b, d, locks)
		}
		for _, how := range []struct {
			name       string
			keys       []int64
			ask, force bool
		}{
			{"gate closed", nil, true, false},
			{"read", nil, false, true},
			{"read, 32000 keys along", keys, false, true},
			{"gate asked and read", nil, true, true},
		} {
			b.Run(fmt.Sprintf("%d locks/%s", locks, how.name), func(b *testing.B) {
				least := time.Hour
				for b.Loop() {
					look, err := take(context.Background(), l, byKey, how.keys, how.ask, how.force)
					if err != nil {
						b.Fatal(err)
					}
					least = min(least, look.server)
				}
				b.ReportMetric(least.Seconds()*1000, "least-server-ms")
			})
		}
		if tx != nil {
			_ = tx.Rollback(context.Background())
		}
	}
}

// BenchmarkLargeInstallation reports the slow reads and a Read with 32,000
// lanes.
func BenchmarkLargeInstallation(b *testing.B) {
	d := roomy(b)
	large(b, d)
	cfg := config(d.URL).withDefaults()
	p := &Probe{cfg: cfg, st: newState(), looked: newGate(), listed: newGate()}
	s := &slow{Probe: p, link: p.newLink(p.cfg.Connect), schema: "awa", all: true, costs: map[string]*costs{}, struck: map[string]strike{}}
	s.conn = d.Connect(b)
	ctx := context.Background()
	for _, task := range []struct {
		name string
		run  func(context.Context) (time.Duration, error)
	}{
		{"queues", s.queues},
		{"all lanes", func(ctx context.Context) (time.Duration, error) { return s.readLanes(ctx, nil) }},
		{"lane count", func(ctx context.Context) (time.Duration, error) {
			_, cost, err := s.sameLanes(ctx)
			return cost, err
		}},
		{"300 sequences", func(ctx context.Context) (time.Duration, error) {
			p.do(func(st *state) {
				for _, q := range st.queues { // otherwise only segments are followed
					q.active = time.Now()
				}
			})
			return s.sequences(ctx)
		}},
		{"depth of everything", s.depths},
	} {
		b.Run(task.name, func(b *testing.B) {
			least := time.Hour
			for b.Loop() {
				cost, err := task.run(ctx)
				if err != nil {
					b.Fatal(err)
				}
				least = min(least, cost)
			}
			b.ReportMetric(least.Seconds()*1000, "least-server-ms")
		})
	}
	depth := 0.0
	for _, q := range p.st.queues {
		for _, l := range q.lanes {
			depth += l.depth.Or(0)
		}
	}
	if want := float64(benchLoaded * 4 * benchShards * 100); depth != want {
		b.Fatalf("depth %v, want %v", depth, want)
	}
	b.Run("Read", func(b *testing.B) {
		b.ReportAllocs()
		var snap control.Snapshot
		for b.Loop() {
			snap = cfg.snapshot(p.st, time.Now(), time.Second)
		}
		if len(snap.Readings) != benchQueues {
			b.Fatalf("%d readings", len(snap.Readings))
		}
	})
}
