package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestALineOfTheLogSaysEachThingOnce(t *testing.T) {
	e := control.LogEntry{At: time.Unix(0, 0), Kind: control.LogChange, Queue: "orders", From: 4, To: 1, Outcome: control.OutcomeApplied, Reason: control.ReasonOverride,
		Detail: "4 → 1 by root@vm", Actor: "root@vm", Role: "op", Why: "fifo at once"}
	forced := e
	forced.SetAside(control.Blocker{Rule: control.ReasonNotDrained, Detail: "from shard 1 on 1700 jobs left in 3 of 3 lanes"})
	same := e
	same.Role = "root"
	grow := control.LogEntry{At: time.Unix(0, 0), Kind: control.LogDecision, Queue: "orders", Mode: control.ModeShadow, Action: control.ActionGrow, From: 1, To: 2,
		Reason: control.ReasonContended, Detail: "1 → 2: share 0.94", Actor: "controller", Role: "op"}
	for want, e := range map[string]control.LogEntry{
		"change    4 -> 1 applied (override)  by root@vm as op (fifo at once)":                                                                           e,
		"change    4 -> 1 applied (override); FORCED past not_drained (from shard 1 on 1700 jobs left in 3 of 3 lanes)  by root@vm as op (fifo at once)": forced,
		"change    4 -> 1 applied (override)  by root@vm (fifo at once)":                                                                                 same,
		"decision  shadow, grow 1 -> 2 (contended): share 0.94  by controller":                                                                           grow,
	} {
		got := printed(t, func(b *bytes.Buffer) error { return Log(b, []control.LogEntry{e}, false) })
		if !strings.HasSuffix(got, "  "+want+"\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := printed(t, func(b *bytes.Buffer) error { return Log(b, []control.LogEntry{forced}, true) }); !strings.Contains(got, `"forced":true`) || !strings.Contains(got, `"role":"op"`) {
		t.Error(got)
	}
}

func TestTimesOfTheLogAreAgoDatesOrExact(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]control.Moment{
		"2d": {Ago: 2 * day}, "1d12h": {Ago: 36 * time.Hour}, "90m": {Ago: 90 * time.Minute},
		"2026-11-29": {At: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}, "2026-11-29T18:30:00+01:00": {At: time.Date(2026, 11, 29, 17, 30, 0, 0, time.UTC)},
	} {
		c, err := Parse([]string{"log", "--since", text, "--until", text})
		if err != nil || c.Act.Since != want || c.Act.Until != want {
			t.Errorf("%s: %+v %+v %v", text, c.Act.Since, c.Act.Until, err)
		}
	}
	for _, text := range []string{"", "d", "-1h", "-2d", "0s", "soon", "2026-13-01", "1dd"} {
		if _, err := Parse([]string{"log", "--since", text}); control.ExitCode(err) != 2 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Parse([]string{"log", "--kind", "change,acts"}); control.ExitCode(err) != 2 || !strings.Contains(err.Error(), "change, adopted, verdict or act") {
		t.Error(err)
	}
}
