package pty

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// A change that was made before the screen was opened is set against what was
// before it all the same: the log has both sides, and the verdict.
func TestAChangeFromBeforeTheScreenIsComparedByTheLog(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	s := newScene(t, d)
	r, _ := s.crowd(6, 5*time.Millisecond)
	s.await("jobs", func() bool { return r.Stats().Enqueued > 200 })
	// A command looks for too short a time to know a rate, and says so. One whose
	// first look came after its first reading does not know the waiters either.
	var change control.LogEntry
	for to := 2; !change.Before.Waiters.OK(); to++ {
		if to > 8 {
			t.Fatalf("the log has nothing to compare with: %+v", change.Before)
		}
		if got := run(t, "set", d.URL, "--queue", hot, "--override", strconv.Itoa(to), "--why", "before", "--yes"); got.code != 0 {
			t.Fatalf("exit %d: %s", got.code, got.both())
		}
		change = s.last(control.VerbOverride, "before", to-1, to, control.OutcomeApplied)
	}
	tm := s.program(120, 40)
	tm.see(`orders`, actPatience)
	tm.keys(keyEnter)
	tm.see(fmt.Sprintf(`After %d->%d`, change.From, change.To)+`(?s).*as logged.*waiting +[\d.]+ +[\d.]+\s.*jobs/s +\S+ +[\d.k]+\s.*(kept|ineffective|harmful|inconclusive)`, actPatience)
	tm.keys("q")
	if code := tm.ended(actPatience); code != 0 {
		t.Errorf("exit %d", code)
	}
}
