package pty

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// written is everything that a command could have changed.
func written(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return ask[string](t, conn, `SELECT (SELECT coalesce(string_agg(p::text, ' ' ORDER BY queue), '') FROM shardpilot.policy p)
		|| (SELECT count(*) FROM shardpilot.decision) || ' '
		|| (SELECT string_agg(queue || enqueue_shards, ' ' ORDER BY queue) FROM awa.queue_meta)`)
}

// A slip of the hand is a sentence and a code, and nothing has happened.
func TestBadInputIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 4, "capped": 1})
	optIn(t, d, "capped", 4)
	before := written(t, conn)
	for _, c := range []struct {
		code int
		says string
		args string
	}{
		{2, `"frobnicate" is neither a command`, "frobnicate"},
		{2, "unknown flag: --frobnicate", "show --frobnicate"},
		{2, "one connection string", "show URL URL"},
		{2, "not a connection string", "show orders"},
		{2, "--interval must be 0.25s to 10s", "URL --interval 1ms"},
		{2, `--mode must be shadow or enforced`, "URL --mode wild"},
		{2, "--pace must be 1 to 48", "demo --pace 0"},
		{2, "--pace must be 1 to 48", "demo --pace NaN"},
		{2, "--port must be 1 to 65535", "show --port 70000"},
		{2, "--shape must be steady, bursty", "demo --shape wild"},
		{2, "--shards must be 1 to 64", "demo --shards 65"},
		{2, "--hold must be 0s to 1m", "demo --hold 2m"},
		{2, "--producers must be 1 to 500", "demo --producers 0"},
		{2, "--duration must not be negative", "demo --duration -1s"},
		{2, "invalid argument", "demo --duration soon"},
		{2, "--limit must be 1 to 10000", "log URL --limit 0"},
		{2, `"-1h" is no time; write it as 2d`, "log URL --since -1h"},
		{2, "--level must be watch or act", "grants URL --level all"},
		{2, "set needs --queue", "set URL --pin 2 --yes"},
		{2, "set needs to know what", "set URL --queue orders --yes"},
		{2, "--auto needs --max", "set URL --queue orders --auto --yes"},
		{2, "--max must be 2 to 64, got 65", "set URL --queue orders --auto --max 65 --yes"},
		{2, "--max must be 2 to 64, got 1", "set URL --queue orders --auto --max 1 --yes"},
		{2, "exclude each other", "set URL --queue orders --auto --max 8 --manual 2 --yes"},
		{2, "exclude each other", "set URL --queue orders --auto --max 8 --enforced --shadow --yes"},
		{2, "exclude each other", "set URL --queue orders --pin 2 --unpin --yes"},
		{2, "--manual must be 1 to 64, got 0", "set URL --queue orders --manual 0 --yes"},
		{2, "--manual must be 1 to 64, got 65", "set URL --queue orders --manual 65 --yes"},
		{2, "--pin must be 1 to 64, got 65", "set URL --queue orders --pin 65 --yes"},
		{2, "--for goes with --pin", "set URL --queue orders --unpin --for 2h --yes"},
		{2, "longer than nothing", "set URL --queue orders --pin 2 --for -2h --yes"},
		{2, "longer than nothing", "set URL --queue orders --pin 2 --for 0s --yes"},
		{2, "invalid argument", "set URL --queue orders --pin 2 --for soon --yes"},
		{2, "invalid argument", "set URL --queue orders --pin two --yes"},
		{3, "no terminal to ask on", "set URL --queue orders --auto --max 8"},
		{3, "no terminal to ask on", "uninstall URL"},
		{2, "needs a terminal", "URL"},
		{3, `no queue "unheard-of"`, "set URL --queue unheard-of --pin 2 --yes"},
		{3, `no queue "unheard-of"`, "show URL --queue unheard-of"},
		{3, `no queue "unheard-of"`, "log URL --queue unheard-of"},
		{3, "the queue has 4 shards now, more than a maximum of 2", "set URL --queue orders --auto --max 2 --yes"},
		{3, "maximum", "set URL --queue capped --pin 8 --yes"},
	} {
		t.Run(strings.ReplaceAll(c.args, "URL ", ""), func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				if args[i] == "URL" {
					args[i] = d.URL
				}
			}
			r := run(t, args...)
			if r.code != c.code || !strings.Contains(r.err, c.says) || !strings.HasPrefix(r.err, "shardpilot: ") || r.out != "" {
				t.Errorf("code %d, want %d and %q:\n%s---\n%s", r.code, c.code, c.says, r.out, r.err)
			}
			if now := written(t, conn); now != before {
				t.Errorf("something was written: %s, before %s", now, before)
			}
		})
	}
}

// What set keeps, show and log tell, until uninstall.
func TestSettingsGoRound(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := d.Connect(t)
	installAwa(t, conn, rehearsal.Options{})
	addQueue(t, conn, "orders", 1)
	steps := []struct {
		args string
		says []string
	}{
		{"show URL", []string{"orders  S 1, manual", "nothing in the log", "install makes the schema"}},
		{"install URL --yes", []string{"version 1"}},
		{"install URL --yes", []string{"it was already"}},
		{"set URL --queue orders --auto --max 4 --why trial --yes", []string{"orders: "}},
		{"show URL --queue orders", []string{"orders  S 1, shadow, max 4, partitioned FIFO accepted by", "last"}},
		{"set URL --queue orders --pin 1 --for 2h --yes", []string{"pinned to 1"}},
		{"show URL", []string{"pinned to 1 by", "ends in 1h5"}},
		{"set URL --queue orders --unpin --yes", []string{"orders: "}},
		{"set URL --queue orders --pause-up --yes", []string{"orders: "}},
		{"show URL", []string{"steps up paused by"}},
		{"set URL --queue orders --resume --yes", []string{"orders: "}},
		{"log URL --queue orders", []string{"act", "(trial)", "mode_set", "pinned", "unpinned", "paused", "resumed"}},
		{"doctor URL", []string{"watching is possible", "acting is possible"}},
		{"uninstall URL --yes", []string{"is gone"}},
		{"uninstall URL --yes", []string{"there was no schema"}},
	}
	for _, s := range steps {
		r := run(t, strings.Fields(strings.ReplaceAll(s.args, "URL", d.URL))...)
		if r.code != 0 {
			t.Fatalf("%s ends with %d:\n%s", s.args, r.code, r.both())
		}
		for _, words := range s.says {
			if !strings.Contains(r.both(), words) {
				t.Errorf("%s does not say %q:\n%s", s.args, words, r.both())
			}
		}
	}
	if n := ask[int](t, conn, `SELECT enqueue_shards FROM awa.queue_meta WHERE queue = 'orders'`); n != 1 {
		t.Errorf("the count is %d", n)
	}
	if ask[bool](t, conn, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'shardpilot')`) {
		t.Error("the schema shardpilot is still there")
	}
}

// On a terminal the consequences are read first, and everything but a yes is no.
func TestCommandsAskAndNoIsTheDefault(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	before := written(t, conn)
	for _, answer := range []string{"\r", "n\r", "Y E S\r", "\x04"} {
		tm := open(t, 120, 40, nil, "set", d.URL, "--queue", "orders", "--auto", "--max", "4")
		s := tm.see(`Go ahead\? \[y/N\]`, patience)
		for _, words := range []string{"Queue orders on 127.0.0.1", d.Name, "1 shard now", "at most 4 enqueue shards", "partitioned FIFO"} {
			if !strings.Contains(s, words) {
				t.Errorf("the question does not say %q:\n%s", words, s)
			}
		}
		tm.keys(answer)
		if code := tm.ended(patience); code != 3 {
			t.Errorf("answered %q it ends with %d", answer, code)
		}
		tm.see("nothing was done", 0)
		if now := written(t, conn); now != before {
			t.Errorf("answered %q, something was written: %s", answer, now)
		}
	}
	tm := open(t, 120, 40, nil, "set", d.URL, "--queue", "orders", "--auto", "--max", "4")
	tm.see(`Go ahead\? \[y/N\]`, patience)
	tm.keys("y\r")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("answered y it ends with %d:\n%s", code, tm.screen())
	}
	if most := ask[int](t, conn, `SELECT max_shards FROM shardpilot.policy WHERE queue = 'orders'`); most != 4 {
		t.Errorf("max is %d", most)
	}
}

// Ctrl-c at a question ends the program at once, and the terminal is as it was.
func TestCtrlCAtAQuestionEndsTheProgram(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	before := written(t, conn)
	for question, args := range map[string][]string{
		`Go ahead\? \[y/N\]`: {"set", d.URL, "--queue", "orders", "--pin", "4"},
		`Password for user`:  {as(t, d.URL, url.User("postgres"))},
	} {
		tm := open(t, 120, 40, nil, args...)
		tm.see(question, patience)
		tm.keys("\x03")
		if code := tm.ended(patience); code != 128+2 {
			t.Errorf("%s: exit code %d:\n%s", question, code, tm.screen())
		}
		tm.restored()
	}
	if now := written(t, conn); now != before {
		t.Errorf("something was written: %s", now)
	}
}

// A password is asked for before the screen opens, once, without an echo.
func TestPasswordIsAskedBeforeTheScreenOpens(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	watcher := role(t, d, furnish(t, d, map[string]int{"orders": 1}), "asked", "GRANT pg_read_all_data, pg_read_all_stats TO ROLE")
	u, err := url.Parse(watcher)
	if err != nil {
		t.Fatal(err)
	}
	without := as(t, watcher, url.User(u.User.Username()))
	for password, code := range map[string]int{"right": 0, "mistyped": 4} {
		tm := open(t, 100, 30, nil, without)
		tm.see(fmt.Sprintf("Password for user %s:", u.User.Username()), patience)
		if strings.Contains(tm.written(), "\x1b[?1049h") {
			t.Error("the screen was open already")
		}
		tm.keys(password + "\r")
		if code == 0 {
			tm.see(`\[Overview\][^§]*orders`, patience)
			tm.keys("q")
		}
		if got := tm.ended(patience); got != code {
			t.Errorf("with the password %q it ends with %d:\n%s", password, got, tm.screen())
		}
		tm.restored()
		if strings.Contains(tm.written(), password) {
			t.Error("the password was echoed")
		}
		if code != 0 {
			tm.see("refused the password of role", 0)
		}
	}
}
