package pty

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

var lineOfQueue = regexp.MustCompile(`^\d\d:\d\d:\d\dZ  \S+ +(S (\d+|n/a) +waiters|(hold|grow|shrink)\b)`)

// Without a terminal a demo prints lines that a person can read, and ends well.
func TestDemoWithoutATerminalPrintsLines(t *testing.T) {
	t.Parallel()
	r := run(t, "demo", "--duration", "15s", "--producers", "4")
	if r.code != 0 {
		t.Fatalf("exit code %d:\n%s", r.code, r.both())
	}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	last, lines := lines[len(lines)-1], lines[:len(lines)-1]
	if !regexp.MustCompile(`^enqueued [1-9]\d* jobs, completed \d+, .*no errors$`).MatchString(last) {
		t.Errorf("the last line is no summary: %q", last)
	}
	orders := 0
	for _, line := range lines {
		if !lineOfQueue.MatchString(line) {
			t.Errorf("not a line about a queue: %q", line)
		}
		if strings.Contains(line, "  orders ") {
			orders++
		}
	}
	if orders < 2 {
		t.Errorf("%d lines about the queue under load in 15 s:\n%s", orders, r.out)
	}
	if strings.Contains(r.both(), "\x1b") {
		t.Errorf("escape sequences without a terminal: %q", r.both())
	}
	gone(t, folderOf(t, r.err), patience)
}

// contract are the fields that the lines of a stream have.
var contract = map[string][]string{
	"reading": {"at", "queue", "shards", "waiters", "holders", "share", "share_low", "share_high", "bottleneck", "inside", "enqueue_rate",
		"wait_per_enqueue_s", "depth", "lag_s", "applied", "producers", "lanes"},
	"decision":     {"at", "queue", "mode", "action", "from", "to", "reason", "detail", "blockers", "predicted_gain", "pending"},
	"change":       {"at", "queue", "from", "to", "actor", "outcome", "detail"},
	"verification": {"at", "queue", "from", "to", "result", "gain", "predicted_gain"},
	"problem":      {"at", "part", "detail", "hint"},
	"summary":      {"enqueued", "completed", "errors", "changes", "reversals"},
}

var closed = map[string][]string{
	"bottleneck": {"lane", "notify", "stuck", "none", "unknown"},
	"mode":       {"manual", "shadow", "enforced"},
	"action":     {"grow", "shrink", "hold"},
	"outcome":    {"applied", "superseded", "refused", "failed"},
	"result":     {"kept", "ineffective", "harmful", "inconclusive"},
}

// keepsContract checks every line of a stream that has ended, and returns the
// summary.
func keepsContract(t *testing.T, all []object) object {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("the stream is empty")
	}
	for i, o := range all {
		fields, known := contract[o.text("type")]
		if !known {
			t.Fatalf("line %d has a type of its own: %v", i, o)
		}
		for _, f := range fields {
			if !o.has(f) {
				t.Fatalf("a %s line lacks %s: %v", o.text("type"), f, o)
			}
		}
		for f, values := range closed {
			if o.has(f) && !strings.Contains(" "+strings.Join(values, " ")+" ", " "+o.text(f)+" ") {
				t.Errorf("%s is %q", f, o.text(f))
			}
		}
		if o.has("at") {
			if at, err := time.Parse(time.RFC3339Nano, o.text("at")); err != nil || !strings.HasSuffix(o.text("at"), "Z") {
				t.Errorf("at is %q (%v, %v)", o.text("at"), at, err)
			}
		}
		if last := i == len(all)-1; (o.text("type") == "summary") != last {
			t.Errorf("line %d of %d is a %s", i+1, len(all), o.text("type"))
		}
	}
	return all[len(all)-1]
}
