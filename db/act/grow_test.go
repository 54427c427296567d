package act

import (
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// bursty are sessions that work inside their transactions and rest in turn.
func bursty(sessions int) rehearsal.Producers {
	return rehearsal.Producers{Queue: hot, Application: "checkout", Count: sessions, Hold: 20 * time.Millisecond,
		On: 400 * time.Millisecond, Off: 150 * time.Millisecond, Spread: 4}
}

func TestGrowsUnderContentionStepByStepWhileWaitsFall(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		t.Parallel()
		k := newDesk(t, d)
		r, stop := k.load(rehearsal.Spec{
			Queues:    []rehearsal.Queue{{Name: hot, Shards: 1}},
			Producers: []rehearsal.Producers{bursty(12)},
			Workers:   []rehearsal.Workers{{Queues: []string{hot}, Count: 1}},
		})
		s := k.hire("anna", brisk(), control.ModeEnforced).settled()
		s.allow(4, true)

		marks := []rehearsal.Stats{r.Stats()}
		for _, step := range []struct{ from, to int }{{1, 2}, {2, 4}} {
			change := k.awaitLog("the step up", applied(step.from, step.to))
			marks = append(marks, r.Stats())
			if !k.lanes(step.to) {
				t.Errorf("at %d lanes are missing", step.to)
			}
			verdict := k.awaitLog("its verdict", judged(step.from, step.to))
			if verdict.Verdict != control.VerdictKept || verdict.ID < change.ID {
				t.Errorf("judged %s", story(verdict))
			}
			if change.Actor != "controller" || change.Mode != control.ModeEnforced || change.Evidence.Share.Or(0) < 0.25 {
				t.Errorf("the change says %+v", change)
			}
		}
		s.await("the maximum", func(d control.Decision, r control.Reading) bool {
			return d.From == 4 && d.Reason == control.ReasonAtMax
		})
		marks = append(marks, r.Stats())
		stop()

		if k.count() != 4 {
			t.Errorf("count %d", k.count())
		}
		oneByOne(t, k, s.policy.GrowCooldown, s.policy.Settle+s.policy.VerifyWindow)
		// The load's own stop-watch: seconds in a lane's queue for each job.
		var waits []float64
		for i := range len(marks) - 1 {
			part := marks[i+1].Since(marks[i])
			waits = append(waits, part.LaneWaitS/float64(part.Enqueued))
		}
		for i := range len(waits) - 1 {
			if waits[i+1] > 0.8*waits[i] {
				t.Errorf("waits for each job at 1, 2 and 4 shards: %.3v s", waits)
			}
		}
		t.Logf("waits for each job at 1, 2 and 4 shards: %.3v s\n%s", waits, k.changes())
	})
}

// oneByOne holds every applied change against the ones before: one step, after
// the verdict on the last one and its cooldown, and never two at once.
func oneByOne(t *testing.T, k *desk, cooldown, trial time.Duration) {
	t.Helper()
	var last control.LogEntry
	open := false
	for _, e := range k.log(control.LogChange, control.LogVerdict) {
		switch {
		case e.Kind == control.LogVerdict:
			if gap := e.At.Sub(last.At); gap < trial {
				t.Errorf("judged after %v, may be after %v: %s", gap, trial, story(e))
			}
			open = false
		case e.Outcome != control.OutcomeApplied:
			t.Logf("not applied: %s", story(e))
		default:
			if open {
				t.Errorf("changed before the last change was judged: %s", story(e))
			}
			if e.To != 2*e.From && 2*e.To != e.From {
				t.Errorf("more than one step: %s", story(e))
			}
			if gap := e.At.Sub(last.At); !last.At.IsZero() && gap < cooldown {
				t.Errorf("%v after the last change, cooldown %v: %s", gap, cooldown, story(e))
			}
			last, open = e, true
		}
	}
}
