package pty

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// Everything a hand can do, by keys alone, in the order of an incident: what
// the screen says and what the database has afterwards.
func TestEveryHandWorksByKeysAlone(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			s := newScene(t, d)
			_, stop := s.crowd(8, 20*time.Millisecond)
			tm := s.program(120, 40)
			tm.see(`orders`, actPatience)
			operator := me(t)
			where := fmt.Sprintf(`staging\s+\S*:%d/%s`, d.Server.Port, d.Name)

			// The mode, with partitioned FIFO accepted.
			tm.keys("m")
			tm.see(where+`(?s).*queue orders: mode -> manual`, actPatience)
			tm.keys(keyRight)
			tm.see(`queue orders: mode -> shadow`, actPatience)
			tm.fill("max", "8")
			tm.fill("reason", "let it look")
			tm.tick("accept")
			tm.yes("Change", `auto up to 8, shadow`)
			if p := s.policy(); !p.Auto || p.Enforced || p.Max != 8 || p.AcceptedBy != operator || p.AcceptedAt.IsZero() {
				t.Errorf("after the mode: %+v", p)
			}

			// Approve what it proposes.
			s.await("a proposal", func() bool { return s.pending() > 0 })
			tm.until("a", where+`(?s).*queue orders: 1 -> 2 shards`)
			tm.fill("reason", "it waits")
			tm.yes("Approve", `applied: orders 1 ?-?> ?2`)
			s.last(control.VerbApprove, "it waits", 1, 2, control.OutcomeApplied)
			if s.count() != 2 {
				t.Errorf("approved, count %d", s.count())
			}

			// Reject the next.
			s.await("the next proposal", func() bool { return s.pending() > 0 })
			tm.until("x", where+`(?s).*queue orders: stays at 2, not 4`)
			tm.fill("reason", "not tonight")
			tm.yes("Reject", `reject: orders`)
			if e := s.last(control.VerbReject, "not tonight", 2, 4, ""); e.Actor != operator || s.pending() != 0 || s.count() != 2 {
				t.Errorf("after the rejection: %d pending, count %d", s.pending(), s.count())
			}

			// Override, refused first where jobs are above, and undone.
			tm.until("o", where+`(?s).*queue orders: 2 -> \?`)
			tm.fill("new count", "8")
			tm.see(`queue orders: 2 -> 8 shards(?s).*for ever`, actPatience)
			tm.fill("reason", "an incident")
			tm.yes("Set", `applied: orders 2 ?-?> ?8`)
			s.last(control.VerbOverride, "an incident", 2, 8, control.OutcomeApplied)
			if n := s.count(); n != 8 || !s.lanes(8) {
				t.Errorf("overridden, count %d, lanes %v", n, s.lanes(8))
			}
			stop()
			s.crowd(0, 0) // the worker goes on
			s.await("an empty queue", func() bool { return s.waiting() == 0 })
			for done := false; !done; { // a busy machine may not have read the count yet, and says so
				tm.until("u", where+`(?s).*queue orders: 8 -> 2 shards`)
				tm.fill("reason", "it is over")
				done = !strings.Contains(tm.yes("Undo", `applied: orders 8 ?-?> ?2|Try again in some seconds`), "Try again")
			}
			s.last(control.VerbUndo, "it is over", 8, 2, control.OutcomeApplied)
			if s.count() != 2 {
				t.Errorf("undone, count %d", s.count())
			}

			// Pin for a time, and unpin.
			tm.until("p", where+`(?s).*queue orders: 2 -> pinned to 2`)
			tm.fill("for", "90m")
			tm.fill("reason", "an audit")
			tm.yes("Pin", `pin: orders`)
			e := s.last(control.VerbPin, "an audit", 2, 2, "")
			p := s.policy()
			if p.Pin == nil || p.Pin.Shards != 2 || p.Pin.By != operator || p.Pin.Until.Sub(e.At).Round(time.Minute) != 90*time.Minute {
				t.Errorf("pinned: %+v", p.Pin)
			}
			tm.until("p", where+`(?s).*no longer pinned`)
			tm.fill("reason", "it passed")
			tm.yes("Unpin", `unpin: orders`)
			s.last(control.VerbUnpin, "it passed", 2, 2, "")
			if p := s.policy(); p.Pin != nil {
				t.Errorf("unpinned: %+v", p.Pin)
			}

			// And hands off.
			tm.keys("m")
			tm.press(keyLeft, `queue orders: mode -> manual`)
			tm.yes("Change", `manual: never touched`)
			if p := s.policy(); p.Auto {
				t.Errorf("manual: %+v", p)
			}
			if got := len(s.hands()); got != 8 {
				t.Errorf("%d entries of hands:\n%s", got, s.story())
			}
			tm.keys("q")
			if code := tm.ended(actPatience); code != 0 {
				t.Errorf("exit %d", code)
			}
			tm.restored()
		})
	}
}

// until opens a dialog with a key, leaving it with esc and trying again while it
// is not about what it should be: the picture is behind the database.
func (tm *terminal) until(key, pattern string) {
	tm.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(actPatience); time.Now().Before(deadline); tm.keys(keyEsc) {
		tm.keys(key)
		tm.taken()
		for short := time.Now().Add(time.Second); time.Now().Before(short); time.Sleep(20 * time.Millisecond) {
			if re.MatchString(tm.screen()) {
				return
			}
		}
	}
	tm.see(pattern, 0)
}

func (s *scene) pending() (n int) {
	s.t.Helper()
	if err := s.admin.QueryRow(s.within(), `SELECT count(*)::int FROM shardpilot.pending WHERE queue = $1`, hot).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// waiting are the jobs that no worker has completed.
func (s *scene) waiting() (n int) {
	s.t.Helper()
	if err := s.admin.QueryRow(s.within(), `SELECT ((SELECT count(*) FROM awa.ready_entries) - (SELECT count(*) FROM awa.rehearsal_done))::int`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// lanes says whether every lane below n is on both heads with its sequence.
func (s *scene) lanes(n int) (whole bool) {
	s.t.Helper()
	if err := s.admin.QueryRow(s.within(), `
		SELECT count(DISTINCT e.enqueue_shard) = $2 AND bool_and(e.seq_name IS NOT NULL AND c.seq_name IS NOT NULL)
		  FROM awa.queue_enqueue_heads e LEFT JOIN awa.queue_claim_heads c USING (queue, priority, enqueue_shard)
		 WHERE queue = $1 AND enqueue_shard < $2`, hot, n).Scan(&whole); err != nil {
		s.t.Fatal(err)
	}
	return whole
}

// last holds the newest entry of hands against what it should say.
func (s *scene) last(verb control.Verb, why string, from, to int, outcome control.Outcome) control.LogEntry {
	s.t.Helper()
	list := s.hands()
	if len(list) == 0 {
		s.t.Fatalf("the log has nothing of a hand:\n%s", s.story())
	}
	e := list[len(list)-1]
	if e.Verb != verb || e.Why != why || e.From != from || e.To != to || e.Outcome != outcome || e.Actor != me(s.t) || e.Host == "" || e.At.IsZero() {
		s.t.Errorf("the log says of %s %d>%d:\n%s", verb, from, to, s.story())
	}
	return e
}
