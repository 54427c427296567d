package tui

import (
	"slices"
	"strings"
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
	changed *control.Change       // newest change that took effect, nil when none is known
	verdict *control.Verification // what came of the newest change that was verified, nil when none is known
	logged  *control.LogEntry     // the entry of changed, nil when it is not in the log that is known
	judged  *control.LogEntry     // the entry of verdict, likewise
	leads   *control.LogEntry     // what the leader last decided here, nil when that is not known
	marks   []mark                // oldest first
	holders map[lane]held         // who was seen holding each lane, with somebody behind
	behind  held                  // Holder of the newest reading that had samples
}

// lane names a lane of a queue.
type lane struct{ priority, shard int }

// held is who had a lane, and when that was seen by the server's clock.
type held struct {
	*control.Holder
	at time.Time
}

// heldFor is how long a holder is shown beside its lane after it was seen.
const heldFor = 10 * time.Second

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
	text   string // all that is shown of it, in small letters, for the filter
	full   *control.LogEntry
}

// memory is everything kept across ticks: histories and the log. It moves on
// while the picture is paused.
type memory struct {
	queues  map[string]*queue
	reasons []control.Reason // those seen, by the numbers that histories keep
	log     []entry          // oldest first
	logged  int
	g       *glyphs
	first   time.Time // server clock, of the first reading
	kept    bool      // the decision log itself comes with the events: nothing is derived
	order   []*queue  // in the order of the newest readings, see find
}

func newMemory(g *glyphs) *memory { return &memory{queues: map[string]*queue{}, g: g} }

// take records one tick.
func (m *memory) take(ev control.Event) {
	if ev.Snapshot != nil {
		for i := range ev.Snapshot.Readings {
			r := &ev.Snapshot.Readings[i]
			q := m.queue(i, r.Queue)
			q.history.put(r)
			q.seen = r.At
			q.hold(r)
			if i < len(m.order) {
				m.order[i] = q
			} else {
				m.order = append(m.order, q)
			}
		}
		m.order = slices.Delete(m.order, len(ev.Snapshot.Readings), len(m.order))
		if m.first.IsZero() {
			m.first = ev.Snapshot.At
		}
		m.forget(ev.Snapshot.At)
	}
	for i := range ev.Entries {
		m.kept = true
		m.entry(&ev.Entries[i])
	}
	for i := range ev.Decisions {
		d := &ev.Decisions[i]
		if q := m.find(i, d.Queue); q != nil {
			m.decision(q, d)
			q.history.wish(q.seen.Unix(), m.wishOf(d))
		}
	}
	for _, c := range ev.Changes {
		m.change(c)
	}
	for _, v := range ev.Verifications {
		m.verification(v)
	}
}

// find is what is remembered of a queue, nil when nothing is. Readings and
// decisions come in the same order tick after tick, so that it is mostly where
// it was, at i, and need not be looked up.
func (m *memory) find(i int, name string) *queue {
	if i < len(m.order) && m.order[i].name == name {
		return m.order[i]
	}
	return m.queues[name]
}

// queue is find for a queue that there is.
func (m *memory) queue(i int, name string) *queue {
	q := m.find(i, name)
	if q == nil {
		q = &queue{name: name, label: safe(name, m.g.ascii), history: newHistory()}
		if name == "" {
			q.label = `""` // Awa takes it, and a blank row would be read as none
		}
		m.queues[name] = q
	}
	return q
}

// standing is whom the waits of a reading are behind. One without samples shows
// what was waiting before it (see present), and whom that was behind.
func (q *queue) standing(r *control.Reading) *control.Holder {
	if age := r.At.Unix() - q.behind.at.Unix(); r.Holder == nil && !r.Waiters.OK() && age >= 0 && age < lateFor {
		return q.behind.Holder
	}
	return r.Holder
}

// hold remembers who has the lanes.
func (q *queue) hold(r *control.Reading) {
	if r.Waiters.OK() {
		q.behind = held{r.Holder, r.At}
	}
	for k, h := range q.holders {
		if r.At.Sub(h.at) > heldFor {
			delete(q.holders, k)
		}
	}
	for i := range r.Lanes {
		if l := &r.Lanes[i]; l.Holder != nil {
			if q.holders == nil {
				q.holders = map[lane]held{}
			}
			q.holders[lane{l.Priority, l.Shard}] = held{l.Holder, r.At}
		}
	}
}

func (m *memory) forget(now time.Time) {
	for name, q := range m.queues {
		if now.Sub(q.seen) > forgetAfter {
			delete(m.queues, name)
			m.order = nil
		}
	}
}

// decision logs transitions only: a decision that says what the last one said
// is none. What a queue starts with is logged when it is more than standing still.
func (m *memory) decision(q *queue, d *control.Decision) {
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
	l := &control.LogEntry{At: d.At, Kind: control.LogDecision, Queue: d.Queue, Mode: d.Mode, Action: d.Action, From: d.From, To: d.To,
		Reason: d.Reason, Detail: d.Detail, Actor: "controller", PredictedGain: d.PredictedGain, Blockers: d.Blockers, Evidence: d.Evidence}
	if d.Pending {
		l.Kind = control.LogProposed
	}
	m.entry(l)
}

func (m *memory) change(c control.Change) {
	if m.kept {
		m.applied(c)
		return
	}
	m.entry(&control.LogEntry{At: c.At, Kind: control.LogChange, Queue: c.Queue, From: c.From, To: c.To, Actor: c.Actor, Outcome: c.Outcome, Detail: c.Detail})
}

func (m *memory) applied(c control.Change) {
	if q := m.queues[c.Queue]; q != nil && c.Outcome == control.OutcomeApplied {
		q.changed = &c
	}
}

func (m *memory) verification(v control.Verification) {
	if m.kept {
		m.verified(v)
		return
	}
	m.entry(&control.LogEntry{At: v.At, Kind: control.LogVerdict, Queue: v.Queue, From: v.From, To: v.To, Verdict: v.Result, Gain: v.Gain,
		PredictedGain: v.PredictedGain, Detail: v.Detail})
}

func (m *memory) verified(v control.Verification) {
	if q := m.queues[v.Queue]; q != nil {
		q.verdict = &v
	}
}

// entry takes a line of the decision log, as it was kept or as it was derived.
func (m *memory) entry(l *control.LogEntry) {
	e := entry{at: l.At, queue: l.Queue, kind: m.words(string(l.Kind)), role: roleDim, change: m.steps(l.From, l.To),
		reason: m.words(string(l.Reason)), detail: m.g.told(l.Detail), full: l}
	by := "by " + safe(l.Actor, m.g.ascii)
	switch l.Kind {
	case control.LogDecision:
		e.kind = m.words(string(l.Action))
		if l.Action != control.ActionHold {
			e.role = roleAccent
		}
	case control.LogProposed:
		e.kind, e.role = "pending", roleWarn
	case control.LogAdopted:
		e.role, e.reason = roleGood, by
		m.applied(control.Change{At: l.At, Queue: l.Queue, From: l.From, To: l.To, Actor: l.Actor, Outcome: control.OutcomeApplied})
	case control.LogChange:
		e.kind, e.role, e.reason = m.words(string(l.Outcome)), outcomeRole(l.Outcome), by
		m.applied(control.Change{At: l.At, Queue: l.Queue, From: l.From, To: l.To, Actor: l.Actor, Outcome: l.Outcome, Detail: l.Detail})
	case control.LogVerdict:
		e.kind, e.role = m.words(string(l.Verdict)), verdictRole(l.Verdict)
		e.reason = "gain " + gain(l.Gain, m.g.times) + ", predicted " + gain(l.PredictedGain, m.g.times)
		m.verified(control.Verification{At: l.At, Queue: l.Queue, From: l.From, To: l.To, Result: l.Verdict, Gain: l.Gain, PredictedGain: l.PredictedGain, Detail: l.Detail})
	case control.LogAct:
		e.kind, e.role, e.reason = m.words(string(l.Verb)), roleAccent, by
		if l.To == 0 || l.To == l.From && l.Verb != control.VerbPin { // a setting, no count
			e.change = ""
		}
	}
	if l.Why != "" {
		e.detail += " (" + safe(l.Why, m.g.ascii) + ")"
	}
	if q := m.queues[l.Queue]; q != nil {
		q.learn(l)
	}
	m.append(e)
	m.mark(l)
}

// learn keeps the entries that the pages of a queue are made of.
func (q *queue) learn(l *control.LogEntry) {
	switch l.Kind {
	case control.LogChange:
		if l.Outcome == control.OutcomeApplied {
			q.logged, q.leads = l, nil
		}
	case control.LogAdopted:
		q.logged, q.leads = l, nil
	case control.LogVerdict:
		q.judged = l
	case control.LogDecision, control.LogProposed:
		q.leads = l
	case control.LogWithdrawn, control.LogAct: // the leader decides anew
		q.leads = nil
	}
}

func outcomeRole(o control.Outcome) role {
	switch o {
	case control.OutcomeSuperseded, control.OutcomeRefused:
		return roleWarn
	case control.OutcomeFailed:
		return roleBad
	}
	return roleGood
}

func verdictRole(v control.Verdict) role {
	switch v {
	case control.VerdictHarmful:
		return roleBad
	case control.VerdictIneffective, control.VerdictInconclusive:
		return roleWarn
	}
	return roleGood
}

func (m *memory) append(e entry) {
	m.logged++
	e.id, e.label = m.logged, safe(e.queue, m.g.ascii)
	actor := ""
	if e.full != nil {
		actor = safe(e.full.Actor, m.g.ascii)
	}
	e.text = strings.ToLower(strings.Join([]string{e.label, e.kind, e.change, e.reason, actor, e.detail}, "\x00"))
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
