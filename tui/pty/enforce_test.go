package pty

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// strike kills a process somewhere in the statements of a change. The row of
// the count is locked until its change waits for it; then it is let go, and the
// kill comes within as long as the rest of the change takes. False when the
// process ended, or the change waited no more, before that.
func (s *scene) strike(kill func(), over <-chan struct{}) bool {
	s.t.Helper()
	hold := s.d.Connect(s.t)
	tx, err := hold.Begin(s.within())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(s.within()) }()
	if _, err := tx.Exec(s.within(), `LOCK TABLE awa.queue_meta IN SHARE MODE`); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(actPatience); ; time.Sleep(2 * time.Millisecond) {
		var waits bool
		if err := s.admin.QueryRow(s.within(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'awa.queue_meta'::regclass)`).Scan(&waits); err != nil {
			s.t.Fatal(err)
		}
		if waits {
			break
		}
		select {
		case <-over:
			return false
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no change came:\n%s", s.story())
		}
	}
	if err := tx.Rollback(s.within()); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(time.Duration(rand.IntN(25_000)) * time.Microsecond)
	kill()
	return true
}

// whole holds count, log and lanes against each other when nothing of the
// program is left in the server: whatever was begun is there with everything
// that belongs to it, or not at all.
func (s *scene) whole() {
	s.t.Helper()
	s.await("the end of the killed process's sessions", func() bool {
		var left int
		if err := s.admin.QueryRow(s.within(), `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'shardpilot%'`).Scan(&left); err != nil {
			s.t.Fatal(err)
		}
		return left == 0
	})
	at := 1
	for _, e := range s.log(control.LogChange, control.LogAdopted) {
		switch {
		case e.Kind == control.LogAdopted:
			s.t.Errorf("a change of ours was taken for one from elsewhere:\n%s", s.story())
		case e.Outcome == control.OutcomeApplied && e.From != at:
			s.t.Errorf("the log goes from %d to %d, after a change to %d:\n%s", e.From, e.To, at, s.story())
		}
		if e.Outcome == control.OutcomeApplied {
			at = e.To
		}
	}
	if n := s.count(); n != at || !s.lanes(n) {
		s.t.Errorf("count %d, by the log %d, its lanes there %v:\n%s", n, at, s.lanes(n), s.story())
	}
}

func TestAControllerThatIsKilledLeavesNoHalfChangeAndTheNextCarriesOn(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			s := newScene(t, d)
			s.crowd(8, 20*time.Millisecond)
			s.allow(4, true)
			struck := 0
			for range 2 {
				tm := s.program(120, 40, "--mode", "enforced")
				tm.see(`ENFORCED +leading`, actPatience)
				if s.strike(func() { _ = tm.cmd.Process.Kill() }, tm.exited) {
					struck++
				}
				if code := tm.ended(actPatience); code != 137 {
					t.Errorf("exit %d", code)
				}
				s.whole()
			}
			if struck == 0 {
				t.Error("no change was struck")
			}
			tm := s.program(120, 40, "--mode", "enforced")
			tm.see(`ENFORCED +leading`, actPatience)
			s.await("four shards", func() bool { return s.count() == 4 })
			// Quitting says what stops with it.
			tm.see(`orders -+ S 4`, actPatience)
			tm.keys("q")
			if code := tm.ended(actPatience); code != 0 {
				t.Errorf("exit %d", code)
			}
			s.whole()
			if said := tm.written(); !strings.Contains(said, fmt.Sprintf(":%d/%s and acted on orders (S = 4)", d.Server.Port, d.Name)) ||
				!strings.Contains(said, "nobody acts until another shardpilot leads") {
				t.Errorf("it left without a word:\n%s", said[max(0, len(said)-400):])
			}
			t.Logf("struck %d times\n%s", struck, s.story())
		})
	}
}

func TestAHandThatIsKilledLeavesNoHalfChange(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	s := newScene(t, d)
	s.crowd(4, 5*time.Millisecond)
	s.allow(64, false)
	struck, changed := 0, 0
	for range 6 {
		was := s.count()
		cmd := exec.Command(binary, "set", d.URL, "--queue", hot, "--override", fmt.Sprint(was+3), "--yes", "--why", "a race with death")
		cmd.Dir = root(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			_ = cmd.Wait() // killed, or done
			close(over)
		}()
		if s.strike(func() { _ = cmd.Process.Kill() }, over) {
			struck++
		}
		<-over
		s.whole()
		if s.count() != was {
			changed++
		}
	}
	if struck == 0 {
		t.Error("no change was struck")
	}
	t.Logf("struck %d times, %d changes went through", struck, changed)
}

func TestALeaderThatDoesNotActLeavesQuietly(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	s := newScene(t, d)
	s.crowd(0, 0)
	s.allow(4, true)
	tm := s.program(100, 30) // shadow
	tm.see(`SHADOW +leading`, actPatience)
	tm.see(`orders`, actPatience)
	tm.keys("q")
	if code := tm.ended(actPatience); code != 0 || strings.Contains(tm.written(), "nobody acts") {
		t.Errorf("exit %d, and it claims to have acted", code)
	}
}
