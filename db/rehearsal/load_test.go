package rehearsal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// hot is the steady load without its quiet neighbours.
func hot(t *testing.T, producers int, hold time.Duration) rehearsal.Spec {
	t.Helper()
	spec, err := rehearsal.Shape("steady", producers, hold)
	if err != nil {
		t.Fatal(err)
	}
	spec.Queues, spec.Producers, spec.Workers = spec.Queues[:1], spec.Producers[:1], spec.Workers[:1]
	return spec
}

func TestProducersStandInLineForTheirLaneAndMoreLanesLetThemThrough(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		install(t, conn, rehearsal.Options{})
		rate := func(shards int) float64 {
			spec := hot(t, 8, 20*time.Millisecond)
			spec.Queues[0].Shards = shards
			r := start(t, d, spec)
			until(t, "all but the holder wait on the computed key", func() bool {
				return ask[int](t, conn, waiters, rehearsal.HotQueue, shards-1) >= 8/shards-1
			})
			before := r.Stats()
			time.Sleep(2 * time.Second) // a pause of the machine must not decide between two rates
			took := r.Stats().Since(before)
			stop(t, r)
			if len(took.Errors) > 0 {
				t.Errorf("errors %v", took.Errors)
			}
			if wait := took.LaneWaitS / took.Elapsed.Seconds(); wait < 8-3*float64(shards) || wait > 8 {
				t.Errorf("%d lanes: 8 producers waited %.1f seconds a second", shards, wait)
			}
			return float64(took.Enqueued) / took.Elapsed.Seconds()
		}
		if one, two := rate(1), rate(2); two < 1.4*one {
			t.Errorf("%.0f jobs/s on one lane, %.0f on two", one, two)
		}
	})
}

func TestTheStopWatchRunsWhileALaneIsHeld(t *testing.T) {
	d := pgtest.One(t)
	conn, watch := d.Connect(t), d.Connect(t)
	install(t, conn, rehearsal.Options{})
	for name, change := range map[string]func(*rehearsal.Producers){
		"one row through SQL": func(*rehearsal.Producers) {},
		"a batch":             func(p *rehearsal.Producers) { p.Batch = 10 },
		"a cached count":      func(p *rehearsal.Producers) { p.CacheShards = true },
	} {
		spec := hot(t, 5, time.Millisecond)
		change(&spec.Producers[0])
		r := start(t, d, spec)
		until(t, "jobs", func() bool { return r.Stats().Enqueued > 50 })
		do(t, conn, `BEGIN`)
		do(t, conn, `SELECT awa.reserve_enqueue_seq('orders', 2::smallint, 0::smallint, 1)`)
		until(t, "all wait", func() bool { return ask[int](t, watch, waiters, "orders", 0) == 5 })
		a := r.Stats()
		time.Sleep(500 * time.Millisecond)
		b := r.Stats().Since(a)
		do(t, conn, `ROLLBACK`)
		until(t, "jobs again", func() bool { return r.Stats().Enqueued > a.Enqueued+50 })
		whole := r.Stats().Since(a)
		stop(t, r)
		want := 5 * b.Elapsed.Seconds()
		if b.Enqueued > 0 || b.LaneWaitS < 0.98*want || b.LaneWaitS > 1.02*want {
			t.Errorf("%s: five waited for %.2f s in all, the stop-watch says %.2f", name, want, b.LaneWaitS)
		}
		if whole.LaneWaitS < want || whole.LaneWaitS > 5*whole.Elapsed.Seconds() {
			t.Errorf("%s: %.2f s when the waits had ended, in %.2f s", name, whole.LaneWaitS, whole.Elapsed.Seconds())
		}
		if whole.ClientWaitS < 0.9*whole.LaneWaitS {
			t.Errorf("%s: the clocks disagree: %.2f s, producers say %.2f s", name, whole.LaneWaitS, whole.ClientWaitS)
		}
	}
}

func TestCachingProducersStayOnTheOldCountUntilTold(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec := hot(t, 4, 0)
	spec.Keep = true
	spec.Producers[0].CacheShards, spec.Producers[0].Spread = true, 0 // all are there at once
	sql := spec.Producers[0]
	sql.CacheShards, sql.Queue = false, "sql"
	spec.Producers = append(spec.Producers, sql)
	spec.Queues = append(spec.Queues, rehearsal.Queue{Name: "sql", Shards: 1})
	r := start(t, d, spec)
	until(t, "jobs in both", func() bool {
		s := r.Stats()
		return s.Queues["orders"].Enqueued > 20 && s.Queues["sql"].Enqueued > 20
	})
	for _, queue := range []string{"orders", "sql"} {
		if err := rehearsal.Provision(within(t), conn, queue, 4); err != nil {
			t.Fatal(err)
		}
		if err := rehearsal.SetShards(within(t), conn, queue, 4); err != nil {
			t.Fatal(err)
		}
	}
	above := func(queue string) int {
		return ask[int](t, conn, `SELECT count(*) FROM awa.ready_entries WHERE queue = $1 AND enqueue_shard > 0`, queue)
	}
	until(t, "SQL producers use the new lanes", func() bool { return above("sql") > 0 })
	seen := r.Stats().Queues["orders"].Enqueued
	until(t, "many more jobs from caching producers", func() bool { return r.Stats().Queues["orders"].Enqueued > seen+100 })
	if n := above("orders"); n > 0 {
		t.Errorf("%d jobs above the cached count", n)
	}
	r.Told()
	until(t, "every lane in use", func() bool {
		return ask[int](t, conn, `SELECT count(DISTINCT enqueue_shard) FROM awa.ready_entries WHERE queue = 'orders'`) == 4
	})
	if s := r.Stats(); len(s.Errors) > 0 {
		t.Errorf("errors %v", s.Errors)
	}
}

func TestSkewedKeysCrowdOneLane(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec, err := rehearsal.Shape("skewed", 12, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{2, 4} {
		if err := rehearsal.Provision(within(t), conn, rehearsal.HotQueue, shards); err != nil {
			t.Fatal(err)
		}
		if err := rehearsal.SetShards(within(t), conn, rehearsal.HotQueue, shards); err != nil {
			t.Fatal(err)
		}
		r := start(t, d, spec)
		until(t, "a warm start", func() bool { return r.Stats().Enqueued > 100 })
		byLane := make([]int, shards)
		all := 0
		for range 40 {
			for lane := range byLane {
				n := ask[int](t, conn, waiters, rehearsal.HotQueue, lane)
				byLane[lane] += n
				all += n
			}
			time.Sleep(10 * time.Millisecond)
		}
		stop(t, r)
		top := 0
		for _, n := range byLane {
			top = max(top, n)
		}
		if all == 0 || float64(top) <= 0.8*float64(all) {
			t.Errorf("%d lanes: %v waits, the worst lane should have over 80%%", shards, byLane)
		}
	}
}

func TestTheStuckShapeShowsOneTransactionInTheWay(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec, err := rehearsal.Shape("stuck", 3, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	spec.Holders[0].Rest = 0
	r := start(t, d, spec)
	until(t, "the producers stand behind the import", func() bool {
		return ask[int](t, conn, waiters, rehearsal.HotQueue, 0) == 3 && ask[int](t, conn, `
			SELECT count(*) FROM pg_stat_activity
			 WHERE application_name = 'nightly-import' AND state = 'idle in transaction'`) == 1
	})
	begun := time.Now()
	stop(t, r)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("stopping waited %v for the hold to end", took)
	}
	if s := r.Stats(); len(s.Errors) > 0 {
		t.Errorf("errors %v", s.Errors)
	}
}

func TestStopJoinsEverythingEvenBehindALaneThatStaysLocked(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	before := goleak.IgnoreCurrent()
	for _, locked := range []bool{false, true} {
		spec := hot(t, 6, 2*time.Millisecond)
		spec.OnError = func(rehearsal.Incident) {}
		r, err := rehearsal.Run(within(t), d.URL, spec)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "jobs", func() bool { return r.Stats().Enqueued > 20 })
		if locked {
			do(t, conn, `BEGIN`)
			do(t, conn, `SELECT awa.reserve_enqueue_seq('orders', 2::smallint, 0::smallint, 1)`)
		}
		limit := patience
		if locked {
			limit = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(within(t), limit)
		err = r.Stop(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) != locked {
			t.Errorf("lane locked %v: stop says %v", locked, err)
		}
		if again := r.Stop(within(t)); again != nil {
			t.Errorf("stopping again: %v", again)
		}
		goleak.VerifyNone(t, before)
	}
	until(t, "the server let go of the sessions", func() bool {
		return ask[int](t, conn, `SELECT count(*) FROM pg_stat_activity WHERE application_name IN ('checkout', 'fulfilment', 'janitor')`) == 0
	})
	do(t, conn, `ROLLBACK`)
}

func TestASpecThatCannotRunIsRefused(t *testing.T) {
	for want, spec := range map[string]rehearsal.Spec{
		"name":     {Queues: []rehearsal.Queue{{}}},
		"queue":    {Producers: []rehearsal.Producers{{Count: 1}}},
		"negative": {Producers: []rehearsal.Producers{{Queue: "q", Count: 1, Rate: -1}}},
		"Zipf":     {Producers: []rehearsal.Producers{{Queue: "q", Count: 1, Keys: rehearsal.Keys{N: 2, Zipf: 0.5}}}},
		"rest":     {Producers: []rehearsal.Producers{{Queue: "q", Count: 1, Off: time.Second}}},
		"session":  {Workers: []rehearsal.Workers{{Queues: []string{"q"}}}},
		"hold":     {Holders: []rehearsal.Holder{{Queue: "q"}}},
	} {
		if _, err := rehearsal.Run(within(t), "host=nowhere.invalid", spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
