package probe

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestTheCountIsReadAgainAndALaneAboveItProvesAStaleProducer(t *testing.T) {
	d := pgtest.One(t)
	admin := awa(t, d, map[string]int{"orders": 1, "orders:more": 1})
	p := start(t, config(d.URL))
	until(t, p, "one shard", func(s control.Snapshot) bool { return of(s, "orders").Shards == 1 })
	if err := rehearsal.Provision(ctxOf(t), admin, "orders", 4, 2); err != nil {
		t.Fatal(err)
	}
	if err := rehearsal.SetShards(ctxOf(t), admin, "orders", 4); err != nil {
		t.Fatal(err)
	}
	s := until(t, p, "four shards with four lanes", func(s control.Snapshot) bool {
		return of(s, "orders").Shards == 4 && len(of(s, "orders").Lanes) == 4
	})
	if len(of(s, "orders:more").Lanes) != 1 {
		t.Errorf("the other queue: %+v", of(s, "orders:more"))
	}
	if err := rehearsal.SetShards(ctxOf(t), admin, "orders", 2); err != nil {
		t.Fatal(err)
	}
	until(t, p, "two shards", func(s control.Snapshot) bool { return of(s, "orders").Shards == 2 })
	// A producer that still believes in four.
	conn := d.Connect(t)
	exec(t, conn, `set application_name = 'old-cache'`)
	tx, err := conn.Begin(ctxOf(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctxOf(t), `select awa.reserve_enqueue_seq('orders', 2::smallint, 3::smallint, 1)`); err != nil {
		t.Fatal(err)
	}
	s = until(t, p, "a stale producer", func(s control.Snapshot) bool { return of(s, "orders").Stale == 1 })
	if l := of(s, "orders").ProducerList; len(l) != 1 || l[0].Shards != control.Some(4) || l[0].State != control.AppliedStale {
		t.Errorf("producers %+v", l)
	}
	_ = tx.Rollback(ctxOf(t))
}

func TestProducersThatReportAreBelieved(t *testing.T) {
	d := pgtest.One(t)
	admin := awa(t, d, map[string]int{"orders": 2})
	exec(t, admin, `create schema shardpilot; create table shardpilot.producer (instance_id text, queue text, shards int, observed_at timestamptz)`)
	exec(t, admin, `insert into shardpilot.producer values
		('a', 'orders', 2, now()), ('b', 'orders', 1, now()), ('c', 'orders', 2, now() - interval '5 minutes')`)
	p := start(t, config(d.URL))
	s := until(t, p, "two reports", func(s control.Snapshot) bool { return of(s, "orders").Producers == control.Some(2) })
	if r := of(s, "orders"); r.Applied != control.Some(1) || r.Stale != 1 || r.ProducerList[0].How != "reported" || r.ProducerList[0].Sessions.OK() {
		t.Errorf("%+v", r.ProducerList)
	}
	dsn := as(t, d, admin, "plain", "")
	exec(t, admin, `grant usage on schema awa to public; grant select on all tables in schema awa to public; grant select on all sequences in schema awa to public`)
	plain := start(t, config(dsn))
	s = until(t, plain, "told that reports cannot be read", func(s control.Snapshot) bool {
		_, ok := problemIn(s, "producers")
		return ok && of(s, "orders").Depth.OK()
	})
	if why, _ := problemIn(s, "producers"); !strings.Contains(why.Hint, "shardpilot.producer") {
		t.Errorf("%+v", why)
	}
}

func TestStaleNeedsProofAndSilenceIsUnknown(t *testing.T) {
	on, stale, unknown := control.AppliedOn, control.AppliedStale, control.AppliedUnknown
	for name, c := range map[string]struct {
		count, prev, highest, k int
		want                    control.AppliedState
	}{
		"count unknown":                         {0, 0, 3, 9, unknown},
		"silence":                               {4, 2, -1, 0, unknown},
		"a lane above the count":                {2, 4, 3, 1, stale},
		"a lane at the count":                   {2, 4, 2, 1, stale},
		"raised, met an upper lane":             {4, 2, 2, 1, on},
		"raised, 6 picks below (1.6%)":          {4, 2, 1, 6, unknown},
		"raised, 7 picks below (0.8%)":          {4, 2, 1, 7, stale},
		"raised 2 to 3, 11 picks (1.2%)":        {3, 2, 1, 11, unknown},
		"raised 2 to 3, 12 picks (0.8%)":        {3, 2, 1, 12, stale},
		"lowered 4 to 2, 6 picks":               {2, 4, 1, 6, unknown},
		"lowered 4 to 2, 7 picks":               {2, 4, 1, 7, on},
		"no change seen, upper half met":        {4, 0, 3, 1, on},
		"no change seen, 7 picks in lower half": {4, 0, 1, 7, stale},
		"one shard, 6 picks":                    {1, 0, 0, 6, unknown},
		"one shard, 7 picks":                    {1, 0, 0, 7, on},
		"one shard, shard 1 used":               {1, 0, 1, 1, stale},
	} {
		if got, why := judge(c.count, c.prev, c.highest, c.k); got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", name, got, why, c.want)
		}
	}
}

func TestAProducerThatWasToldIsNoLongerStale(t *testing.T) {
	s := newState()
	q := &queue{name: "a", shards: 2, known: 2, prev: 8, groups: map[groupKey]*group{}, samples: 1}
	s.queues["a"] = q
	g := q.group(session{client: "10.0.0.1", app: "x"})
	at := epoch
	state := func() control.AppliedState {
		g.see(at, false)
		return q.producers(nil, at, 10*time.Minute)[0].State
	}
	for pid := range int32(20) {
		g.pick(pid, int(pid)%2, 2, at)
	}
	if got := state(); got != control.AppliedOn {
		t.Errorf("20 sessions below the count: %s", got)
	}
	g.pick(3, 7, 2, at)
	if got := state(); got != control.AppliedStale {
		t.Errorf("one of them above it: %s", got)
	}
	for pid := range int32(4) { // a chance of 1 in 256
		g.pick(pid, 1, 2, at)
		if got := state(); (got == control.AppliedOn) != (pid == 3) || got == control.AppliedUnknown {
			t.Errorf("%d sessions below it since: %s", pid+1, got)
		}
	}
	g.pick(3, 7, 2, at)
	for range 50 { // one session says the same thing over and over
		g.pick(1, 1, 2, at)
	}
	if got := state(); got != control.AppliedStale {
		t.Errorf("one session below it since: %s", got)
	}
	at = at.Add(11 * time.Minute)
	if got := state(); got != control.AppliedUnknown {
		t.Errorf("eleven minutes after the proof: %s", got)
	}
}

// Producers that spread over S lanes are called stale in fewer than 1% of
// trials however few or many picks were seen, and producers that still spread
// over S' are never called on.
func TestJudgementErrsLessThanItsProof(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ from, to int }{{1, 2}, {2, 4}, {4, 8}, {2, 3}} {
		wrong, late := 0, 0
		const trials = 20_000
		for range trials {
			highestNew, highestOld := -1, -1
			for k := 1; k <= 40; k++ {
				highestNew = max(highestNew, rng.IntN(c.to))
				highestOld = max(highestOld, rng.IntN(c.from))
				if state, _ := judge(c.to, c.from, highestNew, k); state == control.AppliedStale {
					wrong++
					break
				}
				if state, _ := judge(c.to, c.from, highestOld, k); state == control.AppliedOn {
					late++
				}
			}
		}
		if float64(wrong) > proof*1.2*trials || late > 0 {
			t.Errorf("%d to %d: %d of %d called stale, %d old ones called on", c.from, c.to, wrong, trials, late)
		}
	}
}
