package pty

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// A campaign that Ctrl-C stopped keeps what was done, says how to go on, and
// goes on from there; other flags are another campaign.
func TestAnExperimentThatWasStoppedGoesOn(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	args := []string{"experiment", "--shapes", "idle", "--settings", "1", "--duration", "6s", "--pace", "40", "--out", out}
	b := launch(t, nil, args...)
	b.await(t, "the first run", 2*patience, func() bool { return strings.Contains(b.written(), "1/2  idle") })
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(t, patience); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit code %d\n%s", code, b.written())
	}
	if said := b.written(); !strings.Contains(said, "1 of 2 runs are kept in "+out) || !strings.Contains(said, "same command goes on") {
		t.Errorf("said:\n%s", said)
	}
	if other := run(t, append(args, "--seeds", "2")...); other.code != 3 || !strings.Contains(other.err, "another campaign: its seeds is") {
		t.Errorf("other flags: %d %s", other.code, other.both())
	}
	again := run(t, args...)
	if !strings.Contains(again.err, "holds 1 runs") || strings.Contains(again.err, "1/2  idle") || !strings.Contains(again.err, "2/2  idle") {
		t.Errorf("went on with:\n%s", again.both())
	}
	// On a busy machine an idle queue's p99 is chance; the rest is not.
	if again.code != 0 && again.code != 5 || !strings.Contains(again.out, "the gate is") || !strings.Contains(again.out, "producer errors") {
		t.Errorf("exit code %d\n%s", again.code, again.both())
	}
	for _, name := range []string{"results.json", "results.csv", "report.md", "experiment-idle.svg"} {
		if text, err := os.ReadFile(filepath.Join(out, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The exit code says how the gate went, and the lines say why.
func TestAnExperimentsExitCodeIsItsVerdict(t *testing.T) {
	t.Parallel()
	good := run(t, "experiment", "--simulate", "--shapes", "idle", "--duration", "2h", "--seeds", "1", "--json")
	if good.code != 0 {
		t.Errorf("%d %s", good.code, good.both())
	}
	lines := objects(t, strings.Split(strings.TrimSpace(good.out), "\n"))
	if n := len(lines); n < 7 || lines[0].text("type") != "run" || lines[0].has("bins") || lines[5].text("type") != "gate" ||
		lines[n-1].text("type") != "verdict" || lines[n-1]["passed"] != true {
		t.Errorf("said %s", good.out)
	}
	// Within a minute nobody grows to eight.
	bad := run(t, "experiment", "--simulate", "--shapes", "steady", "--settings", "8", "--duration", "1m")
	if bad.code != 5 || !strings.Contains(bad.out, "failed") || !strings.Contains(bad.err, "the gate is not passed") {
		t.Errorf("%d %s", bad.code, bad.both())
	}
	swept := run(t, "experiment", "--sweep", "GrowShare=0.2,0.3", "--shapes", "idle", "--duration", "1h", "--seeds", "1", "--json")
	var table struct{ Rows []struct{ Name string } }
	if err := json.Unmarshal([]byte(swept.out), &table); err != nil || swept.code != 0 || len(table.Rows) != 3 || table.Rows[2].Name != "GrowShare=0.3" {
		t.Errorf("%d %v %s", swept.code, err, swept.both())
	}
}

// Nobody's database is loaded by a slip of the hand.
func TestAnExperimentIsRefusedWhereItIsNotWanted(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	if r := run(t, "experiment", d.URL); r.code != 3 || !strings.Contains(r.err, "--allow-load") {
		t.Errorf("without leave: %d %s", r.code, r.both())
	}
	if r := run(t, "experiment", d.URL, "--allow-load"); r.code != 3 || !strings.Contains(r.err, "drops both schemas") {
		t.Errorf("without a word: %d %s", r.code, r.both())
	}
	if err := rehearsal.Install(bounded(t), d.Connect(t), rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "experiment", d.URL, "--allow-load", "--yes"); r.code != 3 || !strings.Contains(r.err, "no experiment made") {
		t.Errorf("over a rehearsal: %d %s", r.code, r.both())
	}
}
