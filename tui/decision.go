package tui

import (
	"slices"
	"time"

	"shardpilot/control"
)

// decisionLines says in at most n lines what the controller wants with a queue.
func (m *Model) decisionLines(r row, w, n int) []line {
	d := r.decision
	switch {
	case d == nil && r.past:
		return []line{text(roleFaint, absent+": what was decided then is not kept")}
	case d == nil:
		return []line{text(roleFaint, "watched only: nothing decides about this queue")}
	}
	var l line
	l.add(decisionRole(d), m.actionSign(d.Action)+" "+m.verb(d)+" ")
	reason, detail := m.why(d)
	l.add(roleDim, reason)
	lines := []line{l}
	if rest := n - 1; rest > 0 {
		for _, s := range wrap(detail, w-2, rest, m.g.dots) {
			lines = append(lines, text(roleText, "  "+s))
		}
	}
	return lines
}

func decisionRole(d *control.Decision) role {
	switch {
	case d.Pending:
		return roleWarn
	case d.Action != control.ActionHold:
		return roleAccent
	}
	return roleText
}

func (m *Model) verb(d *control.Decision) string {
	s := string(d.Action)
	switch d.Action {
	case control.ActionGrow:
		s = "raise"
	case control.ActionShrink:
		s = "lower"
	}
	s = safe(s, m.g.ascii)
	if d.From != d.To {
		s += " " + m.memory.steps(d.From, d.To)
	} else if d.From > 0 {
		s += " at " + shardCount(d.From)
	}
	return s
}

// decisionPane is the present decision: why, what is in the way and how far
// each is from giving way, what a step would bring.
func (m *Model) decisionPane(r row, w int) []line {
	d := r.decision
	if d == nil {
		return append([]line{section("Decision", "", w, m.g)}, m.decisionLines(r, w, 1)...)
	}
	var lines []line
	if awaits(r) && !r.past {
		lines = append(lines, m.pendingCard(d, w)...)
	}
	if awaits(r) && d.Pending && d.Step != nil && !r.past { // the card has said it all
		return append(lines, m.pastLines(r, w, 4)...)
	}
	lines = append(lines, section("Decision", m.memory.words(string(d.Mode))+m.leaderSays(r), w, m.g))
	var l line
	l.add(decisionRole(d), m.actionSign(d.Action)+" "+m.verb(d))
	reason, detail := m.why(d)
	l.add(roleDim, "  "+reason)
	lines = append(lines, l)
	for _, s := range wrap(detail, w-2, 3, m.g.dots) {
		lines = append(lines, text(roleText, "  "+s))
	}
	if d.PredictedGain.OK() && !elsewhere(d) {
		var p line
		p.add(roleDim, "  a step is predicted to bring ").add(roleStrong, gain(d.PredictedGain, m.g.times))
		lines = append(lines, p)
	}
	if !d.Next.IsZero() {
		lines = append(lines, text(roleDim, "  next step not before "+m.until(d.Next)))
	}
	if len(d.Blockers) > 0 {
		lines = append(lines, section("In the way", control.Plural(len(d.Blockers), "rule"), w, m.g))
		for _, b := range m.leaderLast(d.Blockers) {
			lines = append(lines, m.blockerLines(b, w)...)
		}
	}
	return append(lines, m.pastLines(r, w, 4)...)
}

func (m *Model) blockerLines(b control.Blocker, w int) []line {
	var l line
	sign := m.g.sep
	if b.For != "" {
		sign = m.actionSign(b.For)
	}
	l.add(roleWarn, sign+" ").add(roleText, m.ruleWords(b.Rule))
	if !b.Until.IsZero() {
		l.add(roleDim, " until "+m.until(b.Until))
	}
	lines := []line{l}
	if detail := m.g.told(b.Detail); detail != "" {
		if l.w+2+width(detail) <= w {
			lines[0].add(roleDim, "  "+detail)
		} else {
			for _, s := range wrap(detail, w-2, 2, m.g.dots) {
				lines = append(lines, text(roleDim, "  "+s))
			}
		}
	}
	return lines
}

// until prints a time, with its day when that is another than today, and how far
// off it is by the server's clock.
func (m *Model) until(t time.Time) string {
	zone := m.opt.Now().Location()
	now, then := m.clock().In(zone), t.In(zone)
	s := then.Format("15:04:05 MST")
	if now.Format(time.DateOnly) != then.Format(time.DateOnly) {
		s = then.Format("2006-01-02 15:04:05 MST")
	}
	if left := t.Sub(m.clock()); left > 0 {
		s += " (in " + age(left) + ")"
	}
	return s
}

// pastLines are the newest entries of the log about a queue.
func (m *Model) pastLines(r row, w, n int) []line {
	var lines []line
	for i := len(m.memory.log) - 1; i >= 0 && len(lines) < n; i-- {
		e := m.memory.log[i]
		if e.queue != r.name || r.past && e.at.After(r.reading.At) {
			continue
		}
		var l line
		l.add(roleDim, m.timeOf(e.at)+" ").add(e.role, e.kind).add(roleText, spaced(e.change)).add(roleDim, spaced(e.reason))
		lines = append(lines, l.clip(w, m.g.dots))
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]line{section("Lately", m.opt.Now().Format("MST"), w, m.g)}, lines...)
}

// spaced is s after a space, or nothing.
func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// timeOf prints the time of a line of the log: of another day with the date.
func (m *Model) timeOf(t time.Time) string {
	t = t.In(m.opt.Now().Location())
	if d := m.clock().Sub(t); d > 20*time.Hour || d < -20*time.Hour {
		return t.Format("Jan 02 15:04")
	}
	return t.Format("15:04:05")
}

// elsewhere says whether something else than lanes is in the way. The prediction is
// about lanes alone, and would promise what they cannot give.
func elsewhere(d *control.Decision) bool {
	return slices.ContainsFunc(d.Blockers, func(b control.Blocker) bool {
		return b.Rule == control.ReasonNotifyBound || b.Rule == control.ReasonStuckHolder || b.Rule == control.ReasonSkewed
	})
}
