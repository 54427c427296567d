package act

import (
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestGrowthThatOnlyMovesTheQueueStopsByItself(t *testing.T) {
	// Each commit flushes for 100 ms, and those that notify flush one after the
	// other: at one shard that looks like a lane's contention, at two it is
	// plain that it is none.
	d := pgtest.NewServer(t, "18", map[string]string{"fsync": "on", "commit_delay": "100000", "commit_siblings": "0", "max_connections": "100"})
	t.Parallel()
	k := newDesk(t, d)
	k.load(rehearsal.Spec{
		Queues:    []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{{Queue: hot, Application: "notifiers", Count: 20, Spread: 8}},
	})
	// The gap between two commits is longer where others keep the machine busy,
	// and a second lane fills it: that much of a gain counts for none here.
	p := brisk()
	p.WeakWait, p.WeakRate, p.KeptRate = 0.8, 0.25, 0.35
	s := k.hire("anna", p, control.ModeEnforced).settled()
	s.allow(8, true)
	k.awaitLog("the step up", applied(1, 2))
	verdict := k.awaitLog("its verdict", judged(1, 2))
	switch why := verdict.Detail; {
	case verdict.Verdict == control.VerdictIneffective && strings.Contains(why, "of the waits are behind"):
	case verdict.Reason == control.ReasonWeak && strings.Contains(why, "enqueue rate ×"):
	default:
		t.Errorf("judged %s", story(verdict))
	}
	// Contended as ever, and left alone.
	d1, _ := s.await("a reason", func(d control.Decision, r control.Reading) bool {
		return r.Share.Or(0) > 0.5 && hasBlocker(d, verdict.Reason)
	})
	time.Sleep(2 * s.policy.GrowWindow)
	ups := 0
	for _, e := range k.log(control.LogChange) {
		if e.Outcome == control.OutcomeApplied && e.To > e.From {
			ups++
		}
	}
	if ups != 1 {
		t.Errorf("grew %d times:\n%s", ups, k.changes())
	}
	t.Logf("%v\n%s", d1.Blockers, k.changes())
}

func TestHarmfulGrowthIsTakenBackOnce(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	k := newDesk(t, d)
	// More than one shard makes every enqueue hold its lane sixteen times as long:
	// harm also against a moment in which others kept the machine busy.
	for _, sql := range []string{
		`CREATE FUNCTION slower() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT enqueue_shards FROM awa.queue_meta WHERE queue = NEW.queue) > 1 THEN PERFORM pg_sleep(0.3); END IF;
			RETURN NULL; END $$`,
		`CREATE TRIGGER slower AFTER INSERT ON awa.ready_entries FOR EACH ROW EXECUTE FUNCTION slower()`,
	} {
		if _, err := k.admin.Exec(within(t), sql); err != nil {
			t.Fatal(err)
		}
	}
	k.load(rehearsal.Spec{
		Queues:    []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{{Queue: hot, Application: "checkout", Count: 10, Hold: 20 * time.Millisecond, Spread: 8}},
		Workers:   []rehearsal.Workers{{Queues: []string{hot}, Count: 2}},
	})
	s := k.hire("anna", brisk(), control.ModeEnforced).settled()
	s.allow(8, true)
	k.awaitLog("the step up", applied(1, 2))
	verdict := k.awaitLog("its verdict", judged(1, 2))
	back := k.awaitLog("the way back", applied(2, 1))
	if verdict.Verdict != control.VerdictHarmful || verdict.ID > back.ID || back.Reason != control.ReasonRevert || back.Actor != "controller" {
		t.Errorf("%s\n%s", story(verdict), story(back))
	}
	if !strings.Contains(back.Detail, "did harm") {
		t.Errorf("the log says %q", back.Detail)
	}
	// Contended as ever, and not tried again.
	s.await("the reason", func(d control.Decision, r control.Reading) bool {
		return r.Shards == 1 && r.Share.Or(0) > 0.5 && hasBlocker(d, control.ReasonHarmful)
	})
	time.Sleep(2 * s.policy.GrowWindow)
	ups := 0
	for _, e := range k.log(control.LogChange) {
		if e.Outcome == control.OutcomeApplied && e.To > e.From {
			ups++
		}
	}
	if ups != 1 || k.count() != 1 {
		t.Errorf("grew %d times, count %d:\n%s", ups, k.count(), k.changes())
	}
	t.Logf("\n%s", k.changes())
}

func hasBlocker(d control.Decision, rule control.Reason) bool {
	for _, b := range d.Blockers {
		if b.Rule == rule {
			return true
		}
	}
	return false
}
