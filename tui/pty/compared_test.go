package pty

import (
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
	if got := run(t, "set", d.URL, "--queue", hot, "--override", "2", "--why", "before", "--yes"); got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.both())
	}
	// A command looks for too short a time to know a rate, and says so.
	if e := s.last(control.VerbOverride, "before", 1, 2, control.OutcomeApplied); !e.Before.Waiters.OK() {
		t.Fatalf("the log has nothing to compare with: %+v", e.Before)
	}
	tm := s.program(120, 40)
	tm.see(`orders`, actPatience)
	tm.keys(keyEnter)
	tm.see(`After 1->2(?s).*as logged.*waiting +[\d.]+ +[\d.]+\s.*jobs/s +\S+ +[\d.k]+\s.*(kept|ineffective|harmful|inconclusive)`, actPatience)
	tm.keys("q")
	if code := tm.ended(actPatience); code != 0 {
		t.Errorf("exit %d", code)
	}
}
