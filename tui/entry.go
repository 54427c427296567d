package tui

import (
	"shardpilot/control"
)

// entryPage is one entry of the log with all that was kept of it: who, why,
// what it rests on and what stood in the way.
func (m *Model) entryPage(w, h int) []line {
	e := m.entry
	var lines []line
	fact := func(name, value string) {
		if value == "" {
			return
		}
		for i, s := range wrap(safe(value, m.g.ascii), max(w-16, 1), 4, m.g.dots) {
			var l line
			if i > 0 {
				name = ""
			}
			l.cell(roleDim, "  "+name, 16, false, "").add(roleText, s)
			lines = append(lines, l)
		}
	}
	var title line
	what := e.kind
	set := e.full != nil && e.full.Reason == control.ReasonModeSet
	if set { // what an operator set says more than the command's name
		what = m.g.told(e.full.Detail)
	}
	title.add(roleStrong, cut(e.label, w/2, m.g.dots)).add(roleText, "  ").add(e.role, what).add(roleText, spaced(e.change))
	lines = append(lines, title.clip(w, m.g.dots))
	l := e.full
	if l == nil {
		return lines
	}
	fact("time", l.At.In(m.opt.Now().Location()).Format("2006-01-02 15:04:05 MST"))
	fact("why", m.memory.words(string(l.Reason)))
	fact("", m.g.own(l.Detail))
	fact("by", control.Command{Actor: l.Actor, Host: hostOf(l)}.By())
	fact("role", l.Role)
	fact("their reason", l.Why)
	if set { // the entry has the mode it found
		fact("mode before", string(l.Mode))
	} else {
		fact("mode", string(l.Mode))
	}
	if !l.Until.IsZero() {
		fact("until", m.until(l.Until))
	}
	switch l.Kind {
	case control.LogVerdict:
		fact("gain", gain(l.Gain, m.g.times)+", predicted "+gain(l.PredictedGain, m.g.times))
	case control.LogProposed:
		fact("predicted", gain(l.PredictedGain, m.g.times))
	}
	if b := l.Before; b != (control.Figures{}) {
		fact("before", count(b.Rate)+" jobs/s, "+count(b.Waiters)+" waiting "+seconds(b.WaitPerS)+" each, "+whole(b.Producers)+" producers")
	}
	if l.Evidence != (control.Evidence{}) {
		lines = append(lines, section("Evidence", "", w, m.g))
		lines = append(lines, m.evidenceLines(l.Evidence, w)...)
	}
	if len(l.Blockers) > 0 {
		title := "In the way"
		if l.Forced {
			title = "Set aside by force"
		}
		lines = append(lines, section(title, control.Plural(len(l.Blockers), "rule"), w, m.g))
		for _, b := range l.Blockers {
			lines = append(lines, m.blockerLines(b, w)...)
		}
	}
	return m.scroll(lines, h)
}

// hostOf is where the actor sat, when the name does not say so already.
func hostOf(l *control.LogEntry) string {
	for i := range len(l.Actor) {
		if l.Actor[i] == '@' {
			return ""
		}
	}
	return l.Host
}
