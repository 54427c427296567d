package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// errLine is what is wrong with a line that cannot be read.
var errLine = errors.New("a line cannot be read")

// The most strings and queues that are believed between two points.
const mostNames = 1 << 20

// decoder turns lines back into events.
type decoder struct {
	// light leaves out all but entries and what charts are drawn from, up to the
	// point of the time whole.
	light   bool
	whole   int64
	names   []string
	head    tickHead
	failure *control.Failure // of a tick that failed
	queues  map[int]*seen
	order   []*seen // by name; nil when it has to be made anew
	with    surroundings
	entries []control.LogEntry // since the last event
	once    more               // what is of the event at hand alone
	buf     []control.Value
}

// tickHead is what a tick says of all its queues.
type tickHead struct {
	at, server time.Time // our clock; the snapshot's, or as far as known
	skew       time.Duration
	reading    control.Reading // what most have in common
}

type surroundings struct {
	database  control.Database
	awa       control.Installation
	problems  []control.Problem
	instances []control.Instance
	cost      control.Cost
	world     world
}

// seen is a queue as it was last told.
type seen struct {
	name      string
	reading   control.Reading
	there     bool // in the snapshot
	asPeriod  bool // these are the head's
	asWindow  bool
	asSamples bool
	asExpect  bool
	offset    time.Duration // of the reading's time
	decision  *control.Decision
}

func newDecoder() *decoder { return &decoder{queues: map[int]*seen{}} }

// forget is what a point asks for: what follows is complete. The environment
// stays until it is told again.
func (d *decoder) forget() {
	*d = decoder{light: d.light, whole: d.whole, names: d.names, queues: map[int]*seen{}, with: d.with, entries: d.entries, buf: d.buf}
}

// line takes one line; done says that it completes an event, which take gives,
// and t is its time, made to rise.
func (d *decoder) line(b []byte) (done bool, t int64, err error) {
	begins := func(word string) bool { return bytes.HasPrefix(b, []byte(word)) }
	switch {
	case len(b) == 0:
	case b[0] == '[':
		return d.tick(b)
	case begins(wordPoint):
		p, ok := pointOf(b)
		if !ok {
			return false, 0, errLine
		}
		d.light = d.light && p.T < d.whole
		d.forget()
	case begins(wordNames):
		var n struct{ Names names }
		if json.Unmarshal(b, &n) != nil {
			return false, 0, errLine
		}
		return false, 0, d.learn(&n.Names)
	case begins(wordGone):
		var g struct{ Gone []int }
		if json.Unmarshal(b, &g) != nil {
			return false, 0, errLine
		}
		for _, n := range g.Gone {
			q := d.queue(n)
			if q == nil {
				return false, 0, errLine
			}
			q.there = false
		}
	case begins(wordMore):
		if d.light {
			break
		}
		var m struct{ More more }
		if json.Unmarshal(b, &m) != nil {
			return false, 0, errLine
		}
		return false, 0, d.more(&m.More)
	case begins(wordEntry):
		e, err := entryOf(b)
		if err == nil && len(d.entries) < mostNames {
			d.entries = append(d.entries, e)
		}
		return false, 0, err
	case begins(wordFail):
		return d.fail(b)
	case begins(wordPast):
	case b[0] != '{' || !json.Valid(b): // an object of another kind is from a later minor version
		return false, 0, errLine
	}
	return false, 0, nil
}

// learn takes new names in. After a point all are told.
func (d *decoder) learn(n *names) error {
	if n.From == 0 {
		d.names = nil
	}
	if n.From != len(d.names) || n.From+len(n.List) > mostNames {
		return errLine
	}
	d.names = append(d.names, n.List...)
	return nil
}

func entryOf(b []byte) (control.LogEntry, error) {
	var e struct{ Entry control.LogEntry }
	if err := json.Unmarshal(b, &e); err != nil {
		return control.LogEntry{}, errLine
	}
	return e.Entry, nil
}

func (d *decoder) name(n int) string {
	if n < 0 || n >= len(d.names) {
		return ""
	}
	return d.names[n]
}

func (d *decoder) queue(n int) *seen {
	if n < 0 || n >= len(d.names) {
		return nil
	}
	q := d.queues[n]
	if q == nil {
		q = &seen{name: d.names[n]}
		d.queues[n], d.order = q, nil
	}
	return q
}

func (d *decoder) more(m *more) error {
	for _, n := range m.Still {
		q := d.queue(n)
		if q == nil {
			return errLine
		}
		q.decision = nil
	}
	w := &d.with
	keep(&w.database, m.Database)
	keep(&w.awa, m.Awa)
	keep(&w.problems, m.Problems)
	keep(&w.instances, m.Instances)
	keep(&w.cost, m.Cost)
	keep(&w.world, m.World)
	for i := range m.Decisions {
		q := d.queue(m.Decisions[i].Q)
		if q == nil {
			return errLine
		}
		q.decision = m.Decisions[i].full(q.name)
	}
	for _, p := range m.Producers {
		q := d.queue(p.Q)
		if q == nil {
			return errLine
		}
		for i := range p.List {
			p.List[i].Queue = q.name
		}
		q.reading.ProducerList = p.List
	}
	d.once = more{Changes: m.Changes, Verifications: m.Verifications}
	return nil
}

func keep[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (d *decision) full(queue string) *control.Decision {
	out := &control.Decision{Queue: queue, Mode: d.Mode, Action: d.Action, From: d.From, To: d.To, Reason: d.Reason, Detail: d.Detail,
		Blockers: d.Blockers, PredictedGain: d.Gain, Pending: d.Pending, Next: d.Next, Step: d.Step, Policy: control.QueuePolicy{Queue: queue}}
	for i, v := range evidenceFields(&out.Evidence) {
		if i < len(d.Evidence) {
			*v = d.Evidence[i]
		}
	}
	if n := len(evidenceFields(&out.Evidence)); n < len(d.Evidence) {
		out.Evidence.WindowS = d.Evidence[n].Or(0)
	}
	if d.Policy != nil {
		out.Policy = *d.Policy
		out.Policy.Queue = queue
	}
	return out
}

// current is a queue's reading at the newest tick, which need not have told it.
func (d *decoder) current(q *seen) control.Reading {
	r, common := q.reading, &d.head.reading
	r.At = d.head.server.Add(q.offset)
	if q.asPeriod {
		r.PeriodS = common.PeriodS
	}
	if q.asExpect {
		r.Expected = common.Expected
	}
	if q.asSamples {
		r.Samples = common.Samples
	}
	if q.asWindow {
		r.WindowS = common.WindowS
	}
	return r
}

func (d *decoder) sorted() []*seen {
	if d.order == nil {
		for _, q := range d.queues {
			d.order = append(d.order, q)
		}
		slices.SortFunc(d.order, func(a, b *seen) int { return strings.Compare(a.name, b.name) })
	}
	return d.order
}

// take is the event that the newest tick completed.
func (d *decoder) take() *control.Event {
	w, now := &d.with.world, d.head.server
	ev := &control.Event{At: d.head.at, Err: d.failure, Changes: d.once.Changes, Verifications: d.once.Verifications, Entries: d.entries,
		ProcessMode: w.Process, Leader: w.Leader, Memory: w.Memory, Dropped: w.Dropped, InFlight: w.InFlight,
		World: control.World{Now: now, Process: w.Process, Alone: w.Alone, Store: w.Store, WarmUntil: w.WarmUntil, WarmWhy: w.WarmWhy, StepUntil: w.StepUntil,
			Lead: control.Leadership{Leading: w.Leading, Epoch: w.Epoch, Name: w.Name, Refused: w.Refused}}}
	d.once, d.entries = more{}, nil
	if d.failure == nil {
		ev.Snapshot = &control.Snapshot{At: now, Database: d.with.database, Awa: d.with.awa, Instances: d.with.instances, Cost: d.with.cost,
			Problems: d.with.problems, ClockSkew: d.head.skew, Readings: make([]control.Reading, 0, len(d.queues))}
	}
	for _, q := range d.sorted() {
		if q.there && d.failure == nil {
			ev.Snapshot.Readings = append(ev.Snapshot.Readings, d.current(q))
		}
		if q.decision != nil {
			own := *q.decision
			own.At = now
			ev.Decisions = append(ev.Decisions, own)
		}
	}
	return ev
}

// tell gives the readings of the newest tick alone.
func (d *decoder) tell(see func(*control.Reading)) {
	if d.failure != nil {
		return
	}
	r := new(control.Reading)
	for _, q := range d.sorted() {
		if q.there {
			*r = d.current(q)
			see(r)
		}
	}
}

func (d *decoder) fail(b []byte) (done bool, t int64, err error) {
	var f struct{ Fail fail }
	if err := json.Unmarshal(b, &f); err != nil {
		return false, 0, errLine
	}
	d.head = tickHead{at: moment(f.Fail.At)}
	if f.Fail.Now != 0 {
		d.head.server = moment(f.Fail.Now)
	}
	d.failure = &f.Fail.Error
	return true, f.Fail.T, nil
}
