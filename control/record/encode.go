package record

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"shardpilot/control"
)

// refreshTicks is how many ticks old the words of a decision, and what is known
// of producers and instances, may be.
const refreshTicks = 15

// encoder turns events into lines, as differences to what it wrote before.
type encoder struct {
	book    names          // all strings that numbers stand for
	numbers map[string]int // of these, their places
	told    int            // so many of them were written
	queues  map[string]*kept
	ticks   int
	gone    []int
	more    more // of the event at hand
	last    more // what was written of the same since the last point
	row     []byte
}

// kept is what was last written of a queue.
type kept struct {
	number  int
	row     []byte // nil when it is not there
	tick    int    // in which it was last there
	decided bool
	mind    mind
	words   []byte // the decision
	crowd   []control.Producer
	past    past
}

// mind is what makes a decision another one.
type mind struct {
	mode       control.Mode
	action     control.Action
	from, to   int
	reason     control.Reason
	pending    bool
	step       int64
	generation int64
	rules      [8]control.Reason
}

func mindOf(d *control.Decision) mind {
	m := mind{mode: d.Mode, action: d.Action, from: d.From, to: d.To, reason: d.Reason, pending: d.Pending, generation: d.Policy.Generation}
	if d.Step != nil {
		m.step = d.Step.Generation
	}
	for i := range min(len(d.Blockers), len(m.rules)) {
		m.rules[i] = d.Blockers[i].Rule
	}
	return m
}

func newEncoder() *encoder { return &encoder{numbers: map[string]int{}, queues: map[string]*kept{}} }

// mostStrings is how large a book may get before the next point begins another.
const mostStrings = 20_000

// point appends what a point says of the time before it, and makes the next
// event complete.
func (e *encoder) point(b []byte, p *point) []byte {
	again := len(e.book.List) > mostStrings
	if again {
		e.book, e.numbers = names{Book: e.book.Book + 1}, map[string]int{}
	}
	e.told, e.last, p.Book = 0, more{}, e.book.Book
	line := append([]byte(wordPast), '[')
	for name, k := range e.queues {
		if again {
			k.number = e.number(name)
		}
		if k.past != (past{}) {
			line = append(k.past.row(line, k.number), ',')
		}
		if k.tick < e.ticks {
			delete(e.queues, name)
			continue
		}
		*k = kept{tick: k.tick, number: k.number}
	}
	b = appendLine(b, wordPoint, p)
	b = append(b, closeArray(line)...)
	return append(b, "}\n"...)
}

// number is the place of a string in the book, where it goes on first use.
func (e *encoder) number(s string) int {
	n, ok := e.numbers[s]
	if !ok {
		n = len(e.book.List)
		e.numbers[s] = n
		e.book.List = append(e.book.List, s)
	}
	return n
}

func (e *encoder) queue(name string) *kept {
	k := e.queues[name]
	if k == nil {
		k = &kept{number: e.number(name)}
		e.queues[name] = k
	}
	return k
}

// event appends the lines of an event, t being its time made to rise; entries
// are not among them. An event that says nothing appends none.
func (e *encoder) event(b []byte, ev *control.Event, t int64) []byte {
	if ev.Snapshot == nil && ev.Err == nil {
		return b
	}
	e.ticks++
	e.more, e.gone = more{Changes: ev.Changes, Verifications: ev.Verifications}, nil
	var tick []byte
	if ev.Snapshot != nil {
		tick = e.tick(ev, t)
		e.surroundings(ev.Snapshot)
	}
	e.decisions(ev.Decisions)
	e.world(ev)
	if e.told < len(e.book.List) {
		b = appendLine(b, wordNames, names{Book: e.book.Book, From: e.told, List: e.book.List[e.told:]})
		e.told = len(e.book.List)
	}
	if e.gone != nil {
		b = appendLine(b, wordGone, e.gone)
	}
	if !reflect.ValueOf(e.more).IsZero() {
		b = appendLine(b, wordMore, e.more)
	}
	if tick != nil {
		return append(b, tick...)
	}
	f := fail{T: t, At: ev.At.UnixNano(), Error: *ev.Err}
	if !ev.World.Now.IsZero() {
		f.Now = ev.World.Now.UnixNano()
	}
	return appendLine(b, wordFail, f)
}

// appendLine appends `{"word":value}`. Values are ours, and can be encoded.
func appendLine(b []byte, word string, v any) []byte {
	b = append(b, word...)
	text, err := json.Marshal(v)
	if err != nil { // a time beyond the year 9999
		text = []byte("null")
	}
	b = append(b, text...)
	return append(b, "}\n"...)
}

func (e *encoder) tick(ev *control.Event, t int64) []byte {
	s := ev.Snapshot
	var head control.Reading // what most readings have in common
	if len(s.Readings) > 0 {
		head = s.Readings[0]
	}
	b := append(e.row[:0], '[')
	b = appendInt(b, t)
	b = appendInt(b, ev.At.UnixNano())
	b = appendInt(b, s.At.UnixNano())
	b = appendInt(b, int64(s.ClockSkew))
	b = appendExact(b, control.Some(head.PeriodS))
	b = appendExact(b, control.Some(head.Expected))
	b = appendInt(b, int64(head.Samples))
	b = appendRound(b, control.Some(head.WindowS))
	for i := range s.Readings {
		r := &s.Readings[i]
		k := e.queue(r.Queue)
		k.tick = e.ticks
		k.past.add(r)
		from := len(b)
		b = append(e.reading(b, r, k.number, &head, s.At), ',')
		if row := b[from:]; k.row != nil && bytes.Equal(row, k.row) {
			b = b[:from]
		} else {
			k.row = append(k.row[:0], row...)
		}
		e.producers(r, k)
	}
	for _, k := range e.queues {
		if k.row != nil && k.tick < e.ticks {
			k.row, k.crowd = nil, nil
			e.gone = append(e.gone, k.number)
		}
	}
	slices.Sort(e.gone)
	e.row = append(closeArray(b), '\n')
	return e.row
}

// due says whether what a queue's words are about is told again at this tick.
func (e *encoder) due(k *kept) bool { return (e.ticks+k.number)%refreshTicks == 0 }

// producers tells who produces when somebody came, left or took a count up, and
// otherwise now and then.
func (e *encoder) producers(r *control.Reading, k *kept) {
	same := slices.EqualFunc(k.crowd, r.ProducerList, func(a, b control.Producer) bool { return a.ID == b.ID && a.State == b.State })
	if same && (len(k.crowd) == 0 || !e.due(k)) {
		return
	}
	k.crowd = append(k.crowd[:0], r.ProducerList...)
	out := producers{Q: k.number, List: slices.Clone(r.ProducerList)}
	for i := range out.List {
		p := &out.List[i]
		p.Queue = "" // Q tells
		p.SeenAgoS, p.Waiting = round(p.SeenAgoS), round(p.Waiting)
	}
	e.more.Producers = append(e.more.Producers, out)
}

// surroundings are what a snapshot says beside its readings.
func (e *encoder) surroundings(s *control.Snapshot) {
	if e.last.Database == nil || *e.last.Database != s.Database {
		e.more.Database, e.last.Database = &s.Database, &s.Database
	}
	if e.last.Awa == nil || !reflect.DeepEqual(*e.last.Awa, s.Awa) {
		e.more.Awa, e.last.Awa = &s.Awa, &s.Awa
	}
	if e.last.Problems == nil || !slices.Equal(*e.last.Problems, s.Problems) {
		e.more.Problems, e.last.Problems = &s.Problems, &s.Problems
	}
	if e.last.Instances == nil || e.ticks%refreshTicks == 0 {
		e.more.Instances, e.last.Instances = &s.Instances, &s.Instances
	}
	if e.last.Cost == nil || e.ticks%refreshTicks == 0 {
		e.more.Cost, e.last.Cost = &s.Cost, &s.Cost
	}
}

func (e *encoder) world(ev *control.Event) {
	w := &ev.World
	now := world{Process: ev.ProcessMode, Leader: ev.Leader, Memory: ev.Memory, Dropped: ev.Dropped, InFlight: ev.InFlight,
		Alone: w.Alone, Store: w.Store, Leading: w.Lead.Leading, Epoch: w.Lead.Epoch, Name: w.Lead.Name, Refused: w.Lead.Refused,
		WarmUntil: w.WarmUntil, WarmWhy: w.WarmWhy, StepUntil: w.StepUntil}
	if e.last.World == nil || *e.last.World != now {
		e.more.World, e.last.World = &now, &now
	}
}

func (e *encoder) decisions(list []control.Decision) {
	for i := range list {
		d := &list[i]
		k := e.queue(d.Queue)
		if k.row == nil { // not in the snapshot, but still decided about
			k.tick = e.ticks
		}
		now := mindOf(d)
		if k.decided && k.mind == now && !e.due(k) {
			continue
		}
		out := shortened(d, k.number)
		text, err := json.Marshal(out)
		if err != nil || k.decided && bytes.Equal(text, k.words) {
			continue
		}
		k.decided, k.mind, k.words = true, now, text
		e.more.Decisions = append(e.more.Decisions, out)
	}
	decided := 0
	for _, k := range e.queues {
		if k.decided {
			decided++
		}
	}
	if decided == len(list) {
		return
	}
	about := make(map[string]bool, len(list))
	for i := range list {
		about[list[i].Queue] = true
	}
	for name, k := range e.queues {
		if k.decided && !about[name] {
			k.decided, k.words = false, nil
			e.more.Still = append(e.more.Still, k.number)
		}
	}
	slices.Sort(e.more.Still)
}

func shortened(d *control.Decision, number int) decision {
	out := decision{Q: number, Mode: d.Mode, Action: d.Action, From: d.From, To: d.To, Reason: d.Reason, Detail: d.Detail,
		Blockers: d.Blockers, Gain: round(d.PredictedGain), Pending: d.Pending, Next: d.Next, Step: d.Step}
	evidence := d.Evidence
	for _, v := range evidenceFields(&evidence) {
		out.Evidence = append(out.Evidence, round(*v))
	}
	out.Evidence = append(out.Evidence, control.Some(evidence.WindowS))
	if d.Policy != (control.QueuePolicy{Queue: d.Policy.Queue}) {
		policy := d.Policy
		policy.Queue = "" // Q tells
		out.Policy = &policy
	}
	return out
}

// round is a value with six digits.
func round(v control.Value) control.Value {
	s := scanner{b: closeArray(appendRound(nil, v))}
	return s.value()
}
