package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"shardpilot/control"
)

// Tape is a recording that is shown instead of a database. Times are those of
// the tape, which rise. It is used by one goroutine at a time.
type Tape interface {
	Span() (from, to time.Time)
	Marks() []time.Time // when something happened, rising
	Note() string       // what is wrong with it as a whole, "" for nothing
	// Seek goes to the newest event that is not after at. It gives the readings
	// that charts need from before it, valid during the call, and then the event;
	// when that is a failure, the newest before it with a snapshot comes first.
	Seek(at time.Time, see func(*control.Reading)) (events []control.Event, now time.Time, err error)
	// Next is the following event, io.EOF at the end. What cannot be read is
	// passed over.
	Next() (ev control.Event, now time.Time, err error)
	// Gap is how much time could not be read before the event that Next gave
	// last, or before the end.
	Gap() time.Duration
}

// fastest is the highest speed of a replay.
const fastest = 64

// longestGap is how long a replay waits at the utmost where nothing was
// recorded, at speed 1.
const longestGap = 2 * time.Second

// replay is where a replay stands, as the screen knows it.
type replay struct {
	from, to time.Time
	marks    []time.Time
	at       time.Time // on the tape
	clock    time.Time // our clock at that moment
	on       bool      // it goes on by itself
	over     bool      // it stands at the end
	speed    int
	drawn    time.Time // wall clock
	torn     bool      // its last line
	gaps     bool      // a part that cannot be read was met
}

// move is what a key asks of the deck; nil fields stay.
type move struct {
	at    *time.Time
	step  bool // the next event
	on    *bool
	speed int // 0 stays
}

// tapeMsg is what the deck has to show.
type tapeMsg struct {
	memory *memory // after a jump: what is known then
	events []control.Event
	at     time.Time
	on     bool
	over   bool
	gap    time.Duration // so much before the events, or after them when it is a jump, cannot be read
	err    error
}

// deck plays a tape: one goroutine beside bubbletea's own.
type deck struct {
	tape  Tape
	g     *glyphs
	moves chan move
	send  func(tea.Msg)

	on, over bool
	speed    int
	at       time.Time
	ahead    control.Event // the next event, when there is one
	aheadAt  time.Time
	aheadGap time.Duration // what cannot be read before it
}

func newDeck(t Tape, g *glyphs) *deck {
	return &deck{tape: t, g: g, moves: make(chan move, 16), on: true, speed: 1}
}

func (d *deck) run(ctx context.Context, send func(tea.Msg)) {
	d.send = send
	from, _ := d.tape.Span()
	d.seek(from)
	timer := time.NewTimer(d.gap())
	defer timer.Stop()
	for {
		var due <-chan time.Time
		if d.on && !d.over {
			due = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case m := <-d.moves:
			d.take(m)
			timer.Reset(d.gap())
		case <-due:
			d.forth()
			timer.Reset(d.gap())
		}
	}
}

// then is what m and a later move come to together: of several jumps only the
// last is made, and a step before a jump with it.
func (m move) then(next move) move {
	next.step = next.step || m.step && m.at == nil
	if next.at == nil {
		next.at = m.at
	}
	if next.on == nil {
		next.on = m.on
	}
	if next.speed == 0 {
		next.speed = m.speed
	}
	return next
}

// ask hands a move over without waiting, for the one goroutine that takes keys.
// A key that is held, while those before it are still being done, loses nothing.
func (d *deck) ask(m move) {
	select {
	case d.moves <- m:
		return
	default:
	}
	var all move
	for more := true; more; {
		select {
		case before := <-d.moves:
			all = all.then(before)
		default:
			more = false
		}
	}
	d.moves <- all.then(m) // there is room: nobody else sends
}

// take does what keys ask for.
func (d *deck) take(m move) {
	for more := true; more; {
		select {
		case next := <-d.moves:
			m = m.then(next)
		default:
			more = false
		}
	}
	if m.on != nil {
		d.on = *m.on
	}
	if m.speed > 0 {
		d.speed = m.speed
	}
	switch {
	case m.at != nil:
		before := d.at
		if d.seek(*m.at); m.at.After(before) && !d.at.After(before) { // into what cannot be read: past it
			d.forth()
		}
	case m.step:
		d.forth()
	default:
		d.tell(tapeMsg{})
	}
}

// gap is how long the next event is waited for.
func (d *deck) gap() time.Duration {
	return min(max(d.aheadAt.Sub(d.at), 0), longestGap) / time.Duration(d.speed)
}

func (d *deck) tell(m tapeMsg) {
	m.at, m.on, m.over = d.at, d.on && !d.over, d.over
	d.send(m)
}

func (d *deck) seek(at time.Time) {
	mem := newMemory(d.g)
	events, now, err := d.tape.Seek(at, func(r *control.Reading) { mem.recall(r, at) })
	if err != nil {
		d.on = false
		d.tell(tapeMsg{err: err})
		return
	}
	d.at = now
	d.load()
	gap := d.aheadGap
	if !at.After(now) {
		gap = 0 // it comes later
	}
	d.tell(tapeMsg{memory: mem, events: events, gap: gap})
}

// forth shows the next event.
func (d *deck) forth() {
	if d.over {
		d.tell(tapeMsg{})
		return
	}
	ev, gap := d.ahead, d.aheadGap
	d.at = d.aheadAt
	d.load()
	d.tell(tapeMsg{events: []control.Event{ev}, gap: gap})
}

// load reads the event after the present one.
func (d *deck) load() {
	var err error
	d.ahead, d.aheadAt, err = d.tape.Next()
	d.aheadGap = d.tape.Gap()
	if d.over = err != nil; d.over && !errors.Is(err, io.EOF) {
		d.tell(tapeMsg{err: err})
	}
}

// recall takes a reading from before the moment at which a replay goes on, in
// the order of their times.
func (m *memory) recall(r *control.Reading, at time.Time) {
	q := m.queue(len(m.order), r.Queue)
	q.seen = r.At
	if m.first.IsZero() {
		m.first = r.At
	}
	q.history.recall(r, at)
	if at.Sub(r.At) <= heldFor {
		q.hold(r)
	}
}

// recall is put for readings of minutes: the finest ring takes only those it
// reaches back to.
func (h *history) recall(r *control.Reading, at time.Time) {
	own := *r
	own.PeriodS = min(own.PeriodS, 59.9) // longer ones are no reading
	if at.Unix()-r.At.Unix() < tiers[0].step*int64(tiers[0].slots) {
		h.put(&own)
		return
	}
	for i := 1; i < len(tiers); i++ {
		if h.rings[i] == nil && r.Waiters.Or(0) > 0 {
			h.rings[i] = newRing(tiers[i])
		}
		if h.rings[i] != nil {
			h.rings[i].put(&own)
		}
	}
}

// withTape makes the model show a recording: time is the recording's, and
// nothing can be done.
func (m *Model) withTape(t Tape) {
	if t == nil {
		return
	}
	m.tape = &replay{on: true, speed: 1, marks: t.Marks()}
	m.tape.from, m.tape.to = t.Span()
	m.tape.at = m.tape.from
	m.opt.Do = nil
	m.opt.Now = func() time.Time {
		now := m.wall()
		if m.tape.clock.IsZero() {
			return now
		}
		return m.tape.clock.In(now.Location())
	}
	if note := t.Note(); note != "" {
		m.tape.torn = true
		m.say(safe(note, m.g.ascii))
	}
}

// played takes in what the deck has to show.
func (m *Model) played(msg tapeMsg) {
	t := m.tape
	if msg.err != nil {
		t.on, t.over = false, msg.over
		m.say(cut("the recording cannot be read on: "+safe(msg.err.Error(), m.g.ascii), 100, m.g.dots))
		m.draw()
		return
	}
	jumped := msg.memory != nil
	t.gaps = t.gaps || msg.gap > 0
	if jumped {
		m.memory, m.newest, m.failure, m.failed = msg.memory, nil, nil, time.Time{}
	}
	changed := t.on != msg.on || t.over != msg.over
	t.at, t.on, t.over = msg.at, msg.on, msg.over
	for _, ev := range msg.events {
		t.clock = ev.At
		m.Ingest(ev)
	}
	switch {
	case msg.gap == 0:
	case jumped:
		m.say("from here on " + age(msg.gap) + " of the recording cannot be read; l and n pass over it")
	default:
		m.say("before this " + age(msg.gap) + " of the recording cannot be read")
	}
	if jumped && m.newest == nil {
		m.picture = nil
		m.arrange()
	}
	// At 64 ticks a second not each one is worth drawing.
	if now := m.wall(); jumped || changed || !t.on || len(msg.events) == 0 || now.Sub(t.drawn) >= 100*time.Millisecond || now.Before(t.drawn) {
		t.drawn = now
		m.Advance()
	}
}

// tapeBindings are the keys of time while a recording is shown.
func tapeBindings() []binding {
	jump := func(by time.Duration) func(*Model) Effect {
		return func(m *Model) Effect { return m.jump(m.tape.at.Add(by)) }
	}
	pace := func(up bool) func(*Model) Effect {
		return func(m *Model) Effect {
			if up {
				m.tape.speed = min(m.tape.speed*2, fastest)
			} else {
				m.tape.speed = max(m.tape.speed/2, 1)
			}
			if !m.tape.on || m.tape.over { // else the header shows it
				m.say(fmt.Sprintf("%s%d when it plays", m.g.times, m.tape.speed))
			}
			return Effect{tape: &move{speed: m.tape.speed}}
		}
	}
	return []binding{
		{keys: []string{" "}, show: "space", short: "play/pause", help: "pause the replay, or go on", group: timeGroup, do: (*Model).playOrPause},
		{keys: []string{"l", "right"}, show: "h/l", short: "step", help: "a tick forth", group: timeGroup, do: func(m *Model) Effect { off := false; return Effect{tape: &move{step: true, on: &off}} }},
		{keys: []string{"h", "left"}, help: "a tick back", group: timeGroup, do: func(m *Model) Effect {
			off := false
			e := m.jump(m.tape.at.Add(-1))
			e.tape.on = &off
			return e
		}},
		{keys: []string{"L", "shift+right"}, help: "a minute forth", group: timeGroup, do: jump(time.Minute)},
		{keys: []string{"H", "shift+left"}, help: "a minute back", group: timeGroup, do: jump(-time.Minute)},
		{keys: []string{">"}, help: "ten minutes forth", group: timeGroup, do: jump(10 * time.Minute)},
		{keys: []string{"<"}, help: "ten minutes back", group: timeGroup, do: jump(-10 * time.Minute)},
		{keys: []string{"n"}, show: "n/N", short: "change", help: "to the next change, verdict or act", group: timeGroup, do: func(m *Model) Effect { return m.nextMark(1) }},
		{keys: []string{"N"}, help: "to the one before", group: timeGroup, do: func(m *Model) Effect { return m.nextMark(-1) }},
		{keys: []string{"0"}, help: "to the start of the recording", group: timeGroup, do: func(m *Model) Effect { return m.jump(m.tape.from) }},
		{keys: []string{"end", "$"}, help: "to its end", group: timeGroup, do: func(m *Model) Effect { return m.jump(m.tape.to) }},
		{keys: []string{"+", "="}, short: "speed", help: "twice as fast, up to 64 times", group: timeGroup, do: pace(true)},
		{keys: []string{"-", "_"}, help: "half as fast, down to the recorded pace", group: timeGroup, do: pace(false)},
	}
}

func (m *Model) jump(at time.Time) Effect {
	t := m.tape
	if at.Before(t.from) {
		at = t.from
	} else if at.After(t.to) {
		at = t.to
	}
	t.at, t.over = at, false // where further keys go on from
	return Effect{tape: &move{at: &at}}
}

func (m *Model) playOrPause() Effect {
	on := !m.tape.on
	if on && m.tape.over {
		m.say("this is the end of the recording; 0 goes to its start")
		return Effect{}
	}
	return Effect{tape: &move{on: &on}}
}

// nextMark jumps to the next moment at which something happened, one way or the
// other, and stays there.
func (m *Model) nextMark(way int) Effect {
	t := m.tape
	i, found := slices.BinarySearchFunc(t.marks, t.at, func(a, b time.Time) int { return cmp.Compare(a.UnixNano(), b.UnixNano()) })
	if way < 0 {
		i--
	} else if found {
		i++
	}
	if i < 0 || i >= len(t.marks) {
		m.say(map[bool]string{true: "nothing happened before this", false: "nothing happened after this"}[way < 0])
		return Effect{}
	}
	off := false
	return Effect{tape: &move{at: &t.marks[i], on: &off}}
}

// replayParts say that this is a recording, of when, and how it moves.
func (m *Model) replayParts() []part {
	t := m.tape
	how := "paused"
	switch {
	case t.over:
		how = "at the end"
	case t.on:
		how = fmt.Sprintf("playing %s%d", m.g.times, t.speed)
	}
	where := age(max(t.at.Sub(t.from), 0)) + " of " + age(max(t.to.Sub(t.from), 0))
	when := "REPLAY"
	if m.picture != nil {
		when += " " + m.clock().In(m.opt.Now().Location()).Format("2006-01-02 15:04:05")
	}
	parts := []part{{badge(roleBanner, when), 0}, {text(roleStrong, how), 0}, {text(roleDim, where), 1}}
	switch {
	case t.gaps:
		parts = append(parts, part{text(roleWarn, m.g.warn+" damaged"), 2})
	case t.torn:
		parts = append(parts, part{text(roleWarn, m.g.warn+" torn end"), 2})
	}
	return parts
}
