package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
)

// sequences are what a terminal sends for keys that are no characters.
var sequences = map[string]string{"down": "\x1b[B", "up": "\x1b[A", "left": "\x1b[D", "right": "\x1b[C", "home": "\x1b[H", "end": "\x1b[F",
	"pgdown": "\x1b[6~", "pgup": "\x1b[5~", "shift+left": "\x1b[1;2D", "shift+right": "\x1b[1;2C", "f1": "\x1bOP"}

// walked are keys that the tour presses for a purpose, or that end it: ctrl+l is
// how it knows that the others are taken, ctrl+s and R would leave files where
// the tests run.
var walked = []string{"enter", "esc", "backspace", "tab", "shift+tab", "q", "ctrl+c", "ctrl+l", "ctrl+s", "R"}

// everyKey is every key of the table that has a meaning on some screen, in its
// order, and two that have none; apart from them those that open a question, a
// menu or a line to type in, on any screen.
func everyKey(t *testing.T) (keys, openers []string) {
	t.Helper()
	for _, file := range []string{"keys.go", "act.go"} {
		source, err := os.ReadFile(filepath.Join(root(t), "tui", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range regexp.MustCompile(`\{keys: \[\]string\{([^}]*)\}`).FindAllStringSubmatch(string(source), -1) {
			for _, quoted := range strings.Split(list[1], ", ") {
				name, err := strconv.Unquote(quoted)
				if err != nil {
					t.Fatalf("%s: %v", quoted, err)
				}
				letter, ctrl := strings.CutPrefix(name, "ctrl+")
				switch sequence := sequences[name]; {
				case slices.Contains(walked, name):
				case file == "act.go", name == ":", name == "/", name == "y":
					openers = append(openers, name)
				case name == "ctrl+p":
					openers = append(openers, "\x10")
				case name == "!": // there and back
					keys = append(keys, name, name)
				case sequence != "":
					keys = append(keys, sequence)
				case ctrl && len(letter) == 1:
					keys = append(keys, string(letter[0]-'a'+1))
				case len([]rune(name)) == 1:
					keys = append(keys, name)
				default:
					t.Fatalf("there is no sequence for the key %q", name)
				}
			}
		}
	}
	if len(keys) < 30 || len(openers) < 10 {
		t.Fatalf("only %d and %d keys were found in the table", len(keys), len(openers))
	}
	return append(keys, "Z", "\x1b[15~"), openers
}

// untouched is what no look around may change.
func untouched(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return ask[string](t, conn, `SELECT (SELECT string_agg(p::text, ' ' ORDER BY queue) FROM shardpilot.policy p)
		|| (SELECT string_agg(queue || enqueue_shards, ' ' ORDER BY queue) FROM awa.queue_meta)
		|| (SELECT count(*) FROM shardpilot.decision WHERE kind IN ('act', 'change'))`)
}

// A person new to it presses everything, on every screen, and nothing happens
// that a look around should not do.
func TestTourOfADemo(t *testing.T) {
	t.Parallel()
	tm := open(t, 120, 40, nil, "demo", "--producers", "4", "--label", "rehearsal")
	tm.see(`rehearsal +127\.0\.0\.1:\d+/demo[^§]*orders`, patience)
	conn := demoConn(t, folderOf(t, tm.written()))
	before := untouched(t, conn)
	keys, openers := everyKey(t)
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		tm.resize(size[0], size[1])
		tm.see(`\[Overview\]`, patience)
		tm.keys("\r")
		tm.see(`\[Queue\]`, patience)
		for _, screen := range []string{"Queue", "Decisions", "Producers", "Health", "Help", "Overview"} {
			if screen != "Queue" {
				tm.toScreen(screen)
			}
			tm.keys(keys...)
			tm.taken()
			for _, key := range openers {
				tm.keys(key)
				if tm.taken(); screen == "Queue" || screen == "Overview" {
					tm.toScreen(screen)
				}
			}
			tm.toScreen(screen)
			filled(t, tm, size[0], size[1])
		}
		tm.keys("/", "mail", "\r")
		tm.see(`emails`, patience)
		until(t, "the filter", patience, func() bool { return !strings.Contains(tm.screen(), "reports:") })
		tm.keys("\x1b")
		tm.see(`reports:`, patience)
		tm.toScreen("Overview")
	}
	if now := untouched(t, conn); now != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", now, before)
	}
	if len(tm.written()) == 0 || strings.Contains(tm.written(), "panic") {
		t.Error("it panicked")
	}
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	tm.restored()
	gone(t, folderOf(t, tm.written()), patience)
}

// toScreen goes to a screen by tab, out of whatever is open.
func (tm *terminal) toScreen(name string) {
	tm.t.Helper()
	tm.keys("\x1b", "\x1b") // a question, then a screen opened over another
	for range 16 {
		was := tm.tab()
		if was == name {
			if tm.taken(); tm.tab() == name { // and no tab is on its way
				return
			}
			continue
		}
		tm.keys("\t") // again, when one was swallowed by what was typed before
		for end := time.Now().Add(3 * time.Second); (tm.tab() == was || tm.tab() == "") && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		if tm.tab() == was { // swallowed, or not taken yet on a busy machine
			tm.taken()
			until(tm.t, "a picture", patience, func() bool { return tm.tab() != "" })
		}
	}
	tm.t.Fatalf("there is no way to the screen %s:\n%s", name, tm.screen())
}

var marked = regexp.MustCompile(`\[(Overview|Queue|Decisions|Producers|Health|Help)\W`)

// tab is the screen that is marked among the tabs, "" while none is.
func (tm *terminal) tab() string {
	if m := marked.FindStringSubmatch(tm.screen()); m != nil {
		return m[1]
	}
	return ""
}

// filled asserts that the picture takes the whole screen: where we are in the
// first line, the keys in the last.
func filled(t *testing.T, tm *terminal, w, h int) {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(tm.screen(), "\r", ""), "\n")
	if len(lines) != h || !strings.Contains(lines[0], "127.0.0.1:") || !strings.Contains(lines[h-1], "quit") {
		t.Errorf("at %d×%d the picture has %d lines:\n%s", w, h, len(lines), tm.screen())
	}
}

// taken waits until the program has taken all keys typed so far, and has drawn
// what they did: keys are taken in their order, and this one makes it clear the
// screen. It is typed twice, since a terminal that was behind gets the picture
// from before the first once more.
func (tm *terminal) taken() {
	tm.t.Helper()
	for range 2 {
		before := tm.cleared()
		tm.keys("\x0c")
		until(tm.t, "the keys are taken", patience, func() bool { return tm.cleared() > before })
		tm.screen() // whole again
	}
}

// Sizes that no picture fits, on every screen and with a question open, are
// said to be too small; the next size draws everything again.
func TestResizingToNothingAndBack(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1, "emails": 2})
	optIn(t, d, "orders", 8)
	before := untouched(t, conn)
	tm := open(t, 200, 60, nil, d.URL)
	tm.see(`\[Overview\][^§]*orders`, patience)
	storm := func(what, back string) {
		t.Helper()
		for _, size := range [][2]int{{20, 5}, {1, 1}, {0, 0}, {3, 200}, {500, 2}, {20, 5}} {
			tm.resize(size[0], size[1])
		}
		tm.see(`needs \d+`, patience)
		if back == what { // what is asked cannot be read now, so nothing answers it
			tm.keys("\t", "\r", "\t", "\r")
			tm.taken()
		}
		tm.resize(200, 60)
		tm.see(back, patience)
	}
	storm("overview", `\[Overview\][^§]*orders`)
	for _, screen := range []string{"Decisions", "Producers", "Health", "Help", "Overview"} {
		tm.toScreen(screen)
		storm(screen, `\[`+screen+`\W`)
	}
	for _, c := range [][2]string{{"o", "Set the shard count"}, {"p", "Pin the shard count"}, {"m", "Change who decides"}} {
		tm.keys(c[0])
		tm.see(c[1], patience)
		storm(c[1], c[1])
		tm.keys("\x1b")
		until(t, "the question is gone", patience, func() bool { return !strings.Contains(tm.screen(), c[1]) })
	}
	if now := untouched(t, conn); now != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", now, before)
	}
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	tm.restored()
}

// Every action asks first, names what it is about and where, and takes no for
// an answer when only enter is pressed.
func TestDialogsNameEverythingAndDefaultToNo(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 2})
	optIn(t, d, "orders", 8)
	before := untouched(t, conn)
	tm := open(t, 120, 40, nil, d.URL, "--label", "prod-eu")
	tm.see(`\[Overview\][^§]*orders[^§]*prod-eu|prod-eu[^§]*\[Overview\][^§]*orders`, patience)
	place := regexp.QuoteMeta(fmt.Sprintf("127.0.0.1:%d/%s", d.Server.Port, d.Name))
	for _, c := range []struct {
		key, title, typed string
		says              string
	}{
		{"o", "Set the shard count", "4", `queue orders: 2 (→|->) 4 shards`},
		{"p", "Pin the shard count", "", `queue orders: 2 (→|->) pinned to 2`},
		{"m", "Change who decides", "", `queue orders: mode (→|->) `},
	} {
		tm.keys(c.key)
		tm.see(c.title+`[^\n]*prod-eu +`+place, patience)
		tm.keys(c.typed)
		s := tm.see(c.says, patience)
		for range 8 { // enter goes from field to field to No, and No closes
			if strings.Contains(s, "[No]") {
				break
			}
			tm.keys("\r")
			tm.taken()
			s = tm.screen()
		}
		if !strings.Contains(s, "[No]") {
			t.Errorf("%s: enter does not lead to No:\n%s", c.key, s)
		}
		tm.keys("\r")
		until(t, "No closes the question", patience, func() bool { return !regexp.MustCompile(c.says).MatchString(tm.screen()) })
	}
	for key, says := range map[string]string{"a": "no step of this queue is pending", "x": "no step of this queue is pending", "u": "no change of this queue"} {
		tm.keys(key)
		tm.see(says, patience)
	}
	tm.keys("\x1b[200~o4\r\t\r\x1b[201~") // pasted text is never keys
	tm.see("pasted text is not taken for keys", patience)
	if now := untouched(t, conn); now != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", now, before)
	}
	tm.keys("q")
	tm.ended(patience)
}

func TestReadOnlyTakesTheActionKeysAway(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 2})
	optIn(t, d, "orders", 8)
	before := untouched(t, conn)
	tm := open(t, 120, 40, nil, d.URL, "--read-only")
	s := tm.see(`read-only[^§]*\[Overview\][^§]*orders`, patience)
	if strings.Contains(s, "override") || strings.Contains(s, "approve") {
		t.Errorf("the footer offers actions:\n%s", s)
	}
	for _, key := range []string{"o", "p", "m", "a", "x", "u"} {
		tm.keys(key, "\t")
		tm.taken()
		tm.see(`\[(Decisions|Producers|Health|Help|Overview)\W`, patience)
		if s := tm.screen(); strings.Contains(s, "[No]") || strings.Contains(s, " No ") {
			t.Errorf("%q asks something:\n%s", key, s)
		}
		tm.toScreen("Overview")
	}
	tm.toScreen("Help")
	if s := tm.screen(); strings.Contains(s, "override") || strings.Contains(s, "approve the pending step") {
		t.Errorf("the help offers actions:\n%s", s)
	}
	if now := untouched(t, conn); now != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", now, before)
	}
	tm.keys("q")
	tm.ended(patience)
}
