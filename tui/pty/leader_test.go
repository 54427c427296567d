package pty

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
)

// Of two dashboards one leads and the other says whom it follows. When the
// leader is killed the other leads within seconds, and knows from the log what
// the dead one must not do again yet.
func TestFollowerTakesOverAndRemembersCooldowns(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 2})
	optIn(t, d, "orders", 8)
	changed := control.LogEntry{At: time.Now(), Kind: control.LogChange, Queue: "orders", Mode: control.ModeEnforced, Action: control.ActionGrow,
		From: 1, To: 2, Reason: control.ReasonContended, Detail: "an earlier step", Actor: "erika@test", Verb: control.VerbOverride, Outcome: control.OutcomeApplied}
	if err := openStore(t, d).Save(bounded(t), loop.Batch{Entries: []control.LogEntry{changed}}); err != nil {
		t.Fatal(err)
	}

	// Longer than anybody may take to look.
	file := policyFile(t, `GrowCooldown = "2h"`)
	first := open(t, 120, 40, nil, d.URL, "--policy", file)
	first.see(`SHADOW +leading`, patience)
	second := open(t, 120, 40, nil, d.URL, "--policy", file)
	second.see(`SHADOW +following \S+@\S+\[\d+\]`, patience)
	first.see(`SHADOW +leading`, 0)

	first.signal(syscall.SIGKILL)
	killed := time.Now()
	second.see(`SHADOW +leading`, patience)
	if took := time.Since(killed); took > soon {
		t.Errorf("it led after %v", took)
	}
	second.keys("\r")
	second.see(`\[Queue\][^§]*cooldown`, patience)
	second.keys("q")
	if code := second.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}

	r := run(t, "show", d.URL, "--queue", "orders", "--json")
	var out struct {
		Queues []struct {
			Last *control.LogEntry `json:"last"`
		} `json:"queues"`
	}
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || len(out.Queues) != 1 || out.Queues[0].Last == nil {
		t.Fatalf("show says %s (%v)", r.both(), err)
	}
	if log := run(t, "log", d.URL, "--queue", "orders"); !strings.Contains(log.out, "1 -> 2 applied") || !strings.Contains(log.out, "by erika@test") {
		t.Errorf("the log lacks the change:\n%s", log.both())
	}
}
