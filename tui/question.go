package tui

import (
	"errors"
	"fmt"

	"shardpilot/control"
)

// sentence says what Yes would do: queue, old and new.
func (m *Model) sentence(d *dialog) string {
	name := "queue " + d.label
	from, to := shardCount(d.from), shardCount(d.target())
	switch d.verb {
	case control.VerbApprove, control.VerbUndo:
		return name + ": " + from + " " + m.g.arrow + " " + to + " shards"
	case control.VerbOverride:
		if d.target() == 0 {
			to = "?"
		}
		return name + ": " + from + " " + m.g.arrow + " " + to + " shards"
	case control.VerbReject:
		return name + ": stays at " + from + ", not " + to
	case control.VerbPin:
		return name + ": " + from + " " + m.g.arrow + " pinned to " + to
	case control.VerbUnpin:
		return name + ": no longer pinned"
	case control.VerbPause, control.VerbResume:
		return name + ": " + brakes[d.get("steps").at].what
	case control.VerbAuto, control.VerbManual:
		return name + ": mode " + m.g.arrow + " " + modes[d.get("mode").at]
	}
	return name
}

// price is what the command would cost beyond what it says: letting the
// controller act by itself costs what it is known not to do.
func (m *Model) price(d *dialog) []string {
	if f := d.get("mode"); f.choices != nil && f.choices[f.at] == string(control.ModeEnforced) {
		var short []string
		for _, s := range control.Shortfalls() {
			short = append(short, s.Words())
		}
		return short
	}
	if d.changesNothing() {
		return nil
	}
	return control.Price(d.from, d.target())
}

// changesNothing says whether the command writes a policy and no count.
func (d *dialog) changesNothing() bool {
	switch d.verb {
	case control.VerbApprove, control.VerbOverride, control.VerbPin, control.VerbUndo:
		return false
	}
	return true
}

// outcome is what came of a command, in sentences.
func (m *Model) outcome(c control.Command, res control.Result, err error) ([]string, role) {
	var f *control.Fault
	switch {
	case errors.As(err, &f):
		return nonEmpty(f.What, f.Hint), roleBad
	case err != nil:
		return []string{"It is not known whether this was done: " + err.Error(), "The decision log tells"}, roleBad
	case res.Change == nil:
		return nonEmpty(string(c.Verb)+": "+c.Queue, res.Detail), roleGood
	}
	as := roleGood
	if res.Change.Outcome != control.OutcomeApplied {
		as = roleBad
	}
	detail := res.Detail
	if detail == res.Change.Detail {
		detail = "" // said once is enough
	}
	return nonEmpty(fmt.Sprintf("%s: %s %s", string(res.Change.Outcome), c.Queue, m.memory.steps(res.Change.From, res.Change.To)), res.Change.Detail, detail), as
}

func nonEmpty(s ...string) []string {
	var out []string
	for _, v := range s {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}
