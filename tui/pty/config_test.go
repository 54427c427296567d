package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardpilot/db/local/pgtest"
)

// A configuration file says where to connect, what that is called and how it
// looks; every command follows it, and flags change it.
func TestTheConfigurationFileIsFollowed(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 2})
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	conn := d.Connect(t).Config()
	pass := write("pass", fmt.Sprintf("127.0.0.1:%d:*:postgres:%s\n", d.Server.Port, conn.Password))
	write("shardpilot/config.toml", fmt.Sprintf("connection = \"host=127.0.0.1 port=%d dbname=%s user=postgres passfile=%s\"\n", d.Server.Port, d.Name, pass)+
		"label = 'prod-eu'\ncolumns = ['wait', 'shards']\ninterval = '0.5s'\nread-only = true\n[profile.act]\nread-only = false\n")
	env := []string{"XDG_CONFIG_HOME=" + dir}

	tm := open(t, 120, 40, env)
	s := tm.see(`prod-eu +127\.0\.0\.1[^§]*read-only[^§]*\[Overview\] .*every 500ms[^§]*orders`, patience)
	if !regexp.MustCompile(`QUEUE +WAIT +S\s*\n`).MatchString(s) {
		t.Errorf("the columns are not those of the file:\n%s", s)
	}
	tm.keys("q")
	tm.ended(patience)

	place := regexp.QuoteMeta(fmt.Sprintf("prod-eu 127.0.0.1:%d/%s", d.Server.Port, d.Name))
	tm = open(t, 100, 30, env, "set", "--queue", "orders", "--pin", "4")
	tm.see(place+`[^§]*Go ahead`, patience)
	tm.keys("n\r")
	tm.ended(patience)

	if r := runWith(t, env, "show", "--queue", "orders"); r.code != 0 || !strings.Contains(r.out, "orders") {
		t.Errorf("show does not follow the file: code %d: %s", r.code, r.both())
	}
	r := runWith(t, env, "--profile", "act", "--interval", "2s", "--print-config")
	for _, says := range []string{`interval = '2s' +# --interval`, `read-only = false +# line 7 \(profile\)`, `label = 'prod-eu' +# line 2`, `theme = 'auto' +# default`} {
		if !regexp.MustCompile(says).MatchString(r.out) {
			t.Errorf("it does not print %s: %s", says, r.both())
		}
	}
	bad := write("bad.toml", "intervall = '1s'\ntheme = 'drak'\n")
	for _, args := range [][]string{{"--config", bad}, {"show", "--config", bad}, {"doctor", "--config", bad}} {
		r := runWith(t, env, args...)
		if r.code != 2 || !strings.Contains(r.err, `line 1: there is no key "intervall"`) || !strings.Contains(r.err, `line 2: theme must be `) {
			t.Errorf("%q: code %d: %s", args, r.code, r.both())
		}
	}
	if r := runWith(t, env, "--config", filepath.Join(dir, "gone.toml")); r.code != 2 || !strings.Contains(r.err, "gone.toml") {
		t.Errorf("a file that is not there: code %d: %s", r.code, r.both())
	}
}

// The mouse is the terminal's own unless it was asked for; then a click chooses
// and another opens, and the end gives it back.
func TestTheMouseIsOptional(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"emails": 1, "orders": 1})
	const on, off = "\x1b[?1002h", "\x1b[?1002l"
	tm := open(t, 100, 30, nil, d.URL)
	tm.see(`\[Overview\][^§]*orders`, patience)
	tm.keys("q")
	tm.ended(patience)
	if strings.Contains(tm.written(), on) {
		t.Error("the mouse is taken although nobody asked for it")
	}
	tm = open(t, 100, 30, nil, d.URL, "--mouse")
	s := tm.see(`leading[^§]*\[Overview\][^§]*orders`, patience) // rows stay where they are from here on
	row := 1
	for !strings.Contains(strings.Split(s, "\n")[row-1], "orders ") {
		row++
	}
	click := fmt.Sprintf("\x1b[<0;10;%dM\x1b[<0;10;%dm", row, row)
	tm.keys(click)
	tm.see(`(?m)^\W*▌\W+orders `, patience)
	tm.keys(click)
	tm.see(`\[Queue\][^§]*orders`, patience)
	tm.keys("q")
	tm.ended(patience)
	tm.restored()
	if out := tm.written(); strings.LastIndex(out, off) < strings.LastIndex(out, on) || !strings.Contains(out, on) {
		t.Error("the mouse is not given back")
	}
}
