package pty

import (
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// Whoever keeps the count it read at its start is on the screen as stale, by
// name, until it is told.
func TestTheScreenNamesProducersThatHaveNotTakenTheCountUp(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	s := newScene(t, d)
	r, _ := s.load(rehearsal.Spec{
		Queues: []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{
			{Queue: hot, Application: "reads", Count: 3, Hold: 5 * time.Millisecond, Report: true},
			{Queue: hot, Application: "keeps", Count: 2, Hold: 5 * time.Millisecond, Report: true, CacheShards: true},
		},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1}},
	})
	s.allow(8, false)
	tm := s.program(140, 45)
	tm.see(`orders[^\n]*5/5`, actPatience)
	tm.until("o", `queue orders: 1 -> \?`)
	tm.fill("new count", "4")
	tm.press(keyTab, `\[Set\]`)
	tm.keys(keyEnter)
	tm.see(`applied: orders 1 ?-?> ?4`, actPatience)
	tm.keys(keyEnter)
	tm.see(`orders[^\n]*3/5`, actPatience)
	tm.keys(keyEnter)
	tm.see(`\[Queue\]`, actPatience)
	page := tm.see(`3/5 on S = 4`, actPatience)
	tm.see(`(?m)keeps-1\s[^\n]*stale`, actPatience)
	tm.see(`(?m)keeps-2\s[^\n]*stale`, actPatience)
	tm.see(`(?m)reads-1\s[^\n]*\bon\b`, actPatience)
	r.Told()
	tm.see(`5/5 on S = 4`, actPatience)
	tm.keys("q")
	if code := tm.ended(actPatience); code != 0 {
		t.Errorf("exit %d after:\n%s", code, page)
	}
}
