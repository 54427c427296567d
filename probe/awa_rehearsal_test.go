package probe

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// standIn is the rehearsal schema with its own producers and workers.
type standIn struct{ base }

// newStandIn gives d a rehearsal schema that is not active yet.
func newStandIn(t testing.TB, d *pgtest.DB) engine {
	t.Helper()
	e := &standIn{base{d: d, conn: d.Connect(t)}}
	if err := rehearsal.Install(ctxOf(t), e.conn, rehearsal.Options{State: "canonical"}); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *standIn) activate(t testing.TB) {
	t.Helper()
	if err := rehearsal.Uninstall(ctxOf(t), e.conn); err != nil {
		t.Fatal(err)
	}
	if err := rehearsal.Install(ctxOf(t), e.conn, rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
}

func (e *standIn) begin(t testing.TB, queue string, priority int, key string) held {
	t.Helper()
	conn := e.d.Connect(t)
	tx, err := conn.Begin(ctxOf(t))
	if err != nil {
		t.Fatal(err)
	}
	insertOne(t, tx, queue, priority, key, 0)
	end := func(f func(context.Context) error) func() {
		return func() {
			if err := f(ctxOf(t)); err != nil {
				t.Error(err)
			}
			_ = conn.Close(ctxOf(t))
		}
	}
	return held{pid: int32(conn.PgConn().PID()), commit: end(tx.Commit), rollback: end(tx.Rollback)}
}

// run keeps a load going until it is stopped, which fails on any error of it.
func (e *standIn) run(t testing.TB, spec rehearsal.Spec) (r *rehearsal.Running, stop func()) {
	t.Helper()
	r, err := rehearsal.Run(context.Background(), e.d.URL, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r, func() {
		t.Helper()
		if err := r.Stop(ctxOf(t)); err != nil {
			t.Error(err)
		}
		if errs := r.Stats().Errors; len(errs) > 0 {
			t.Errorf("the rehearsal's sessions failed: %v", errs)
		}
	}
}

// batch is one transaction of a producer that reserves a block of numbers.
func (e *standIn) batch(t testing.TB, queue string, priority, jobs int, key string) {
	t.Helper()
	shard := 0
	if key != "" {
		shard = shardOf([]byte(key), e.shards(t, queue))
	}
	err := pgx.BeginFunc(ctxOf(t), e.conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctxOf(t), `select awa.rehearsal_append($1, $2, $3,
			awa.reserve_enqueue_seq($1, $2, $3, $4), $4, 'work', '{}', 25::int2, clock_timestamp(), '{}', null, null)`,
			queue, priority, shard, jobs)
		return err
	})
	if err != nil {
		t.Fatalf("batch: %v", err)
	}
}

// cancel does what Awa's cancelling of a ready job leaves behind.
func (e *standIn) cancel(t testing.TB, ids ...int64) {
	t.Helper()
	tag, err := e.conn.Exec(ctxOf(t), `insert into awa.ready_tombstones
			(ready_slot, ready_generation, queue, priority, enqueue_shard, lane_seq, job_id)
		select ready_slot, ready_generation, queue, priority, enqueue_shard, lane_seq, job_id
		from awa.ready_entries r
		where job_id = any ($1) and not exists (select from awa.rehearsal_lease l where l.job_id = r.job_id)`, ids)
	if err != nil || tag.RowsAffected() != int64(len(ids)) {
		t.Fatalf("cancel %v: %v, %v", ids, tag, err)
	}
}

// counts goes by the rows themselves, as slow as that may be.
func (e *standIn) counts(t testing.TB, queue string) (int, control.Value) {
	t.Helper()
	var n int
	var lag *float64
	err := e.conn.QueryRow(ctxOf(t), `select count(*), extract(epoch from clock_timestamp() - min(j.run_at))::float8
		from awa.jobs j where j.queue = $1 and j.state = 'available'
		and not exists (select from awa.ready_tombstones d where d.job_id = j.id)`, queue).Scan(&n, &lag)
	if err != nil {
		t.Fatal(err)
	}
	if lag == nil {
		return n, control.None()
	}
	return n, control.Some(*lag)
}

func (e *standIn) work(t testing.TB, queue string, atLeast int) {
	t.Helper()
	// Slow enough to be stopped in time on a busy machine: 250 jobs a second.
	r, stop := e.run(t, rehearsal.Spec{Keep: true, Workers: []rehearsal.Workers{
		{Queues: []string{queue}, Count: 1, Batch: 4, PerJob: 4 * time.Millisecond},
	}})
	defer stop()
	for end := time.Now().Add(patience); r.Stats().Completed < uint64(atLeast); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the workers completed %d jobs of %d", r.Stats().Completed, atLeast)
		}
	}
}

func (e *standIn) produce(t testing.TB, queue string, sessions int, hold time.Duration) load {
	t.Helper()
	r, stop := e.run(t, rehearsal.Spec{Keep: true, Producers: []rehearsal.Producers{
		{Queue: queue, Count: sessions, Hold: hold},
	}})
	return load{
		counted: func() (int, float64) {
			s := r.Stats()
			return int(s.Enqueued), s.Elapsed.Seconds()
		},
		stop: stop,
	}
}
