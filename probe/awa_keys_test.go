package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// oddNames are queue names that Awa takes and a careless probe would not.
var oddNames = []string{
	strings.Repeat("n", 200), "a:b:c", `it's "quoted"`, "striped#7", "parted__p1", "日本語の待ち行列",
	"jobs 🚀🔥", `back\slash %s %I $1 {}`, " led and trailed ", "UPPER and lower",
}

// place is a lane by its name.
type place struct {
	queue           string
	priority, shard int
}

// keysAreHeld lets producers hold a lane each and asks the lock table which.
func keysAreHeld(t *testing.T, e engine) {
	const shards = 3
	type hold struct {
		held
		at place
	}
	var holds []hold
	for i, name := range oddNames {
		provision(t, e.admin(), name, shards, 1, 4)
		setShards(t, e.admin(), name, shards)
		for shard := range shards {
			at := place{name, 1 + 3*((i+shard)%2), shard}
			holds = append(holds, hold{beginAnywhere(t, e, at, keyFor(shard, shards)), at})
		}
	}
	p := watcher(t, e, 10)
	until(t, p, "three holders of every queue", func(s control.Snapshot) bool {
		return !slices.ContainsFunc(oddNames, func(name string) bool {
			r := of(s, name)
			return r.Holders != control.Some(shards) || r.Waiters != control.Some(0) || len(r.Lanes) != 2*shards
		})
	})
	lanes := map[int64]place{}
	p.do(func(s *state) {
		for key, l := range s.byKey {
			lanes[key] = place{l.queue.name, l.priority, l.shard}
		}
	})
	negative := 0
	for _, h := range holds {
		var found []place
		for _, key := range keysHeldBy(t, e.admin(), h.pid) {
			if at, ok := lanes[key]; ok {
				found = append(found, at)
				if key < 0 {
					negative++
				}
			}
		}
		if !slices.Equal(found, []place{h.at}) {
			t.Errorf("a producer in %+v holds the keys that we take for %+v", h.at, found)
		}
		h.rollback()
	}
	if negative == 0 {
		t.Error("no key of these was negative: choose other names")
	}
}

// longestNotified is the longest queue name, in bytes, that Awa can notify: the
// channel is "awa:" and the name, and PostgreSQL takes 63 bytes.
const longestNotified = 59

// beginAnywhere enqueues by the engine's client where it can. A longer name has
// lanes like any other, but of an enqueue only the reservation works.
func beginAnywhere(t *testing.T, e engine, at place, key string) held {
	t.Helper()
	if len(at.queue) <= longestNotified {
		return e.begin(t, at.queue, at.priority, key)
	}
	conn := e.database().Connect(t)
	tx, err := conn.Begin(ctxOf(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctxOf(t), `select awa.reserve_enqueue_seq($1, $2, $3, 1)`, at.queue, at.priority, at.shard); err != nil {
		t.Fatal(err)
	}
	return held{pid: int32(conn.PgConn().PID()), rollback: func() { _ = tx.Rollback(ctxOf(t)) }}
}

// keysHeldBy are the int8 advisory locks of a backend, in any mode.
func keysHeldBy(t *testing.T, conn *pgx.Conn, pid int32) []int64 {
	t.Helper()
	rows, err := conn.Query(ctxOf(t), `select (classid::int8 << 32) | objid::int8 from pg_locks
		where pid = $1 and locktype = 'advisory' and objsubid = 1 and granted and mode = 'ExclusiveLock'`, pid)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAwaAndTheStandInRouteAlike(t *testing.T) {
	d := pgtest.One(t)
	real := newActiveAwa(t, d)
	ours := newStandIn(t, pgtest.One(t))
	ours.activate(t)
	keys := [][]byte{{}, {0}, {255}, []byte("日本語"), []byte(strings.Repeat("long ", 60))}
	for n := len(keys); n < 200; n++ {
		keys = append(keys, fmt.Appendf(nil, "customer-%d", n*n))
	}
	for _, shards := range []int{2, 3, 4, 8} {
		queue := fmt.Sprintf("routed over %d", shards)
		for _, e := range []engine{real, ours} {
			provision(t, e.admin(), queue, shards, 2)
			setShards(t, e.admin(), queue, shards)
		}
		theirs, stand := routed(t, real.admin(), queue, keys), routed(t, ours.admin(), queue, keys)
		used := map[int]bool{}
		for i, key := range keys {
			if theirs[i] != stand[i] || theirs[i] != shardOf(key, shards) {
				t.Errorf("%q over %d: Awa %d, stand-in %d, this test %d", key, shards, theirs[i], stand[i], shardOf(key, shards))
			}
			used[theirs[i]] = true
		}
		if len(used) != shards {
			t.Errorf("%d keys reached %d of %d shards", len(keys), len(used), shards)
		}
	}
	for shard := range 8 { // the client hashes by itself
		before := lanesOf(t, real.admin(), "routed over 8")[place{"routed over 8", 2, shard}]
		real.batch(t, "routed over 8", 2, 3, keyFor(shard, 8))
		if n := lanesOf(t, real.admin(), "routed over 8")[place{"routed over 8", 2, shard}]; n != before+3 {
			t.Errorf("shard %d: %d jobs after %d and a batch of 3", shard, n, before)
		}
	}
}

// routed inserts a job with each key and says on which shard each landed.
func routed(t *testing.T, conn *pgx.Conn, queue string, keys [][]byte) []int {
	t.Helper()
	exec(t, conn, `select count((awa.insert_job_compat('work', $1, p_ordering_key => k.key)).id)
		from (select key from unnest($2::bytea[]) with ordinality k(key, n) order by n) k`, queue, keys)
	rows, err := conn.Query(ctxOf(t), `select enqueue_shard::int4 from awa.ready_entries where queue = $1 order by job_id`, queue)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || len(shards) != len(keys) {
		t.Fatalf("%d jobs of %d keys: %v", len(shards), len(keys), err)
	}
	return shards
}

// lanesOf counts rows of ready entries by lane, claimed ones included.
func lanesOf(t testing.TB, conn *pgx.Conn, queue string) map[place]int {
	t.Helper()
	rows, err := conn.Query(ctxOf(t), `select priority::int4, enqueue_shard::int4, count(*)
		from awa.ready_entries where queue = $1 group by 1, 2`, queue)
	if err != nil {
		t.Fatal(err)
	}
	n, at, out := 0, place{queue: queue}, map[place]int{}
	if _, err = pgx.ForEachRow(rows, []any{&at.priority, &at.shard, &n}, func() error {
		out[at] = n
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
