package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// What shardpilot takes for granted of Awa and of PostgreSQL beneath it, each
// held against the real thing.

func TestAwaFactTheSchemaIsOneThatWeKnow(t *testing.T) {
	t.Parallel()
	e := newActiveAwa(t, pgtest.One(t))
	client := 0
	e.tell(t, &client, "version", nil)
	version := ask1[int](t, e.admin(), `select max(version)::int from awa.schema_version`)
	if version != client || version < db.OldestAwa || version > db.NewestAwa {
		t.Errorf("the schema is version %d, its client's %d; we know %d..%d", version, client, db.OldestAwa, db.NewestAwa)
	}
	t.Logf("schema version %d", version)
}

// refused is the SQLSTATE of a refusal, "" when there was none.
func refused(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func TestAwaFactAHeadInsertTakesTheLaneKeyForAMomentEvenOnConflict(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]engine{"Awa": newActiveAwa(t, pgtest.One(t)), "stand-in": activeStandIn(t, pgtest.One(t))} {
		provision(t, e.admin(), "q", 1, 2)
		open := e.begin(t, "q", 2, "")
		const upsert = `insert into awa.queue_enqueue_heads (queue, priority, enqueue_shard) values ('q', 2, 0) on conflict do nothing`
		exec(t, e.admin(), `set lock_timeout = '100ms'`)
		if _, err := e.admin().Exec(ctxOf(t), upsert); refused(err) != "55P03" {
			t.Errorf("%s: an insert that conflicts, beside a producer: %v", name, err)
		}
		// What our provisioning does instead waits for nobody.
		if _, err := e.admin().Exec(ctxOf(t), `insert into awa.queue_enqueue_heads (queue, priority, enqueue_shard)
			select 'q', 2, 0 where not exists (select from awa.queue_enqueue_heads where queue = 'q')`); err != nil {
			t.Errorf("%s: an insert that finds the head there: %v", name, err)
		}
		open.rollback()
		conn := e.database().Connect(t)
		exec(t, conn, `begin`)
		exec(t, conn, upsert)
		if keys := keysHeldBy(t, e.admin(), int32(conn.PgConn().PID())); len(keys) != 0 {
			t.Errorf("%s: after the insert its transaction still holds %v", name, keys)
		}
		exec(t, conn, `rollback`)
	}
}

func activeStandIn(t *testing.T, d *pgtest.DB) engine {
	t.Helper()
	e := newStandIn(t, d)
	e.activate(t)
	return e
}

func TestAwaFactTheSequencesMoveAndTheHeadsNumbersStayAtOne(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]engine{"Awa": newActiveAwa(t, pgtest.One(t)), "stand-in": activeStandIn(t, pgtest.One(t))} {
		for range 7 {
			insertOne(t, e.admin(), "q", 2, "", 0)
		}
		e.batch(t, "q", 2, 5, "")
		e.work(t, "q", 12)
		var enqueue, claim, next, claimed int64
		err := e.admin().QueryRow(ctxOf(t), `select e.next_seq, c.claim_seq,
			pg_sequence_last_value(format('awa.%I', e.seq_name)::regclass),
			pg_sequence_last_value(format('awa.%I', c.seq_name)::regclass)
			from awa.queue_enqueue_heads e join awa.queue_claim_heads c using (queue, priority, enqueue_shard)
			where queue = 'q'`).Scan(&enqueue, &claim, &next, &claimed)
		if err != nil || enqueue != 1 || claim != 1 || next != 12 || claimed != 12 {
			t.Errorf("%s: columns %d and %d, sequences %d and %d: %v", name, enqueue, claim, next, claimed, err)
		}
	}
}

func TestAwaFactAnAbortedEnqueueLeavesAHeadDifferenceForEver(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]engine{"Awa": newActiveAwa(t, pgtest.One(t)), "stand-in": activeStandIn(t, pgtest.One(t))} {
		insertOne(t, e.admin(), "q", 2, "", 0)
		e.work(t, "q", 1)
		e.begin(t, "q", 2, "").rollback()
		var ahead int64
		var available int
		if err := e.admin().QueryRow(ctxOf(t), `select
			coalesce(pg_sequence_last_value(format('awa.%I', e.seq_name)::regclass), 0)
			- coalesce(pg_sequence_last_value(format('awa.%I', c.seq_name)::regclass), 0)
			from awa.queue_enqueue_heads e join awa.queue_claim_heads c using (queue, priority, enqueue_shard)
			where queue = 'q'`).Scan(&ahead); err != nil {
			t.Fatal(err)
		}
		if available, _ = e.counts(t, "q"); ahead != 1 || available != 0 {
			t.Errorf("%s: heads differ by %d, available %d", name, ahead, available)
		}
	}
}

func TestAwaFactNotifyingProducersCommitOneAtATime(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	e := newActiveAwa(t, d)
	provision(t, e.admin(), "q", 32, 2)
	setShards(t, e.admin(), "q", 32)
	r, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{Producers: []rehearsal.Producers{{Queue: "q", Count: 32}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Stop(ctxOf(t)); err != nil || len(r.Stats().Errors) > 0 {
			t.Errorf("producers: %v, %v", err, r.Stats().Errors)
		}
	}()
	// Waiting is proof that somebody has it: it is a lock like any other.
	waitFor(t, e.admin(), `select exists (select from pg_locks where locktype = 'object' and classid = 1262
		and database = 0 and objid = 0 and mode = 'AccessExclusiveLock' and not granted)`)
	for end := time.Now().Add(patience); ; { // one of them holds a lane meanwhile
		if ask1[bool](t, e.admin(), `with here as materialized (select * from pg_locks)
			select exists (select from here n join here l using (pid) where n.locktype = 'object' and n.classid = 1262
			and n.database = 0 and n.objid = 0 and n.mode = 'AccessExclusiveLock' and not n.granted
			and l.locktype = 'advisory' and l.objsubid = 1 and l.granted)`) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nobody waited to notify with a lane in hand")
		}
	}
}

func TestAwaFactProducersThatRaceToMakeALaneFail(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]engine{"Awa": newActiveAwa(t, pgtest.One(t)), "stand-in": activeStandIn(t, pgtest.One(t))} {
		// The queue is in use with one shard, as queues are before a raise.
		insertOne(t, e.admin(), "q", 2, "", 0)
		setShards(t, e.admin(), "q", 2)
		race := func(key string) error {
			first := e.begin(t, "q", 2, key)
			second := e.database().Connect(t)
			done := make(chan error, 1)
			go func() {
				_, err := second.Exec(context.Background(),
					`select awa.insert_job_compat('work', 'q', '{"n": 0}', p_ordering_key => $1::bytea)`, []byte(key))
				done <- err
			}()
			waitFor(t, e.admin(), fmt.Sprintf(`select exists (select from pg_locks where not granted and pid = %d)`, second.PgConn().PID()))
			first.commit()
			return <-done
		}
		if err := race(keyFor(1, 2)); refused(err) != "23505" {
			t.Errorf("%s: the second producer in a new lane: %v", name, err)
		}
		provision(t, e.admin(), "q", 4, 2)
		setShards(t, e.admin(), "q", 4)
		if err := race(keyFor(3, 4)); err != nil {
			t.Errorf("%s: the second producer in a provisioned lane: %v", name, err)
		}
	}
}

func TestAwaFactPythonsCopyAlwaysStartsAtShardZero(t *testing.T) {
	t.Parallel()
	e := newActiveAwa(t, pgtest.One(t))
	provision(t, e.admin(), "q", 4, 2)
	setShards(t, e.admin(), "q", 4)
	for range 8 {
		e.batch(t, "q", 2, 10, "")
	}
	if got := lanesOf(t, e.admin(), "q"); len(got) != 1 || got[place{"q", 2, 0}] != 80 {
		t.Errorf("80 jobs in 8 calls landed on %v", got)
	}
}

func TestAwaFactLongNamesHaveLanesButNoEnqueues(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]engine{"Awa": newActiveAwa(t, pgtest.One(t)), "stand-in": activeStandIn(t, pgtest.One(t))} {
		insertOne(t, e.admin(), strings.Repeat("n", longestNotified), 2, "", 0)
		_, err := e.admin().Exec(ctxOf(t), `select awa.insert_job_compat('work', $1)`, strings.Repeat("n", longestNotified+1))
		if refused(err) != "22023" {
			t.Errorf("%s: a name of %d bytes: %v", name, longestNotified+1, err)
		}
	}
}

func TestAwaFactASequenceThatMayNotBeReadIsAnErrorOrSilence(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		e := activeStandIn(t, d)
		insertOne(t, e.admin(), "q", 2, "", 0)
		stranger := d.ConnectAs(t, as(t, d, e.admin(), "stranger", "grant usage on schema awa"))
		seq := ask1[string](t, e.admin(), `select format('awa.%I', seq_name) from awa.queue_enqueue_heads`)
		var last *int64
		err := stranger.QueryRow(ctxOf(t), `select pg_sequence_last_value($1::regclass)`, seq).Scan(&last)
		// PostgreSQL 18 answers NULL, which must not be read as empty.
		silent := ask1[int](t, e.admin(), `select current_setting('server_version_num')::int`) >= 180000
		if silent && (err != nil || last != nil) || !silent && refused(err) != "42501" {
			t.Errorf("without rights: %v, %v", last, err)
		}
		if ask1[bool](t, stranger, `select has_sequence_privilege($1::regclass, 'usage, select')`, seq) {
			t.Error("the server says that the stranger may read")
		}
		if last := ask1[int64](t, e.admin(), `select pg_sequence_last_value($1::regclass)`, seq); last != 1 {
			t.Errorf("with rights: %d", last)
		}
	})
}
