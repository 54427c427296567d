package tui

import (
	"strings"
	"time"

	"shardpilot/control"
)

// marksLimit is how many marks are kept of a queue.
const marksLimit = 80

// mark is a moment on a queue's charts: a change, a pin, a verdict, or what
// shadow mode would have done.
type mark struct {
	at    time.Time
	sign  string
	label string // safe, short
	role  role
}

// mark keeps what belongs on the charts of an entry of the log.
func (m *memory) mark(l *control.LogEntry) {
	q := m.queues[l.Queue]
	if q == nil {
		return
	}
	k := mark{at: l.At}
	who, _, _ := strings.Cut(safe(l.Actor, m.g.ascii), "@")
	switch {
	case l.Kind == control.LogChange && l.Outcome == control.OutcomeApplied, l.Kind == control.LogAdopted:
		k.sign, k.role, k.label = m.g.change, roleWarn, shardCount(l.To)+" "+who
		if l.To < l.From {
			k.sign = m.g.down2
		}
	case l.Kind == control.LogChange:
		k.sign, k.role, k.label = m.g.bad, roleBad, m.words(string(l.Outcome))+" "+shardCount(l.To)
	case l.Kind == control.LogVerdict && l.Verdict == control.VerdictKept:
		k.sign, k.role, k.label = m.g.kept, roleGood, gain(l.Gain, m.g.times)
	case l.Kind == control.LogVerdict:
		k.sign, k.role, k.label = m.g.warn, verdictRole(l.Verdict), m.words(string(l.Verdict))
	case l.Kind == control.LogProposed:
		k.sign, k.role, k.label = m.g.pending, roleWarn, shardCount(l.To)
	case l.Kind == control.LogDecision && l.Action != control.ActionHold && l.Mode == control.ModeShadow:
		k.sign, k.role, k.label = m.g.wish, roleAccent, "would "+shardCount(l.To)
	case l.Kind == control.LogAct && l.Verb == control.VerbPin:
		k.sign, k.role, k.label = m.g.pin, roleAccent, "pin "+shardCount(l.To)+" "+who
	case l.Kind == control.LogAct:
		k.sign, k.role, k.label = m.g.act, roleAccent, m.words(string(l.Verb))+" "+who
	default:
		return
	}
	q.marks = append(q.marks, k)
	if len(q.marks) > marksLimit {
		q.marks = append([]mark(nil), q.marks[len(q.marks)-marksLimit:]...)
	}
}

// markStrip puts marks where they happened. Each has its sign; its label too
// where there is room before the next one. Where several fall on one cell the
// newest shows.
func markStrip(marks []mark, s span, w int, g *glyphs) line {
	l := stripLabel("event", g)
	cw := max(w-axisWidth, 0)
	cells := make([]cell, cw)
	perCell := max(s.cols/max(cw, 1), 1)
	next := cw
	for i := len(marks) - 1; i >= 0; i-- {
		k := marks[i]
		x := s.column(k.at)
		if x < 0 || x >= s.cols {
			continue
		}
		if x /= perCell; x >= next {
			continue // a newer one stands there
		}
		text := k.sign + k.label
		if x+width(text) >= next || width(text) != len([]rune(text)) {
			text = k.sign
		}
		if x+width(text) > cw || width(text) != len([]rune(text)) {
			continue
		}
		for j, c := range []rune(text) {
			cells[x+j] = cell{string(c), k.role}
		}
		next = x
	}
	addCells(&l, cells)
	return l
}
