package pty

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// PostgreSQL goes away under the dashboard and comes back: a banner with what
// to do, the last reading with its age, no action on it, then recovery, with a
// gap in the chart where nothing was seen.
func TestDashboardOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	d := pgtest.NewServer(t, "18", nil)
	furnish(t, d, map[string]int{"orders": 1})
	load(t, d, "steady", hotOnly)
	log := filepath.Join(t.TempDir(), "log")
	tm := open(t, 120, 40, nil, d.URL, "--glyphs", "block", "--log-file", log)
	tm.see(`orders +\d+`, patience)
	tm.see(`leading`, patience)
	time.Sleep(8 * time.Second) // a stretch of picture before the gap

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.Server.StopServer(ctx); err != nil {
		t.Fatal(err)
	}
	s := tm.see(`(nothing listens at|shutting down|lost)[^§]*(next try in|trying again)`, patience)
	if !strings.Contains(s, "orders") {
		t.Errorf("the last reading is gone:\n%s", s)
	}
	tm.see(`age ([5-9]s|\d\ds|\dm)`, patience)
	tm.keys("p")
	tm.see(`there is no fresh reading: nothing can be done`, patience)

	if err := d.Server.StartAgain(ctx); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	tm.see(`age [0-3]s`, patience)
	if took := time.Since(back); took > soon {
		t.Errorf("it found the server %v after its start", took)
	}
	tm.see(`orders +\d+`, patience)
	tm.without("next try in", "trying again")
	tm.see(`leading`, patience)
	until(t, "a gap in the chart", patience, func() bool { return gapped(tm.screen()) })
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	tm.restored()
	if said, err := os.ReadFile(log); err != nil || !strings.Contains(string(said), "not connected") {
		t.Errorf("the log does not tell of the outage (%v):\n%s", err, said)
	}
}

// gapped says whether a row of the chart has blocks, then nothing, then blocks.
func gapped(screen string) bool {
	for _, line := range strings.Split(screen, "\n") {
		_, plot, found := strings.Cut(line, "│")
		if !found {
			_, plot, found = strings.Cut(line, "┤")
		}
		if f := strings.Fields(plot); found && len(f) >= 2 && strings.Trim(f[0], "▁▂▃▄▅▆▇█") == "" && strings.Trim(f[1], "▁▂▃▄▅▆▇█") == "" {
			return true
		}
	}
	return false
}

// A password that is changed under the dashboard is a fault that no retry mends:
// the banner says so, and quitting is still no failure.
func TestDashboardSaysWhenRetryingWillNotHelp(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	watcher := role(t, d, conn, "evicted", "GRANT pg_read_all_data, pg_write_all_data, pg_read_all_stats TO ROLE")
	tm := open(t, 120, 40, nil, watcher)
	tm.see(`leading[^§]*orders`, patience)
	do(t, conn, `ALTER ROLE evicted_`+d.Name+` PASSWORD 'another'`)
	do(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'evicted_`+d.Name+`'`)
	tm.see(`refused the password of role "evicted[^§]*(will not help|passfile)[^§]*orders`, patience)
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d:\n%s", code, tm.screen())
	}
	tm.restored()
}

// What the dashboard cannot watch it says on the screen, with what to do.
func TestDashboardSaysWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url  string
		says string
	}{
		"no Awa":       {pgtest.One(t).URL, `there is no Awa in this database[^§]*PGDATABASE`},
		"canonical":    {awaIn(t, rehearsal.Options{State: "canonical"}).URL, `canonical storage[^§]*activate queue storage`},
		"a transition": {awaIn(t, rehearsal.Options{State: "mixed_transition"}).URL, `transition`},
		"a newer Awa":  {awaIn(t, rehearsal.Options{Version: 99}).URL, `Awa 99 newer`},
	} {
		tm := open(t, 120, 40, nil, c.url)
		tm.see(c.says, patience)
		tm.keys("q")
		if code := tm.ended(patience); code != 0 {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
	tm := open(t, 120, 40, nil, "postgres://postgres:x@127.0.0.1:1/x?sslmode=disable")
	if code := tm.ended(patience); code != 4 {
		t.Errorf("no server: exit code %d", code)
	}
	tm.see("nothing listens at", 0)
	if strings.Contains(tm.written(), "\x1b[?1049h") {
		t.Error("a screen was opened for a server that is not there")
	}
}

// A lock on what the probe reads makes its statements slow; that must not hold
// up the end.
func TestSlowQueriesDoNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	for name, end := range map[string]func(*terminal){
		"SIGTERM": func(tm *terminal) { tm.signal(syscall.SIGTERM) },
		"ctrl-c":  func(tm *terminal) { tm.keys("\x03") },
	} {
		tm := open(t, 100, 30, nil, d.URL)
		tm.see(`\[Overview\][^§]*orders`, patience)
		do(t, conn, `BEGIN`)
		do(t, conn, `LOCK TABLE awa.queue_meta IN ACCESS EXCLUSIVE MODE`)
		other := d.Connect(t)
		until(t, "a statement of ours waits", patience, func() bool {
			return ask[int](t, other, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shardpilot' AND wait_event_type = 'Lock' AND datname = current_database()`) > 0
		})
		asked := time.Now()
		end(tm)
		code := tm.ended(patience)
		// Two seconds are promised; a loaded machine may take some to draw the end.
		if took := time.Since(asked); took > soon {
			t.Errorf("%s: it took %v", name, took)
		}
		if want := map[string]int{"SIGTERM": 128 + 15, "ctrl-c": 0}[name]; code != want {
			t.Errorf("%s: exit code %d, want %d", name, code, want)
		}
		tm.restored()
		do(t, conn, `ROLLBACK`)
		until(t, "our sessions are gone", patience, func() bool {
			return ask[int](t, other, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shardpilot' AND datname = current_database()`) == 0
		})
	}
}

// What PostgreSQL says beside its answers, and a connection that breaks, go to
// the log file; the screen shows none of it.
func TestLogNeverReachesTheScreen(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	// A trigger that speaks up whenever the dashboard signs as leader.
	do(t, conn, `CREATE FUNCTION public.speak() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'heard by nobody'; RETURN NEW; END$$`)
	do(t, conn, `CREATE TRIGGER speak BEFORE UPDATE ON shardpilot.leader FOR EACH ROW EXECUTE FUNCTION public.speak()`)
	log := filepath.Join(t.TempDir(), "log")
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	tm := open(t, 120, 40, nil, d.URL, "--verbose", "--log-file", log)
	tm.see(`leading`, patience)
	logged := func() string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	until(t, "the notice in the log", patience, func() bool { return strings.Contains(logged(), "heard by nobody") })
	before := len(logged())
	if n := ask[int](t, conn, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'shardpilot' AND datname = current_database()`); n < 2 {
		t.Errorf("only %d sessions to end", n)
	}
	until(t, "the new connections in the log", patience, func() bool { return len(logged()) > before && strings.Contains(logged()[before:], "msg=connected") })
	tm.see(`age [0-3]s`, patience)
	if strings.Contains(tm.written(), "heard by nobody") || strings.Contains(tm.written(), "level=") {
		t.Error("the log is on the screen")
	}
	if strings.Contains(logged(), secret) {
		t.Error("the password is in the log")
	}

	// Whatever else got onto the terminal, ctrl-l takes it away.
	until(t, "a scribble", patience, func() bool { // which the next picture may draw over
		_, _ = tm.emu.Write([]byte("\x1b[12;1Hscribbled over by somebody else"))
		return strings.Contains(tm.screen(), "scribbled over")
	})
	tm.keys("\x0c")
	until(t, "the scribble is gone", patience, func() bool { return !strings.Contains(tm.screen(), "scribbled") })
	tm.see(`orders`, patience)
	tm.keys("q")
	tm.ended(patience)
}
