package pty

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shardpilot/control/record"
	"shardpilot/db/local/pgtest"
)

// decided are the decisions of a stream, as far as they make a difference.
func decided(all []object) []string {
	var out []string
	for _, o := range all {
		if o.text("type") == "decision" {
			out = append(out, fmt.Sprint(o["at"], o["queue"], o["mode"], o["action"], o["from"], o["to"], o["reason"], o["pending"]))
		}
	}
	return out
}

func linesOf(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

// What a demo decided, acting, a replay of its recording decides too, line by
// line; and the controller comes to it again from what was recorded.
func TestARecordedDemoReplaysAndIsExplained(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.rec")
	live := run(t, "demo", "--headless", "--json", "--mode", "enforced", "--pace", "40", "--duration", "22s", "--record", file)
	if live.code != 0 {
		t.Fatalf("exit code %d: %s", live.code, live.err)
	}
	again := run(t, "replay", file, "--json")
	if again.code != 0 || again.err != "" {
		t.Fatalf("replay: exit code %d: %s", again.code, again.err)
	}
	was, is := decided(objects(t, linesOf(live.out))), decided(objects(t, linesOf(again.out)))
	// The one may have ended a tick before the other.
	if n := min(len(was), len(is)); n < 5 || max(len(was), len(is))-n > 4 || strings.Join(was[:n], "\n") != strings.Join(is[:n], "\n") {
		t.Errorf("%d decisions were made:\n%s\n%d were replayed:\n%s", len(was), strings.Join(was, "\n"), len(is), strings.Join(is, "\n"))
	}

	test := run(t, "backtest", file, "--json")
	var report struct {
		Ticks, Missed int
		Check         struct{ Decisions, Same, Entries, Explained int }
		Differences   []any
	}
	if err := json.Unmarshal([]byte(test.out), &report); err != nil || test.code != 0 {
		t.Fatalf("backtest: exit code %d, %v: %s", test.code, err, test.both())
	}
	c := report.Check
	if report.Missed == 0 && (c.Same != c.Decisions || c.Explained != c.Entries) || c.Decisions < 100 || c.Entries < 3 || len(report.Differences) > 0 {
		t.Errorf("the recorded thresholds do not lead to what was recorded: %s", test.out)
	}
	other := run(t, "backtest", file, "--set", "WarmUp=20m")
	if other.code != 0 || !strings.Contains(other.out, "with WarmUp 30s (was 15s)") {
		t.Errorf("backtest: exit code %d: %s", other.code, other.both())
	}

	tm := open(t, 120, 40, nil, "replay", file)
	tm.see(`REPLAY \d{4}-\d\d-\d\d[^§]*playing ×1[^§]*orders`, patience)
	tm.keys("+")
	tm.see(`playing ×2`, patience)
	tm.keys("$")
	tm.see(`at the end`, patience)
	tm.keys("0", "l")
	tm.see(`paused +\S+ of`, patience)
	tm.keys("n")
	tm.see(`paused|nothing happened after`, patience)
	tm.keys("a", "o", "p", "m", "u", "x", "R")
	tm.taken()
	tm.see(`paused`, patience)
	if s := tm.screen(); strings.Contains(s, "reason") && strings.Contains(s, "[ ]") || strings.Contains(s, " REC ") {
		t.Errorf("something can be done from a recording:\n%s", s)
	}
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	tm.restored()
}

func TestAKeyRecordsWhatTheDashboardSees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 2})
	tm := openCommand(t, 140, 40, nil, exec.Command("sh", "-c", "cd '"+dir+"' && exec '"+binary+"' '"+d.URL+"'"))
	tm.see(`orders`, patience)
	tm.keys("R")
	tm.see(` REC `, patience)
	tm.see(`age \ds`, patience)
	found := func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "shardpilot-*.rec"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	until(t, "the recording", patience, func() bool {
		names := found()
		if len(names) != 1 {
			return false
		}
		b, err := os.ReadFile(names[0])
		return err == nil && strings.Count(string(b), "\n[") >= 2
	})
	tm.keys("R")
	tm.see(`recorded \S+: \d+ ticks`, patience)
	until(t, "REC to go", patience, func() bool { return !strings.Contains(tm.screen(), " REC ") })
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	rec, err := record.Open(found()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rec.Close() }()
	if ev, err := rec.Play().Next(); err != nil || ev.Snapshot == nil || len(ev.Snapshot.Readings) == 0 || rec.Torn {
		t.Errorf("its first event is %+v, %v", ev, err)
	}
}
