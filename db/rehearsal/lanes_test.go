package rehearsal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// code is the SQLSTATE of err, "" when the server sent none.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// waiters counts sessions that wait for the enqueue lock of a lane, found the
// way an observer has to find it: by the key computed from the head.
const waiters = `
	SELECT count(*) FROM pg_locks AS l JOIN awa.queue_enqueue_heads AS h
	    ON ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(format('%I.%I', 'awa', h.seq_name), 0)
	 WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND NOT l.granted
	   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	   AND h.queue = $1 AND h.enqueue_shard = $2`

func TestProvisioningAgainChangesNothingAndWaitsForNobody(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn, busy := d.Connect(t), d.Connect(t)
		install(t, conn, rehearsal.Options{})
		const queue = "odd: \"q\"#7\nキュー"
		if err := rehearsal.Provision(within(t), conn, queue, 2, 1, 3); err != nil {
			t.Fatal(err)
		}
		do(t, busy, `BEGIN`)
		do(t, busy, `SELECT awa.reserve_enqueue_seq($1, 3::smallint, 0::smallint, 10)`, queue)
		do(t, conn, `SET lock_timeout = '5s'`)
		if err := rehearsal.Provision(within(t), conn, queue, 4); err != nil {
			t.Fatalf("provisioning behind a producer: %v", err)
		}
		do(t, busy, `ROLLBACK`)
		before := ask[string](t, conn, `SELECT string_agg(h::text || h.xmin, ',' ORDER BY h) FROM awa.queue_enqueue_heads AS h`)
		if err := rehearsal.Provision(within(t), conn, queue, 4); err != nil {
			t.Fatal(err)
		}
		if after := ask[string](t, conn, `SELECT string_agg(h::text || h.xmin, ',' ORDER BY h) FROM awa.queue_enqueue_heads AS h`); after != before {
			t.Errorf("a repeat changed the heads:\n%s\n%s", before, after)
		}
		named := `SELECT count(*) FROM awa.queue_%s_heads WHERE queue = $1 AND priority IN (1, 3) AND to_regclass('awa.' || seq_name) IS NOT NULL`
		for _, kind := range []string{"enqueue", "claim"} {
			if n := ask[int](t, conn, fmt.Sprintf(named, kind), queue); n != 8 {
				t.Errorf("%d %s heads with a sequence, want 8", n, kind)
			}
		}
		if n := ask[int](t, conn, `SELECT awa.reserve_enqueue_seq($1, 3::smallint, 0::smallint, 0)`, queue); n != 11 {
			t.Errorf("next number %d after an aborted block of ten, want 11", n)
		}
	})
}

func TestAnInsertThatConflictsStillWaitsForTheLane(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn, busy := d.Connect(t), d.Connect(t)
		install(t, conn, rehearsal.Options{})
		do(t, conn, `SELECT awa.insert_job_compat('x', 'q')`)
		do(t, busy, `BEGIN`)
		do(t, busy, `SELECT awa.insert_job_compat('x', 'q')`)
		do(t, conn, `SET lock_timeout = '200ms'`)
		const again = `INSERT INTO awa.queue_enqueue_heads (queue, priority) VALUES ('q', 2) ON CONFLICT DO NOTHING`
		if _, err := conn.Exec(within(t), again); code(err) != "55P03" {
			t.Errorf("did not wait: %v", err)
		}
		do(t, busy, `COMMIT`)
		do(t, conn, again)
		if n := ask[int](t, conn, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'`); n != 0 {
			t.Errorf("%d advisory locks stayed", n)
		}
	})
}

// racers all enqueue into one lane from the same starting line, and race
// returns how many of them failed with a duplicate key.
func race(t *testing.T, gate *pgx.Conn, racers []*pgx.Conn, queue string) (duplicates int) {
	t.Helper()
	do(t, gate, `BEGIN`)
	do(t, gate, `LOCK TABLE awa.queue_lanes IN ACCESS EXCLUSIVE MODE`)
	var all sync.WaitGroup
	ended := make(chan error, len(racers))
	for _, c := range racers {
		ctx := within(t)
		all.Go(func() {
			_, err := c.Exec(ctx, `SELECT awa.insert_job_compat('x', $1, p_ordering_key => 'customer-1')`, queue)
			ended <- err
		})
	}
	until(t, "all wait at the line", func() bool {
		return ask[int](t, gate, `SELECT count(*) FROM pg_locks WHERE relation = 'awa.queue_lanes'::regclass AND NOT granted`) == len(racers)
	})
	do(t, gate, `COMMIT`)
	all.Wait()
	for range racers {
		err := <-ended
		if code(err) == "23505" {
			duplicates++
		} else if err != nil {
			t.Error(err)
		}
	}
	return duplicates
}

func TestRaisingWithoutProvisioningBreaksProducersAndWithItNone(t *testing.T) {
	d := pgtest.One(t)
	gate := d.Connect(t)
	install(t, gate, rehearsal.Options{})
	racers := make([]*pgx.Conn, 12)
	for i := range racers {
		racers[i] = d.Connect(t)
	}
	raise := func(queue string, lanes int) {
		if err := rehearsal.Provision(within(t), gate, queue, lanes); err != nil {
			t.Fatal(err)
		}
		if err := rehearsal.SetShards(within(t), gate, queue, 64); err != nil {
			t.Fatal(err)
		}
	}
	raise("provisioned", 64)
	if n := race(t, gate, racers, "provisioned"); n > 0 {
		t.Errorf("%d duplicate keys on a lane that existed", n)
	}
	attempt := 0
	until(t, "a duplicate key among racing producers", func() bool {
		attempt++
		queue := fmt.Sprint("raised ", attempt)
		raise(queue, 1)
		return race(t, gate, racers, queue) > 0
	})
}

func TestKeysGoToTheShardThatTheServerSays(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	for i := range 200 {
		key := make([]byte, i%40)
		for j := range key {
			key[j] = byte(rand.Uint32())
		}
		shards := 1 + i%64
		server := ask[int](t, conn, `SELECT awa.rehearsal_ordering_key_shard($1, $2)`, key, shards)
		if ours := rehearsal.ShardOfKey(key, shards); int(ours) != server {
			t.Fatalf("key %x of %d: shard %d here, %d there", key, shards, ours, server)
		}
	}
	// A real Awa's answers, so that both sides cannot go wrong together.
	for key, want := range map[string]int16{"": 37, "customer-1": 59, "customer-2": 60, "ünïcode": 53} {
		if got := rehearsal.ShardOfKey([]byte(key), 64); got != want {
			t.Errorf("key %q: shard %d, Awa says %d", key, got, want)
		}
	}
}
