package tui

import (
	"time"

	"shardpilot/control"
)

// forgetAfter is how long the history of a queue that vanished is kept.
const forgetAfter = 10 * time.Minute

// logLimit is how many transitions of this session are kept.
const logLimit = 500

// queue is what is remembered of one queue, by its raw name.
type queue struct {
	name    string // raw, the identity
	label   string // safe to draw
	history *history
	seen    time.Time // server clock, of its newest reading
	last    *control.Decision
	changed *control.Change // newest change that took effect, nil when none is known
}

// entry is one line of the session's log.
type entry struct {
	id     int // rises by one with every entry
	at     time.Time
	queue  string // raw
	label  string // safe
	kind   string
	change string // from → to
	role   role
	reason string // safe
	detail string // safe
}

// memory is everything kept across ticks: histories and the log. It moves on
// while the picture is paused.
type memory struct {
	queues map[string]*queue
	log    []entry // oldest first
	logged int
	g      *glyphs
	kept   bool // the decision log itself comes with the events: nothing is derived
}

func newMemory(g *glyphs) *memory { return &memory{queues: map[string]*queue{}, g: g} }

// take records one tick.
func (m *memory) take(ev control.Event) {
	if ev.Snapshot != nil {
		for i := range ev.Snapshot.Readings {
			r := &ev.Snapshot.Readings[i]
			q := m.queue(r.Queue)
			q.history.put(*r)
			q.seen = r.At
		}
		m.forget(ev.Snapshot.At)
	}
	for i := range ev.Entries {
		m.kept = true
		m.entry(&ev.Entries[i])
	}
	for i := range ev.Decisions {
		m.decision(&ev.Decisions[i])
	}
	for _, c := range ev.Changes {
		m.change(c)
	}
	for _, v := range ev.Verifications {
		m.verification(v)
	}
}

func (m *memory) queue(name string) *queue {
	q := m.queues[name]
	if q == nil {
		q = &queue{name: name, label: safe(name, m.g.ascii), history: newHistory(finest)}
		m.queues[name] = q
	}
	return q
}

func (m *memory) forget(now time.Time) {
	for name, q := range m.queues {
		if now.Sub(q.seen) > forgetAfter {
			delete(m.queues, name)
		}
	}
}

// decision logs transitions only: a decision that says what the last one said
// is none. What a queue starts with is logged when it is more than standing still.
func (m *memory) decision(d *control.Decision) {
	q := m.queues[d.Queue]
	if q == nil {
		return
	}
	old := q.last
	q.last = d
	switch {
	case m.kept:
		return
	case old == nil && d.Action == control.ActionHold && !d.Pending:
		return
	case old != nil && old.Action == d.Action && old.Reason == d.Reason && old.Pending == d.Pending &&
		old.From == d.From && old.To == d.To && old.Mode == d.Mode:
		return
	}
	e := entry{at: d.At, queue: d.Queue, kind: string(d.Action), role: roleDim,
		change: m.steps(d.From, d.To), reason: m.words(string(d.Reason)), detail: safe(d.Detail, m.g.ascii)}
	if d.Pending {
		e.kind, e.role = "pending", roleWarn
	} else if d.Action != control.ActionHold {
		e.role = roleAccent
	}
	m.append(e)
}

func (m *memory) change(c control.Change) {
	if q := m.queues[c.Queue]; q != nil && c.Outcome == control.OutcomeApplied {
		q.changed = &c
	}
	if m.kept {
		return
	}
	r := roleGood
	switch c.Outcome {
	case control.OutcomeSuperseded, control.OutcomeRefused:
		r = roleWarn
	case control.OutcomeFailed:
		r = roleBad
	}
	m.append(entry{at: c.At, queue: c.Queue, kind: m.words(string(c.Outcome)), role: r,
		change: m.steps(c.From, c.To), reason: "by " + safe(c.Actor, m.g.ascii), detail: safe(c.Detail, m.g.ascii)})
}

func (m *memory) verification(v control.Verification) {
	if m.kept {
		return
	}
	r := roleGood
	switch v.Result {
	case control.VerdictHarmful:
		r = roleBad
	case control.VerdictIneffective, control.VerdictInconclusive:
		r = roleWarn
	}
	reason := "gain " + gain(v.Gain, m.g.times) + ", predicted " + gain(v.PredictedGain, m.g.times)
	m.append(entry{at: v.At, queue: v.Queue, kind: m.words(string(v.Result)), role: r,
		change: m.steps(v.From, v.To), reason: reason, detail: safe(v.Detail, m.g.ascii)})
}

// entry takes a line of the decision log as it was kept.
func (m *memory) entry(l *control.LogEntry) {
	e := entry{at: l.At, queue: l.Queue, kind: m.words(string(l.Kind)), role: roleDim, change: m.steps(l.From, l.To),
		reason: m.words(string(l.Reason)), detail: safe(l.Detail, m.g.ascii)}
	switch l.Kind {
	case control.LogDecision:
		e.kind = m.words(string(l.Action))
	case control.LogProposed:
		e.kind, e.role = "pending", roleWarn
	case control.LogChange, control.LogAdopted:
		e.role, e.reason = roleGood, "by "+safe(l.Actor, m.g.ascii)
		if l.Kind == control.LogChange {
			e.kind = m.words(string(l.Outcome))
		}
		if l.Kind == control.LogChange && l.Outcome != control.OutcomeApplied {
			e.role = roleBad
		} else if q := m.queues[l.Queue]; q != nil {
			q.changed = &control.Change{At: l.At, Queue: l.Queue, From: l.From, To: l.To, Actor: l.Actor, Outcome: control.OutcomeApplied}
		}
	case control.LogVerdict:
		e.kind, e.role = m.words(string(l.Verdict)), roleGood
		if l.Verdict != control.VerdictKept {
			e.role = roleWarn
		}
		e.reason = "gain " + gain(l.Gain, m.g.times) + ", predicted " + gain(l.PredictedGain, m.g.times)
	case control.LogAct:
		e.kind, e.role, e.reason = m.words(string(l.Verb)), roleAccent, "by "+safe(l.Actor, m.g.ascii)
	}
	if l.Why != "" {
		e.detail += " (" + safe(l.Why, m.g.ascii) + ")"
	}
	m.append(e)
}

func (m *memory) append(e entry) {
	m.logged++
	e.id, e.label = m.logged, safe(e.queue, m.g.ascii)
	m.log = append(m.log, e)
	if len(m.log) > logLimit {
		m.log = append([]entry(nil), m.log[len(m.log)-logLimit:]...)
	}
}

func (m *memory) steps(from, to int) string {
	if from == to {
		return shardCount(from)
	}
	return shardCount(from) + m.g.arrow + shardCount(to)
}

// words makes a code of a closed list readable.
func (m *memory) words(code string) string {
	b := []byte(safe(code, m.g.ascii))
	for i, c := range b {
		if c == '_' {
			b[i] = ' '
		}
	}
	return string(b)
}
