package pty

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"shardpilot/db/local/pgtest"
)

var colour = regexp.MustCompile(`\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m`)

// Terminals and locales that can do less get less, and start all the same.
func TestPoorTerminalsAreServed(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 1, "キュー": 1})
	for _, c := range []struct {
		name   string
		env    []string
		ascii  bool // nothing but ASCII is sent
		colour bool // colours are
	}{
		{"LC_ALL=C", []string{"LC_ALL=C"}, true, true},
		{"no locale at all", []string{"LANG=", "LC_ALL=", "LC_CTYPE="}, true, true},
		{"TERM=linux", []string{"TERM=linux"}, false, true},
		{"TERM=vt100", []string{"TERM=vt100"}, false, false},
		{"NO_COLOR", []string{"NO_COLOR=1"}, false, false},
		{"everything", nil, false, true},
	} {
		tm := open(t, 100, 30, c.env, d.URL)
		tm.see(`\[Overview\][^§]*orders`, patience)
		tm.keys("\r")
		tm.see(`\[Queue\]`, patience)
		tm.keys("\t")
		tm.see(`\[Decisions\]`, patience)
		tm.keys("q")
		if code := tm.ended(patience); code != 0 {
			t.Errorf("%s: exit code %d:\n%s", c.name, code, tm.screen())
		}
		tm.restored()
		out := tm.written()
		if is := isASCII(out); is != c.ascii && c.ascii {
			t.Errorf("%s: not only ASCII is sent: %q", c.name, firstNonASCII(out))
		}
		if has := colour.MatchString(out); has != c.colour {
			t.Errorf("%s: colours are sent: %v", c.name, has)
		}
		if c.name == "TERM=linux" && strings.ContainsFunc(out, func(r rune) bool { return r >= 0x2800 && r <= 0x28ff }) {
			t.Errorf("%s: braille is sent, which its font lacks", c.name)
		}
	}
	for _, term := range []string{"dumb", ""} {
		tm := open(t, 100, 30, []string{"TERM=" + term}, d.URL)
		if code := tm.ended(patience); code != 2 {
			t.Errorf("TERM=%q: exit code %d", term, code)
		}
		tm.see("cannot place text", 0)
		if strings.Contains(tm.written(), "\x1b") {
			t.Errorf("TERM=%q is sent escape sequences: %q", term, tm.written())
		}
	}
}

func isASCII(s string) bool { return firstNonASCII(s) == "" }

func firstNonASCII(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return s[max(i-20, 0):min(i+20, len(s))]
		}
	}
	return ""
}

// hostile are names that break tables and terminals.
var hostile = []string{
	"キュー", "family 👨‍👩‍👧‍👦 of four", "combining é́́ accent", strings.Repeat("long", 50), "esc \x1b]0;pwned\a\x1b[2J\x1b[31m name", "line\nbreak\ttab\r", "c1 \u009b31m \u0085 name", "rtl \u202e override",
}

// Names from the database are shown, in their column, and never interpreted.
func TestNamesStayInTheirColumnsAndAreNotInterpreted(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	for _, name := range hostile {
		addQueue(t, conn, name, 1)
		do(t, conn, `INSERT INTO shardpilot.producer (instance_id, queue, shards, observed_at) VALUES ($1, $2, 1, clock_timestamp())`, "id "+name[:min(len(name), 100)], name)
	}
	for _, size := range [][2]int{{160, 40}, {80, 24}} {
		tm := open(t, size[0], size[1], nil, d.URL)
		tm.see(`\[Overview\][^§]*orders`, patience)
		tm.see(`キュー`, patience)
		aligned(t, tm, len(hostile)+1)
		for range hostile {
			tm.keys("j")
		}
		tm.keys("\r")
		tm.see(`\[Queue\]`, patience)
		tm.toScreen("Producers")
		tm.see(`id`, patience)
		tm.keys("y")
		tm.taken()
		tm.toScreen("Overview")
		tm.keys("q")
		if code := tm.ended(patience); code != 0 {
			t.Errorf("exit code %d", code)
		}
		raw := tm.written()
		for _, bad := range []string{"pwned\a", "\x1b]0;", "\x1b[2J\x1b[31m", "\x1b[31m name", "\u009b", "\u0085", "\u202e", "\t"} {
			if strings.Contains(raw, bad) {
				t.Errorf("%q reached the terminal", bad)
			}
		}
	}
	for _, command := range []string{"show", "log", "doctor"} {
		r := run(t, command, d.URL)
		if r.code != 0 || strings.ContainsAny(strings.ReplaceAll(r.both(), "\n", ""), "\x1b\a\r\t\u009b\u0085\u202e") {
			t.Errorf("%s: code %d: %q", command, r.code, r.both())
		}
	}
	r := run(t, "show", d.URL, "--json")
	if strings.ContainsAny(strings.TrimSuffix(r.out, "\n"), "\x1b\a\r") {
		t.Errorf("show --json: %q", r.out)
	}
}

var modeOfRow = regexp.MustCompile(`^(.*\d +)manual +(?:\d+/\d+|n/a) `)

// aligned asserts that the mode stands in the same cells of every row, whatever
// the name before it is made of.
func aligned(t *testing.T, tm *terminal, least int) {
	t.Helper()
	if tm.emu.Width() < 120 { // the column has no room here
		return
	}
	var at map[int]int
	until(t, "a mode in each row", patience, func() bool {
		at = map[int]int{}
		rows := 0
		for _, line := range strings.Split(tm.screen(), "\n") {
			if m := modeOfRow.FindStringSubmatch(line); m != nil {
				rows++
				at[ansi.StringWidth(m[1])]++
			}
		}
		return rows >= least
	})
	if len(at) != 1 {
		t.Errorf("the mode stands in the columns %v:\n%s", at, tm.screen())
	}
}

// Ages come from the server's clock whatever ours says of the zone, and the
// zone is shown.
func TestZonesAreShownAndDoNotMoveAges(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 1})
	optIn(t, d, "orders", 4)
	for _, c := range [][2]string{{"Asia/Kathmandu", `\d\d:\d\d:\d\d \+0545`}, {"UTC", `\d\d:\d\d:\d\d UTC`}, {"America/New_York", `\d\d:\d\d:\d\d E[SD]T`}} {
		tm := open(t, 120, 40, []string{"TZ=" + c[0]}, d.URL)
		s := tm.see(`leading[^§]*\[Overview\][^§]*orders`, patience)
		if !regexp.MustCompile(c[1]).MatchString(s) {
			t.Errorf("%s: the zone is not shown:\n%s", c[0], s)
		}
		tm.see(`age [0-5]s`, patience)
		tm.toScreen("Health")
		s = tm.see(`server minus ours -?(0s?|<1ms|\d+ms|0\.\d+s);`, patience) // when the answer was not late
		if negative := regexp.MustCompile(`(age|lag|since|ago) -\d`).FindString(s); negative != "" {
			t.Errorf("%s: %q", c[0], negative)
		}
		tm.keys("q")
		tm.ended(patience)
		r := runWith(t, []string{"TZ=" + c[0]}, "log", d.URL)
		if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +orders`).MatchString(r.out) {
			t.Errorf("%s: the log is not in UTC: %q", c[0], r.out)
		}
	}
}
