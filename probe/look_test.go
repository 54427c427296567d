package probe

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

func TestWaitersAndHoldersAreWhatADirectCountSays(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 1, "idle": 1})
		_, tx := begun(t, d, "orders", "holder-app")
		join := inLine(t, d, "orders", 5)
		const waiting = `select count(*) from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database())`
		for ask1[int](t, admin, waiting) < 5 { // before the window begins, of which the share is
			time.Sleep(5 * time.Millisecond)
		}
		p := start(t, config(d.URL))
		s := until(t, p, "five waiters in every sample", func(s control.Snapshot) bool {
			r := of(s, "orders")
			return r.Samples > 0 && r.Waiters == control.Some(5) && r.Holder != nil && r.Depth.OK() &&
				r.Bottleneck == control.BottleneckStuck
		})
		direct := ask1[int](t, admin, waiting)
		r := of(s, "orders")
		if direct != 5 || r.Holders != control.Some(1) || r.Inside != control.Some(6) {
			t.Errorf("direct %d, holders %v, inside %v", direct, r.Holders, r.Inside)
		}
		if len(r.Lanes) != 1 || r.Lanes[0].Waiters != control.Some(5) || r.Lanes[0].Busy != control.Some(1) {
			t.Errorf("lanes %+v", r.Lanes)
		}
		if share := r.Share.Or(0); share < 0.8 || share > 0.84 {
			t.Errorf("share %v, want 5/6", r.Share)
		}
		h := r.Holder
		if h.Application != "holder-app" || h.Waiters != 5 || h.State != "idle in transaction" ||
			h != r.Lanes[0].Holder || h.XactAgeS.Or(0) < 0.4 || h.Client == "" || h.User != "postgres" || h.Class != control.BottleneckStuck {
			t.Errorf("holder %+v", h)
		}
		if d := of(s, "idle"); d.Samples == 0 || d.Waiters != control.Some(0) || d.Share != control.Some(0) ||
			d.Bottleneck != control.BottleneckNone || d.Shards != 1 || d.Depth != control.Some(0) {
			t.Errorf("idle queue %+v", d)
		}
		if err := tx.Rollback(ctxOf(t)); err != nil {
			t.Fatal(err)
		}
		join()
	})
}

func TestOnlyExactLaneKeysOfOurDatabaseAreTakenForLanes(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 8})
		other := pgtest.On(t, d.Version)
		var key int64
		if err := admin.QueryRow(ctxOf(t), `select hashtextextended(format('%I.%I', 'awa', seq_name), 0)
			from awa.queue_enqueue_heads where queue = 'orders' and enqueue_shard = 0`).Scan(&key); err != nil {
			t.Fatal(err)
		}
		// Session locks, held for the whole test: what other programs use,
		// the lane's own halves as a two-key lock, the lane's key elsewhere.
		exec(t, admin, `select pg_advisory_lock(k) from unnest(array[-1, -4294967297, 4294967301]::int8[]) k`)
		exec(t, admin, `select pg_advisory_lock(1, 5), pg_advisory_lock(-1, 5)`)
		exec(t, admin, `select pg_advisory_lock(($1::int8 >> 32)::int4, (($1::int8 << 32) >> 32)::int4)`, key)
		exec(t, other.Connect(t), `select pg_advisory_lock($1::int8)`, key)

		p := start(t, config(d.URL))
		s := until(t, p, "all lanes known", func(s control.Snapshot) bool { return len(of(s, "orders").Lanes) == 8 })
		until(t, p, "a sample of nobody", func(next control.Snapshot) bool {
			s = next
			return of(s, "orders").Samples > 0
		})
		if r := of(s, "orders"); r.HoldSum != 0 || r.WaitSum != 0 {
			t.Fatalf("taken for lanes: %+v", r)
		}
		negative, _ := negativeLane(t, d)
		exec(t, admin, `select pg_advisory_lock($1::int8)`, negative.key)
		s = until(t, p, "the lane with a negative key held", func(s control.Snapshot) bool {
			return of(s, "orders").Holders.Or(0) == 1
		})
		for _, l := range of(s, "orders").Lanes {
			if held := l.Shard == negative.shard; (l.Busy == control.Some(1)) != held {
				t.Errorf("shard %d busy %v, held %v", l.Shard, l.Busy, held)
			}
		}
	})
}

// negativeLane finds a lane of orders whose key is negative; with eight lanes
// one in 256 sets has none, and these have the same names in every run.
func negativeLane(t *testing.T, d *pgtest.DB) (lane, bool) {
	t.Helper()
	var l lane
	err := d.Connect(t).QueryRow(ctxOf(t), `select k, shard from (
		select hashtextextended(format('%I.%I', 'awa', seq_name), 0) k, enqueue_shard::int4 shard
		from awa.queue_enqueue_heads where queue = 'orders') x where k < 0 limit 1`).Scan(&l.key, &l.shard)
	if err != nil {
		t.Fatal(err)
	}
	return l, true
}

func TestTheGateKeepsALookFromTheLockTable(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		awa(t, d, map[string]int{"orders": 1})
		l := &link{conn: d.Connect(t), now: time.Now, spent: func(time.Duration) {}}
		_, tx := begun(t, d, "orders", "app")
		st := newState()
		q := &queue{name: "orders"}
		ln := &lane{queue: q}
		if err := l.conn.QueryRow(ctxOf(t), `select hashtextextended(format('%I.%I', 'awa', seq_name), 0)
			from awa.queue_enqueue_heads`).Scan(&ln.key); err != nil {
			t.Fatal(err)
		}
		st.byKey[ln.key] = ln
		shut, err := take(ctxOf(t), l, st.byKey, nil, true, false)
		if err != nil || shut.open || shut.read || len(shut.hold) != 0 || !shut.visible || shut.server <= 0 {
			t.Fatalf("closed gate: %+v, %v", shut, err)
		}
		forced, err := take(ctxOf(t), l, st.byKey, nil, true, true)
		if err != nil || forced.open || !forced.read || len(forced.hold) != 1 {
			t.Fatalf("forced past a closed gate: %+v, %v", forced, err)
		}
		matched, err := take(ctxOf(t), l, st.byKey, []int64{ln.key}, false, true)
		if err != nil || len(matched.hold) != 1 {
			t.Fatalf("matched by the server: %+v, %v", matched, err)
		}
		join := inLine(t, d, "orders", 3)
		end := time.Now().Add(patience)
		for {
			open, err := take(ctxOf(t), l, st.byKey, nil, true, false)
			if err != nil {
				t.Fatal(err)
			}
			if open.open && open.read && len(open.wait[ln]) == 3 && len(open.hold) == 1 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("open gate: %+v", open)
			}
		}
		_ = tx.Rollback(ctxOf(t))
		join()
	})
}

func TestAPlainRoleStillSeesWaitsAndIsToldWhatIsHidden(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 1})
		dsn := as(t, d, admin, "watcher", "")
		exec(t, admin, `grant usage on schema awa to public; grant select on all tables in schema awa to public; grant select on all sequences in schema awa to public`)
		_, tx := begun(t, d, "orders", "holder-app")
		join := inLine(t, d, "orders", 4)
		p := start(t, config(dsn))
		s := until(t, p, "four waiters, first of an unknown holder", func(s control.Snapshot) bool {
			r := of(s, "orders")
			return r.Waiters == control.Some(4) && r.Holder != nil
		})
		if h := of(s, "orders").Holder; !h.Hidden || h.Class != control.BottleneckUnknown && h.Class != control.BottleneckStuck || h.XactAgeS.OK() {
			t.Errorf("holder %+v", h)
		}
		why, ok := problemIn(s, "activity")
		if want := `GRANT pg_read_all_stats TO "watcher_` + d.Name + `";`; !ok || why.Hint != want {
			t.Errorf("problem %+v, want hint %q", why, want)
		}
		s = until(t, p, "stuck by what our own looks saw", func(s control.Snapshot) bool {
			h := of(s, "orders").Holder
			return h != nil && h.Class == control.BottleneckStuck
		})
		if h := of(s, "orders").Holder; !h.Hidden || h.PID == 0 {
			t.Errorf("holder %+v", h)
		}
		exec(t, admin, `grant pg_read_all_stats to watcher_`+d.Name)
		until(t, p, "the hint gone once the right is there", func(s control.Snapshot) bool {
			_, hidden := problemIn(s, "activity")
			h := of(s, "orders").Holder
			return !hidden && h != nil && !h.Hidden && h.Application == "holder-app"
		})
		_ = tx.Rollback(ctxOf(t))
		join()
	})
}

func TestAHolderInTheNotifyQueueIsClassedNotify(t *testing.T) {
	// A commit that waits for a standby which does not exist keeps the lock
	// under which notifying transactions commit.
	d := pgtest.NewServer(t, newest(), map[string]string{"synchronous_standby_names": "nobody", "synchronous_commit": "local"})
	admin := awa(t, d, map[string]int{"orders": 1})
	blocker := d.Connect(t)
	exec(t, blocker, `set synchronous_commit = on`)
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		// Cancelled below: it commits here and says that no standby has it.
		_, _ = blocker.Exec(context.Background(), `begin; select pg_notify('x', 'y'); create table kept(); commit`)
	}()
	waitFor(t, admin, `select exists (select from pg_locks where locktype = 'object' and classid = 1262 and database = 0 and objid = 0 and granted)`)
	_, holding := begun(t, d, "orders", "holder-app")
	committed := make(chan error, 1)
	go func() { committed <- holding.Commit(context.Background()) }()
	join := inLine(t, d, "orders", 3)
	p := start(t, config(d.URL))
	s := until(t, p, "notify named", func(s control.Snapshot) bool {
		r := of(s, "orders")
		return r.Bottleneck == control.BottleneckNotify && r.Holder != nil && r.Waiters == control.Some(3)
	})
	if r := of(s, "orders"); r.Causes.Notify != control.Some(1) || r.Holder.WaitEvent != "Lock:object" || r.Holder.Class != control.BottleneckNotify {
		t.Errorf("causes %+v, holder %+v", r.Causes, r.Holder)
	}
	exec(t, admin, `select pg_cancel_backend($1::int4)`, int32(blocker.PgConn().PID()))
	if err := <-committed; err != nil {
		t.Error(err)
	}
	<-blocked
	join()
}

// TestBothLanesOfProducersThatOnlyCommitAreBehindNotify: of two lanes one holder
// commits and the other stands behind it. Counting the latter alone, half of the
// waits would look like a lane's, and a step up like a way out.
func TestBothLanesOfProducersThatOnlyCommitAreBehindNotify(t *testing.T) {
	// Each commit takes 100 ms to flush.
	d := pgtest.NewServer(t, newest(), map[string]string{"fsync": "on", "commit_delay": "100000", "commit_siblings": "0"})
	awa(t, d, map[string]int{"orders": 2})
	ctx, stop := context.WithCancel(context.Background())
	var producers sync.WaitGroup
	for range 16 { // the lane is the backend's pid modulo two
		conn := d.Connect(t)
		producers.Go(func() {
			for ctx.Err() == nil {
				if _, err := conn.Exec(context.Background(), insert, "orders"); err != nil {
					t.Errorf("enqueue: %v", err)
					return
				}
			}
		})
	}
	p := start(t, config(d.URL))
	t.Cleanup(func() { stop(); producers.Wait() }) // before the probe's own cleanup counts what is left
	until(t, p, "most waits behind NOTIFY", func(s control.Snapshot) bool {
		r := of(s, "orders")
		return r.Bottleneck == control.BottleneckNotify && r.Causes.Notify.Or(0) > 0.75 && r.Waiters.Or(0) > 8
	})
}

func newest() string {
	all := pgtest.Versions()
	return all[len(all)-1]
}

// waitFor waits until a question is answered with yes.
func waitFor(t *testing.T, conn *pgx.Conn, question string) {
	t.Helper()
	for end := time.Now().Add(patience); !ask1[bool](t, conn, question); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", question)
		}
	}
}
