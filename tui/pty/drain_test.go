package pty

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// drainShown is what show --json says of the lanes above the count.
func (s *scene) drainShown() *control.Drain {
	s.t.Helper()
	r := run(s.t, "show", s.d.URL, "--queue", hot, "--json")
	var got struct {
		Queues []struct {
			Reading struct {
				Drain *control.Drain `json:"drain"`
			} `json:"reading"`
		} `json:"queues"`
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 || len(got.Queues) != 1 {
		s.t.Fatalf("show: %v, code %d:\n%s%s", err, r.code, r.out, r.err)
	}
	return got.Queues[0].Reading.Drain
}

// drainsAs waits until show --json says that they stand so: on a busy machine it
// gives up measuring before it has seen enough.
func (s *scene) drainsAs(state control.DrainState) (d *control.Drain) {
	s.t.Helper()
	until(s.t, "show says "+string(state), 2*actPatience, func() bool {
		d = s.drainShown()
		return d != nil && d.State == state
	})
	return d
}

// A count that is lowered over jobs: the screen and show say what is left
// above it, that nobody claims it while nobody does, how long it will take once
// somebody does, and that it is done.
func TestALoweredCountIsSeenToDrain(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	s := newScene(t, d)
	r, stop := s.load(rehearsal.Spec{Keep: true, Queues: []rehearsal.Queue{{Name: hot, Shards: 4}},
		Producers: []rehearsal.Producers{{Queue: hot, Application: "checkout", Count: 8, Batch: 5, Spread: 8}}})
	s.await("jobs", func() bool { return r.Stats().Enqueued > 3000 })
	stop()
	above := func() (n int) {
		s.t.Helper()
		if err := s.admin.QueryRow(s.within(), `SELECT count(*)::int FROM awa.ready_entries e WHERE queue = $1 AND enqueue_shard >= 2`, hot).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	jobs := above()
	if jobs < 100 {
		t.Fatalf("only %d jobs are above the count to be", jobs)
	}
	tm := s.program(120, 40)
	tm.see(`orders`, actPatience)
	tm.until("o", `queue orders: 4 -> \?`)
	tm.fill("new count", "2")
	tm.see(`queue orders: 4 -> 2 shards(?s).*jobs above the new count drain`, actPatience)
	tm.tick("accept")
	tm.tick("force")
	tm.yes("Set", `applied: orders 4 ?-?> ?2`)
	tm.see(`(?m)orders .*DRAINING \d+ jobs, not cl`, actPatience)
	tm.keys(keyEnter)
	tm.see(`v DRAINING(?s).*v 2 (?s).*v 3 `, actPatience)
	tm.see(`from shard 2 up draining`, actPatience)
	drain := s.drainsAs(control.DrainUnclaimed)
	if drain.Jobs.Or(0) != float64(jobs) || drain.LeftS.OK() || drain.From != 2 {
		t.Errorf("show --json says %+v of %d jobs", drain, jobs)
	}

	// One worker, so slow that it does not come to the end while somebody looks:
	// it becomes less, and that is measured.
	_, rest := s.load(rehearsal.Spec{Keep: true, Queues: []rehearsal.Queue{{Name: hot, Shards: 2}},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1, Batch: 4, PerJob: 50 * time.Millisecond}}})
	tm.see(`DRAINING(?s).*fewer over`, actPatience)
	if drain = s.drainsAs(control.DrainFalling); !(drain.Rate.Or(0) > 0) || !(drain.LeftS.Or(0) > 0) || !(drain.Jobs.Or(0) < float64(jobs)) {
		t.Errorf("show --json says %+v of %d jobs, %d left now", drain, jobs, above())
	}
	text := ""
	until(t, "show says how fast", 2*actPatience, func() bool {
		text = run(t, "show", s.d.URL, "--queue", hot).out
		return strings.Contains(text, "fewer over")
	})
	if !strings.Contains(text, "DRAINING  ") || !strings.Contains(text, "about ") || !strings.Contains(text, control.DrainOrder) {
		t.Errorf("show says:\n%s", text)
	}

	// And quick ones to the end.
	s.load(rehearsal.Spec{Keep: true, Queues: []rehearsal.Queue{{Name: hot, Shards: 2}},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 2}}})
	tm.see(`from shard 2 up drained`, actPatience)
	tm.keys(keyEsc)
	tm.see(`\[Overview\]`, actPatience)
	for deadline := time.Now().Add(actPatience); strings.Contains(tm.screen(), "DRAINING"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it drains for ever:\n%s", tm.screen())
		}
	}
	rest()
	if text = run(t, "show", s.d.URL, "--queue", hot).out; !strings.Contains(text, "drained   the lanes from shard 2 up are drained") {
		t.Errorf("at the end show says:\n%s", text)
	}
	tm.keys("q")
	if code := tm.ended(actPatience); code != 0 {
		t.Errorf("exit %d", code)
	}
}
