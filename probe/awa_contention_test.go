package probe

import (
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// measured is one queue over some seconds, by the probe or by a direct count.
type measured struct {
	waiters, holders, share float64 // means over the samples, and Σw / Σ(w+h)
	rate                    float64 // jobs/s
	shards                  map[int]bool
	last                    control.Reading
}

// crowdSize is how many producers contend.
const crowdSize = 12

// contentionIsTrue has producers crowd one lane, then four.
func contentionIsTrue(t *testing.T, e engine) {
	const queue = "crowded"
	provision(t, e.admin(), queue, 1, 2)
	p := watcher(t, e, 4)
	crowd := e.produce(t, queue, crowdSize, 20*time.Millisecond)
	stop := crowd.stop
	defer func() { stop() }()

	until(t, p, "a crowd", func(s control.Snapshot) bool { return of(s, queue).Waiters.Or(0) > crowdSize/2 })
	one := compare(t, p, e, crowd, queue, 1)
	if one.last.Bottleneck != control.BottleneckLane {
		t.Errorf("bottleneck %q, causes %+v", one.last.Bottleneck, one.last.Causes)
	}

	if e.database().Version == newest() {
		raised(t, p, e, crowd, queue, one)
	}
	stop()
	stop = func() {}
	until(t, p, "nobody", func(s control.Snapshot) bool {
		r := of(s, queue)
		return r.Waiters == control.Some(0) && r.Holders == control.Some(0)
	})
}

// raised makes lanes for four shards, sets the count, and waits for what the
// producers do about it.
func raised(t *testing.T, p *Probe, e engine, crowd load, queue string, one measured) {
	t.Helper()
	const shards = 4
	provision(t, e.admin(), queue, shards, 2)
	setShards(t, e.admin(), queue, shards)
	until(t, p, "the new count and the producers on it", func(s control.Snapshot) bool {
		r := of(s, queue)
		return r.Shards == shards && len(r.Lanes) == shards && r.Stale == 0 && r.Holders.Or(0) > one.holders+0.2
	})
	four := compare(t, p, e, crowd, queue, shards)
	// With k lanes in use, k of the sessions work and the others wait.
	want := float64(crowdSize-len(four.shards)) / crowdSize
	if four.share > one.share-(one.share-want)/2 {
		t.Errorf("share %.3f on one lane, %.3f on %d", one.share, four.share, len(four.shards))
	}
	if four.rate < one.rate*1.2 {
		t.Errorf("%.0f jobs/s on one lane, %.0f on %d", one.rate, four.rate, len(four.shards))
	}
	t.Logf("%.1f waiters, share %.3f, %.0f jobs/s on one lane; %.1f, %.3f, %.0f on %d",
		one.waiters, one.share, one.rate, four.waiters, four.share, four.rate, len(four.shards))
}

// compare holds the probe against a count of its own in the same seconds, and
// against what the producers counted.
func compare(t *testing.T, p *Probe, e engine, crowd load, queue string, shards int) measured {
	t.Helper()
	direct := e.database().Connect(t)
	ending, counted := make(chan struct{}), make(chan measured, 1)
	go func() { counted <- countLocks(t, direct, shards, ending) }()
	read(t, p) // what was before does not belong to it
	jobs, at := crowd.counted()

	var seen measured
	seen.shards = map[int]bool{}
	samples, span := 0, 0.0
	for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		r := of(read(t, p), queue)
		samples += r.Samples
		seen.waiters += r.WaitSum
		seen.holders += r.HoldSum
		if rate, ok := r.EnqueueRate.Get(); ok {
			seen.rate += rate * r.PeriodS
			span += r.PeriodS
		}
		for _, l := range r.Lanes {
			if l.Rate.Or(0) > 0 {
				seen.shards[l.Shard] = true
			}
		}
		seen.last = r
	}
	jobsAfter, atAfter := crowd.counted()
	close(ending)
	truth := <-counted
	truth.rate = float64(jobsAfter-jobs) / (atAfter - at)

	seen.share = seen.waiters / (seen.waiters + seen.holders)
	seen.waiters /= float64(samples)
	seen.holders /= float64(samples)
	seen.rate /= span
	if math.Abs(seen.waiters-truth.waiters) > truth.waiters/10 {
		t.Errorf("%.2f waiters in %d samples, a direct count says %.2f", seen.waiters, samples, truth.waiters)
	}
	if math.Abs(seen.holders-truth.holders) > max(0.2, truth.holders/10) {
		t.Errorf("%.2f holders, a direct count says %.2f", seen.holders, truth.holders)
	}
	if math.Abs(seen.share-truth.share) > truth.share/10 {
		t.Errorf("share %.3f, a direct count says %.3f", seen.share, truth.share)
	}
	if share := seen.last.Share.Or(0); shards == 1 && math.Abs(share-truth.share) > truth.share/10 {
		t.Errorf("share over the window %.3f, a direct count says %.3f", share, truth.share)
	}
	if math.Abs(seen.rate-truth.rate) > truth.rate/5 {
		t.Errorf("%.1f jobs/s, the producers counted %.1f", seen.rate, truth.rate)
	}
	// SQL producers go by the pid of their backend.
	for shard := range shards {
		if seen.shards[shard] != truth.shards[shard] {
			t.Errorf("shards in use %v, by the producers' pids %v", seen.shards, truth.shards)
			break
		}
	}
	return seen
}

// countLocks asks the lock table directly, until ending closes. It knows no lane:
// nobody else takes advisory locks here.
func countLocks(t *testing.T, conn *pgx.Conn, shards int, ending <-chan struct{}) measured {
	var out measured
	out.shards = map[int]bool{}
	n := 0.0
	for {
		select {
		case <-ending:
			out.share = out.waiters / (out.waiters + out.holders)
			out.waiters /= n
			out.holders /= n
			return out
		case <-time.After(20 * time.Millisecond):
		}
		var waiting, holding int
		var pids []int32
		err := conn.QueryRow(ctxOf(t), `select count(distinct pid) filter (where not granted),
				count(distinct pid) filter (where granted), coalesce(array_agg(distinct pid), '{}')
			from pg_locks where locktype = 'advisory' and objsubid = 1
			and database = (select oid from pg_database where datname = current_database())`).Scan(&waiting, &holding, &pids)
		if err != nil {
			t.Errorf("count locks: %v", err)
			return out
		}
		n++
		out.waiters += float64(waiting)
		out.holders += float64(holding)
		for _, pid := range pids {
			out.shards[int(pid)%shards] = true
		}
	}
}
