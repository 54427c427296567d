package pty

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"shardpilot/db/local/pgtest"
	"shardpilot/probe/metrics/promtest"
)

// logged are the lines of a JSON log with a message.
func (b *background) logged(t *testing.T, message string) (list []object) {
	t.Helper()
	for line := range strings.Lines(b.written()) {
		var o object
		if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "\n") {
			continue // for people, or not whole yet
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("not JSON: %q: %v", line, err)
		}
		if o.text("msg") == message {
			list = append(list, o)
		}
	}
	return list
}

// Nobody writes to the pipe: whoever waits for that is still there at the end.
func TestNamedPipesAreRefusedAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	const nowhere = "postgres://127.0.0.1:1/d"
	for _, args := range [][]string{{"run", nowhere, "--config", pipe}, {"backtest", pipe}, {"replay", pipe, "--json"}} {
		if r := run(t, args...); r.code != 2 || !strings.Contains(r.err, pipe+" is no ordinary file") {
			t.Errorf("%v: code %d, %s", args, r.code, r.both())
		}
	}
	if r := run(t, "run", nowhere, "--log-file", pipe); r.code != 2 || !strings.Contains(r.err, "the log file cannot be opened") {
		t.Errorf("a log file: code %d, %s", r.code, r.both())
	}
}

// The policy file is read at the start and at each SIGHUP. One that cannot be
// used stops a start, and changes nothing later.
func TestRunReadsItsPolicyAgainOnSIGHUP(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 1})
	file := filepath.Join(t.TempDir(), "policy.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("GrowShare = 2")
	if r := run(t, "run", d.URL, "--policy", file); r.code != 2 || !strings.Contains(r.err, "GrowShare is 2, must be") {
		t.Errorf("a policy that makes no sense: code %d, %s", r.code, r.both())
	}

	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "run", d.URL, "--policy", pipe); r.code != 2 || !strings.Contains(r.err, pipe+" is no ordinary file") {
		t.Errorf("a pipe as the policy: code %d, %s", r.code, r.both())
	}

	write("GrowShare = 0.3")
	r := &replica{name: "run", addr: promtest.FreeAddr(t)}
	r.background = launch(t, nil, "run", d.URL, "--json", "--log-format", "json", "--policy", file, "--metrics-listen", r.addr)
	hangUp := func() {
		t.Helper()
		if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	r.await(t, "a good policy", patience, func() bool { return r.is("shardpilot_policy_current", 1) })
	write("GrowShare = 0.4\n[queue.orders]\nGrowWaiters = 2\n")
	hangUp()
	const again, not = "policy read again", "policy not read again, the numbers before stay in force"
	r.await(t, "the new policy", patience, func() bool { return len(r.logged(t, again)) == 1 })
	changes, _ := r.logged(t, again)[0]["changes"].([]any)
	if want := []any{"GrowShare 0.3 -> 0.4", `queue "orders": GrowShare 0.3 -> 0.4`, `queue "orders": GrowWaiters 1 -> 2`}; !slices.Equal(changes, want) {
		t.Errorf("it says that %v changed, want %v", changes, want)
	}
	write("GrowShare = 0.5\nNonsense = 1")
	hangUp()
	r.await(t, "the complaint", patience, func() bool { return len(r.logged(t, not)) == 1 && r.is("shardpilot_policy_current", 0) })
	if o := r.logged(t, not)[0]; o.text("level") != "ERROR" || !strings.Contains(o.text("error"), "Nonsense") {
		t.Errorf("it says %v", o)
	}
	write("GrowShare = 0.4")
	hangUp()
	r.await(t, "the mended policy", patience, func() bool { return len(r.logged(t, again)) == 2 && r.is("shardpilot_policy_current", 1) })
	if changes, _ := r.logged(t, again)[1]["changes"].([]any); !slices.Equal(changes, []any{`queue "orders": GrowWaiters 2 -> 1`}) {
		t.Errorf("against what was in force %v changed", changes)
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	hangUp()
	r.await(t, "a word about the pipe", patience, func() bool { return len(r.logged(t, not)) == 2 && r.is("shardpilot_policy_current", 0) })
	if o := r.logged(t, not)[1]; !strings.Contains(o.text("error"), "no ordinary file") {
		t.Errorf("of a pipe it says %v", o)
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.ended(t, patience); code != 0 {
		t.Errorf("exit code %d:\n%s", code, r.written())
	}

	plain := launch(t, nil, "run", d.URL, "--json", "--log-format", "json")
	plain.await(t, "a line", patience, func() bool { return len(plain.lines()) > 0 })
	if err := plain.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	plain.await(t, "word of the SIGHUP", patience, func() bool { return len(plain.logged(t, "SIGHUP: nothing to read again without --policy")) == 1 })
	was := len(plain.lines())
	plain.await(t, "more lines", patience, func() bool { return len(plain.lines()) > was })
}
