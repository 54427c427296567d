package tui

import (
	"strings"

	"shardpilot/control"
)

// follows says whether another process leads and is known. The header names
// it, so that no row has to.
func (m *Model) follows() bool { return m.live.Leader != "" && m.live.Leader != "self" }

// against says whether a rule stands in the way of a step in a direction. That
// another process leads stands in the way of none: it only moves who takes it.
func against(b control.Blocker, to control.Action) bool {
	return b.Rule != control.ReasonNotLeader && (b.For == "" || b.For == to)
}

// free is the direction that no rule stands in the way of, "" when there is none.
func free(d *control.Decision) control.Action {
next:
	for _, to := range []control.Action{control.ActionGrow, control.ActionShrink} {
		if to == control.ActionShrink && d.From <= control.MinShards {
			continue
		}
		for _, b := range d.Blockers {
			if against(b, to) {
				continue next
			}
		}
		return to
	}
	return ""
}

// hinders says whether a rule stands in the way of a pending step that a hand
// could not pass over: who leads binds the controller alone, and a producer
// that lags is what the step waits for a hand for.
func hinders(d *control.Decision) bool {
	to := control.ActionGrow
	if n := d.Step; n != nil && n.To < n.From {
		to = control.ActionShrink
	}
	for _, b := range d.Blockers {
		if against(b, to) && b.Rule != control.ReasonStaleProducers {
			return true
		}
	}
	return false
}

// waitsFor is the first rule that a queue waits for, nil when there is none.
// On a follower that is not that another leads, which holds for every queue.
func (m *Model) waitsFor(d *control.Decision) *control.Blocker {
	if m.leaderTakes(d) && free(d) != "" {
		return nil
	}
	for i := range d.Blockers {
		if b := &d.Blockers[i]; b.Rule != control.ReasonNotLeader || !m.follows() {
			return b
		}
	}
	return nil
}

// leaderTakes says whether that another process leads is what a decision names
// first.
func (m *Model) leaderTakes(d *control.Decision) bool {
	return d.Reason == control.ReasonNotLeader && len(d.Blockers) > 0 && m.follows()
}

// why is the reason of a decision and the same in a sentence, both safe. A
// follower says what the queue waits for.
func (m *Model) why(d *control.Decision) (reason, detail string) {
	if nobodyWaits(d) {
		return "quiet", "Nobody waits for a lane: there is nothing to decide."
	}
	if !m.leaderTakes(d) {
		return m.ruleWords(d.Reason), m.g.told(d.Detail)
	}
	if b := m.waitsFor(d); b != nil {
		return m.ruleWords(b.Rule), m.g.told(b.Detail)
	}
	if n := d.Step; n != nil {
		return "pending " + m.memory.steps(n.From, n.To), m.g.told(n.Detail)
	}
	wish := "may be raised"
	if free(d) == control.ActionShrink {
		wish = "may be lowered"
	} else if d.PredictedGain.OK() {
		wish += ", predicted " + gain(d.PredictedGain, m.g.times)
	}
	return wish, "No rule is in the way; the leader takes the step, or asks for a hand."
}

// status is why a queue holds, in the few words that a table has room for.
func (m *Model) status(d *control.Decision) string {
	s, _ := m.why(d)
	if nobodyWaits(d) {
		return s + ": nobody waits"
	}
	if b := m.waitsFor(d); b != nil && b.Detail != "" {
		first, _, _ := strings.Cut(s, " ") // "share low: share 0.10" says share twice
		s += ": " + strings.TrimPrefix(m.g.told(b.Detail), first+" ")
	}
	return s
}

// leaderLast puts the rule that another process leads behind those that tell
// the queue from others.
func (m *Model) leaderLast(list []control.Blocker) []control.Blocker {
	if !m.follows() {
		return list
	}
	var first, last []control.Blocker
	for _, b := range list {
		if b.Rule == control.ReasonNotLeader {
			last = append(last, b)
		} else {
			first = append(first, b)
		}
	}
	return append(first, last...)
}
