package probe

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
)

// One suite holds the probe against a real Awa and against the rehearsal
// schema: what is proved on the stand-in is worth no more than its likeness.

// engine is an Awa of either kind with its own programs.
type engine interface {
	database() *pgtest.DB
	admin() *pgx.Conn // superuser

	// activate takes queue storage into use; before it there are no lanes.
	activate(t testing.TB)
	// begin enqueues one job by the engine's own client and keeps the
	// transaction; key routes it, "" for none.
	begin(t testing.TB, queue string, priority int, key string) held
	// batch enqueues jobs by the engine's own way for many.
	batch(t testing.TB, queue string, priority, jobs int, key string)
	// cancel cancels ready jobs.
	cancel(t testing.TB, ids ...int64)
	// counts is what the engine itself says of ready jobs and lag in seconds.
	counts(t testing.TB, queue string) (available int, lag control.Value)
	// work completes at least so many jobs with the engine's own workers.
	work(t testing.TB, queue string, atLeast int)
	// produce lets sessions insert a job a transaction and keep it for hold.
	produce(t testing.TB, queue string, sessions int, hold time.Duration) load
}

// held is a transaction that has enqueued.
type held struct {
	pid              int32
	commit, rollback func()
}

// load is producers at work.
type load struct {
	counted func() (jobs int, at float64) // so far, and when by a clock of its own, s
	stop    func()
}

type base struct {
	d    *pgtest.DB
	conn *pgx.Conn
}

func (b *base) database() *pgtest.DB { return b.d }
func (b *base) admin() *pgx.Conn     { return b.conn }

func (b *base) shards(t testing.TB, queue string) int {
	t.Helper()
	return ask1[int](t, b.conn, `select coalesce(max(enqueue_shards), 1)::int from awa.queue_meta where queue = $1`, queue)
}

func TestAwaIsReadAsItIs(t *testing.T) {
	pgtest.AwaVenv(t)
	eachEngine(t, newRealAwa, len(promises))
}

// What the stand-in leaves out on older versions the probe's own tests ask of
// it there.
func TestTheStandInIsReadAsAwaIs(t *testing.T) { eachEngine(t, newStandIn, 2) }

// promises are what the suite asks for, the quick ones first.
var promises = []struct {
	name string
	keep func(*testing.T, engine)
}{
	{"every lane key is the one that a producer holds", keysAreHeld},
	{"depth and lag are the engine's own", depthIsTheirs},
	{"drained waits for rows and for open transactions", drainedIsTrue},
	{"contention is what a direct count says", contentionIsTrue},
}

// eachEngine runs the suite on every version, side by side: it waits more than
// it works. On versions before the newest only the first few promises are asked
// for; and the newest alone sees producers take up a raise, which takes longest
// and is the same SQL everywhere.
func eachEngine(t *testing.T, with func(testing.TB, *pgtest.DB) engine, onOlder int) {
	for _, version := range pgtest.Versions() {
		t.Run("pg"+version, func(t *testing.T) {
			t.Parallel()
			e := with(t, pgtest.On(t, version))
			discovered(t, e)
			ask := promises
			if version != newest() {
				ask = promises[:onOlder]
			}
			for _, promise := range ask {
				t.Run(promise.name, func(t *testing.T) { promise.keep(t, e) })
			}
		})
	}
}

// watcher is a probe with the real discovery. It leaves the hunt for leaked
// goroutines to other tests, since these run side by side.
func watcher(t testing.TB, e engine, pace float64) *Probe {
	t.Helper()
	cfg := config(e.database().URL)
	cfg.Discover, cfg.Pace, cfg.BaseHz = discovery, pace, 20
	p := Start(context.Background(), cfg)
	t.Cleanup(p.Close)
	return p
}

func discovery(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
	return db.Discover(ctx, conn, false)
}

// discovered takes the engine from canonical to active storage.
func discovered(t *testing.T, e engine) {
	t.Helper()
	reader := e.database().Connect(t)
	exec(t, reader, `set default_transaction_read_only = on`)
	was, err := discovery(ctxOf(t), reader)
	if err != nil || was.State != control.AwaCanonical || was.MayWatch || was.MayWrite || was.Schema != "" {
		t.Fatalf("before queue storage: %+v, %v", was, err)
	}
	p := watcher(t, e, 10)
	if s := read(t, p); s.Awa.State != control.AwaCanonical || len(s.Readings) != 0 {
		t.Errorf("the probe before queue storage: %+v", s)
	}
	e.activate(t)
	is, err := discovery(ctxOf(t), reader)
	version := ask1[int](t, e.admin(), `select max(version)::int from awa.schema_version`)
	if err != nil || is.State != control.AwaActive || is.Schema != "awa" || is.Version != version ||
		!is.MayWatch || !is.MayWrite || len(is.Missing) > 0 {
		t.Fatalf("with queue storage: %+v, %v", is, err)
	}
	if version < db.OldestAwa || version > db.NewestAwa {
		t.Errorf("version %d is outside %d..%d", version, db.OldestAwa, db.NewestAwa)
	}
	provision(t, e.admin(), "noticed", 1, 2)
	until(t, p, "the probe notices by itself", func(s control.Snapshot) bool {
		return s.Awa.State == control.AwaActive && len(of(s, "noticed").Lanes) == 1
	})
}

// provision makes lanes in the one order that neither blocks behind producers
// nor leaves them a lane of the wrong owner: missing heads only, under the
// install key, as the owner of shard 0.
func provision(t testing.TB, conn *pgx.Conn, queue string, shards int, priorities ...int) {
	t.Helper()
	err := pgx.BeginFunc(ctxOf(t), conn, func(tx pgx.Tx) error {
		owner := ""
		err := tx.QueryRow(ctxOf(t), `select pg_get_userbyid(relowner) from pg_class
			where oid = coalesce((select to_regclass(format('%I.%I', 'awa', seq_name)) from awa.queue_enqueue_heads
				where queue = $1 and enqueue_shard = 0 limit 1), 'awa.queue_enqueue_heads'::regclass)`, queue).Scan(&owner)
		if err != nil {
			return err
		}
		for _, set := range []string{`set local lock_timeout = '10s'`, `set local statement_timeout = '20s'`,
			`set local role ` + pgx.Identifier{owner}.Sanitize()} {
			if _, err := tx.Exec(ctxOf(t), set); err != nil {
				return err
			}
		}
		for _, priority := range priorities {
			if _, err := tx.Exec(ctxOf(t), `insert into awa.queue_lanes (queue, priority) values ($1, $2)
				on conflict do nothing`, queue, priority); err != nil {
				return err
			}
			for shard := range shards {
				for _, sql := range []string{
					`select pg_advisory_xact_lock(hashtextextended(format('awa:%s:%s:%s', $1::text, $2::int2, $3::int2), 0))`,
					`insert into awa.queue_enqueue_heads (queue, priority, enqueue_shard) select $1::text, $2::int2, $3::int2
						where not exists (select from awa.queue_enqueue_heads where queue = $1 and priority = $2 and enqueue_shard = $3)`,
					`insert into awa.queue_claim_heads (queue, priority, enqueue_shard) select $1::text, $2::int2, $3::int2
						where not exists (select from awa.queue_claim_heads where queue = $1 and priority = $2 and enqueue_shard = $3)`,
				} {
					if _, err := tx.Exec(ctxOf(t), sql, queue, priority, shard); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("provision %q: %v", queue, err)
	}
	if n := ask1[int](t, conn, `select count(*) from awa.queue_enqueue_heads e join awa.queue_claim_heads c
		using (queue, priority, enqueue_shard)
		where queue = $1 and e.seq_name is not null and c.seq_name is not null`, queue); n < shards*len(priorities) {
		t.Fatalf("%d of %d lanes of %q are whole", n, shards*len(priorities), queue)
	}
}

// setShards sets the configured count and touches nothing else.
func setShards(t testing.TB, conn *pgx.Conn, queue string, n int) {
	t.Helper()
	exec(t, conn, `insert into awa.queue_meta (queue, enqueue_shards) values ($1, $2)
		on conflict (queue) do update set enqueue_shards = excluded.enqueue_shards`, queue, n)
}

// insertOne enqueues as SQL producers do; ago is how long the job has been due.
func insertOne(t testing.TB, on interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, queue string, priority int, key string, ago time.Duration) int64 {
	t.Helper()
	var bytes []byte
	if key != "" {
		bytes = []byte(key)
	}
	var id int64
	err := on.QueryRow(ctxOf(t), `select id from awa.insert_job_compat('work', $1, '{"n": 0}', p_priority => $2::int2,
		p_ordering_key => $3::bytea, p_run_at => clock_timestamp() - make_interval(secs => $4::float8))`,
		queue, priority, bytes, ago.Seconds()).Scan(&id)
	if err != nil {
		t.Fatalf("insert into %q: %v", queue, err)
	}
	return id
}

// shardOf is where Awa routes an ordering key.
func shardOf(key []byte, shards int) int {
	h := uint64(14695981039346656037)
	for _, b := range key {
		h = h*1099511628211 + uint64(b)
	}
	return int(h % uint64(shards))
}

// keyFor is an ordering key for a shard.
func keyFor(shard, shards int) string {
	for n := 0; ; n++ {
		if key := "key " + strconv.Itoa(n); shardOf([]byte(key), shards) == shard {
			return key
		}
	}
}
