package probe

import (
	"testing"
	"time"

	"shardpilot/control"
)

// depthIsTheirs takes a queue through everything that moves its depth and asks
// the engine after each step.
func depthIsTheirs(t *testing.T, e engine) {
	const queue, shards = `depth: "日本" #1`, 3
	provision(t, e.admin(), queue, shards, 1, 2, 4)
	setShards(t, e.admin(), queue, shards)
	p := watcher(t, e, 10)
	same := func(after string) int { t.Helper(); return sameDepth(t, p, e, queue, after) }
	if n := same("nothing"); n != 0 {
		t.Fatalf("an unused queue holds %d", n)
	}

	const oldest = 4 // neither first nor last on its lane
	var ids []int64
	for _, priority := range []int{1, 2, 4} {
		for shard := range shards {
			for range 3 {
				ago := 100 * time.Second
				if len(ids) == oldest {
					ago = 300 * time.Second
				}
				ids = append(ids, insertOne(t, e.admin(), queue, priority, keyFor(shard, shards), ago))
			}
		}
	}
	if n := same("single inserts"); n != len(ids) {
		t.Fatalf("%d jobs, inserted %d", n, len(ids))
	}
	sameLanes(t, p, e, queue)

	e.batch(t, queue, 1, 120, keyFor(1, shards))
	e.batch(t, queue, 2, 80, keyFor(2, shards))
	same("batches")
	sameLanes(t, p, e, queue)

	// Numbers that were reserved and never written, between jobs.
	for range 3 {
		e.begin(t, queue, 4, keyFor(0, shards)).rollback()
	}
	late := []int64{}
	for range 4 {
		late = append(late, insertOne(t, e.admin(), queue, 4, keyFor(0, shards), 0))
	}
	same("a gap from aborted enqueues")
	sameLanes(t, p, e, queue)

	before := same("before cancelling")
	e.cancel(t, ids[0], ids[oldest], late[1]) // at the cursor, in the middle, past the gap
	if n := same("cancels"); n != before-3 {
		t.Errorf("%d jobs after 3 of %d were cancelled", n, before)
	}
	e.work(t, queue, 30)
	if n := same("partial work"); n == 0 || n >= before-3 {
		t.Errorf("%d jobs left of %d by partial work", n, before-3)
	}
	e.cancel(t, late[3])
	left := same("a cancel past the claim cursor")
	e.batch(t, queue, 4, 10, keyFor(2, shards))
	if n := same("a batch after work"); n != left+10 {
		t.Errorf("%d jobs after a batch of 10 onto %d", n, left)
	}

	e.begin(t, queue, 4, keyFor(1, shards)).rollback()
	finish(t, e, queue)
	if n := same("everything done"); n != 0 {
		t.Errorf("%d jobs left", n)
	}
	until(t, p, "drained down to the last lane", func(s control.Snapshot) bool {
		drained, known := of(s, queue).DrainedAbove(0)
		return drained && known
	})
}

// sameDepth waits until the probe and the engine agree on depth and returns
// it; then it compares lag.
func sameDepth(t *testing.T, p *Probe, e engine, queue, after string) int {
	t.Helper()
	n, theirs := 0, control.None()
	s := until(t, p, "the engine's depth after "+after, func(s control.Snapshot) bool {
		n, theirs = e.counts(t, queue)
		return of(s, queue).Depth == control.Some(float64(n))
	})
	// A depth is up to two of its periods old, and the load may stretch them.
	lag, ok := of(s, queue).LagS.Get()
	if want := theirs.Or(0); !ok || lag < want-5 || lag > want+5 {
		t.Errorf("lag after %s: %v, the engine says %v", after, of(s, queue).LagS, theirs)
	}
	return n
}

// sameLanes compares each lane with its rows, while nothing was claimed yet.
func sameLanes(t *testing.T, p *Probe, e engine, queue string) {
	t.Helper()
	want := lanesOf(t, e.admin(), queue)
	until(t, p, "every lane as deep as it has rows", func(s control.Snapshot) bool {
		for _, l := range of(s, queue).Lanes {
			if l.Depth != control.Some(float64(want[place{queue, l.Priority, l.Shard}])) {
				return false
			}
		}
		return true
	})
}

// finish lets workers complete whatever is ready.
func finish(t *testing.T, e engine, queue string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		n, _ := e.counts(t, queue)
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the workers left %d jobs", n)
		}
		e.work(t, queue, n)
	}
}

// drainedIsTrue asks for the answer on which a shrink would rest.
func drainedIsTrue(t *testing.T, e engine) {
	const queue, shards = "drained", 4
	provision(t, e.admin(), queue, shards, 2)
	setShards(t, e.admin(), queue, shards)
	p := watcher(t, e, 10)
	say := func(when string, above int, want bool) {
		t.Helper()
		until(t, p, when, func(s control.Snapshot) bool {
			got, known := of(s, queue).DrainedAbove(above)
			return known && got == want
		})
	}
	// holds is say, and that it stays so over fresh depths and looks.
	holds := func(when string, above int, want bool) {
		t.Helper()
		say(when, above, want)
		for end := time.Now().Add(450 * time.Millisecond); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if got, known := of(read(t, p), queue).DrainedAbove(above); known && got != want {
				t.Fatalf("%s: drained above %d turned %v", when, above, got)
			}
		}
	}
	say("an unused queue", 0, true)
	insertOne(t, e.admin(), queue, 2, keyFor(1, shards), 0)
	insertOne(t, e.admin(), queue, 2, keyFor(3, shards), 0)
	holds("a row on the highest lane", 2, false)
	say("a row on the highest lane itself", 3, false)
	say("no lane above the highest", 4, true)
	finish(t, e, queue)
	holds("all rows claimed", 0, true)

	insertOne(t, e.admin(), queue, 2, keyFor(1, shards), 0)
	holds("rows below the line only", 2, true)
	say("rows below the line only", 1, false)

	open := e.begin(t, queue, 2, keyFor(3, shards))
	holds("an uncommitted producer", 2, false)
	open.rollback()
	say("the producer has given up", 2, true)
	open = e.begin(t, queue, 2, keyFor(2, shards))
	say("another uncommitted producer", 2, false)
	open.commit()
	holds("it has committed", 2, false)
	say("it is not on the highest lane", 3, true)
	finish(t, e, queue)
	say("its job is done", 0, true)
}
