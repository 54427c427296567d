package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"shardpilot/control"
)

// Finding is one line of a doctor's report.
type Finding struct {
	Check  string
	State  string // ok, warn, fail, unknown
	Detail string
	Fix    string // a statement or a step, "" when nothing needs to be done
}

// Object prints one JSON object on a line.
func Object(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

var marks = map[string]string{"ok": "ok     ", "warn": "WARN   ", "fail": "FAIL   ", "unknown": "unknown"}

// Report prints where we are, every finding with what mends it, and the
// summary, which says whether watching and acting are possible.
func Report(w io.Writer, at control.Database, findings []Finding, summary []string) error {
	var b strings.Builder
	role := "primary"
	if at.Standby {
		role = "STANDBY"
	}
	fmt.Fprintf(&b, "%s as %s, PostgreSQL %s, %s\n\n", Safe(fmt.Sprintf("%s:%d/%s", at.Host, at.Port, at.Name)), Safe(at.User), Safe(at.Version), role)
	longest := 0
	for _, f := range findings {
		longest = max(longest, len(f.Check))
	}
	for _, f := range findings {
		mark, ok := marks[f.State]
		if !ok {
			mark = f.State
		}
		fmt.Fprintf(&b, "%s  %-*s  %s\n", mark, longest, f.Check, Safe(f.Detail))
		if f.Fix != "" {
			arrow := "->"
			for line := range strings.SplitSeq(f.Fix, "\n") {
				fmt.Fprintf(&b, "%s  %-*s  %s %s\n", strings.Repeat(" ", len(mark)), longest, "", arrow, Safe(line))
				arrow = "  "
			}
		}
	}
	b.WriteByte('\n')
	for _, s := range summary {
		b.WriteString(Safe(s) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
