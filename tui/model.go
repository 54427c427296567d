package tui

import (
	"time"

	"shardpilot/control"
)

// screen is one of the pages.
type screen int

const (
	screenOverview screen = iota
	screenQueue
	screenDecisions
	screenProducers
	screenHealth
	screenHelp
	screenEntry // one entry of the log, opened from Decisions
	screenCount
)

var screenNames = [screenCount]string{"Overview", "Queue", "Decisions", "Producers", "Health", "Help", "Entry"}

// spans are the stretches of time a chart can show, in seconds.
var spans = [...]int64{60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600}

// Model is the whole state of the screen. It is not safe for use by several
// goroutines: one calls it, as bubbletea does.
type Model struct {
	opt    Options
	g      *glyphs
	theme  *theme
	memory *memory
	tape   *replay          // nil unless a recording is shown
	rec    bool             // a recording is being made
	recErr error            // why one ended by itself
	wall   func() time.Time // our clock, also then

	newest  *control.Event   // newest tick with a snapshot
	failure *control.Failure // set while ticks fail
	failed  time.Time        // our clock, of the newest failure
	live    control.Event    // newest tick of any kind: who leads, what was dropped
	picture *picture         // what is shown, nil before the first reading
	paused  bool
	pausedA time.Time // our clock
	held    *picture  // what was shown when it was paused
	at      time.Time // the moment of the past that is shown, by the server's clock; zero when none is

	w, h    int
	screen  screen
	back    []screen // where esc goes
	order   order
	filters [screenCount]string
	typing  bool // keys go to the screen's filter
	moved   bool // the operator chose a row: until then the cursor stays on the first
	span    int  // index in spans
	open    string
	entry   entry // the one that screenEntry shows
	list    [screenCount]cursor
	rows    []row   // filtered rows of the picture
	items   []int   // what the lines of the view show of the screen's list, see line
	dialog  *dialog // nil when nothing is asked
	menu    *menu   // nil when nothing is to be chosen
	notice  string  // one line that answers the last key
	noticed time.Time
	top     float64 // of the sparklines' shared scale
	topFor  topKey
	view    string
}

// New is a Model without a terminal: feed it with Apply, Key and Resize, read
// View. Options.Events, Input and Output are not used.
func New(o Options) *Model {
	o = o.normal()
	m := &Model{opt: o, g: pickGlyphs(o.Glyphs, o.Getenv), span: 1, top: 1}
	m.theme = newTheme(pickProfile(o.Color, o.Getenv), o.Theme, o.LabelColor)
	m.memory = newMemory(m.g)
	m.wall = o.Now
	m.withTape(o.Tape)
	return m
}

// Ingest takes one tick in without moving the picture.
func (m *Model) Ingest(ev control.Event) {
	m.memory.take(ev)
	if ev.ProcessMode == "" { // a failing tick may not say: what was known still holds
		ev.ProcessMode = m.live.ProcessMode
	}
	if ev.Memory == "" {
		ev.Memory = m.live.Memory
	}
	m.live = ev
	if ev.Err != nil {
		m.failure, m.failed = ev.Err, ev.At
		return
	}
	if ev.Snapshot != nil {
		m.failure, m.newest = nil, &ev
	}
}

// Advance shows the newest tick and draws. Paused, only ages move.
func (m *Model) Advance() {
	m.watchRecorder()
	if m.newest != nil && (m.picture == nil || !m.paused && m.picture.event.Snapshot != m.newest.Snapshot) {
		m.picture = newPicture(*m.newest, m.memory)
		m.arrange()
	}
	m.draw()
}

// Apply takes one tick in and shows it.
func (m *Model) Apply(ev control.Event) {
	m.Ingest(ev)
	m.Advance()
}

// Resize sets the size of the window; negative counts as 0.
func (m *Model) Resize(w, h int) {
	m.w, m.h = max(w, 0), max(h, 0)
	m.draw()
}

// View is the picture: exactly h lines of exactly w columns.
func (m *Model) View() string { return m.view }

// Interval is how often the picture wants to advance.
func (m *Model) Interval() time.Duration { return m.opt.Interval }

// arrange sorts and filters the shown rows; the cursors follow by identity.
func (m *Model) arrange() {
	if m.picture == nil {
		m.rows = nil
		return
	}
	m.picture.sort(m.order, m.attention)
	m.rows = m.picture.filter(m.filters[screenOverview])
}

// clock is the server's time as far as the picture knows it: the newest
// reading's, plus what our clock has moved since. Charts end here, so a failure
// grows a gap at their right edge. Paused, it stands still.
func (m *Model) clock() time.Time {
	switch {
	case m.picture == nil:
		return time.Time{}
	case !m.at.IsZero():
		return m.at
	}
	ev := m.picture.event
	now := m.opt.Now()
	if m.paused {
		now = m.pausedA
	}
	since := max(now.Sub(ev.At), 0)
	if since < 3*time.Second && m.failure == nil {
		since = 0 // the next reading is on its way: no gap yet
	}
	return ev.Snapshot.At.Add(since)
}

// stale says whether what is shown is too old to be read as the present.
func (m *Model) stale() bool {
	if m.picture == nil {
		return false
	}
	return m.failure != nil || ageOf(*m.newest, m.opt.Now()) > 10*time.Second
}

// selected is the row under the cursor, or the open queue on its page.
func (m *Model) selected() (row, bool) {
	if m.screen == screenQueue {
		return m.find(m.open)
	}
	i := m.overviewCursor()
	if i < 0 {
		return row{}, false
	}
	return m.rows[i], true
}

// overviewCursor is the row under the cursor, -1 when there is none: the first
// until the operator chose one, and from then on that queue wherever it goes.
func (m *Model) overviewCursor() int {
	c := &m.list[screenOverview]
	if !m.moved {
		c.index, c.id = 0, ""
	}
	return c.place(len(m.rows), func(i int) string { return m.rows[i].name })
}

// filter is the text by which the present screen is narrowed.
func (m *Model) filter() string { return m.filters[m.screen] }

func (m *Model) find(name string) (row, bool) {
	if m.picture != nil {
		for _, r := range m.picture.rows {
			if r.name == name {
				return r, true
			}
		}
	}
	return row{}, false
}

// cursor stands on a thing by identity. When the thing is gone it stands where
// it stood, on what is there now.
type cursor struct {
	id     string
	index  int
	offset int  // first visible line
	atTop  bool // at index 0 it means "the first", whichever that becomes
}

// place finds the cursor among n things and remembers what it stands on; -1
// when there are none.
func (c *cursor) place(n int, id func(int) string) int {
	if n == 0 {
		return -1
	}
	if c.atTop && c.index <= 0 {
		c.id = ""
	}
	at := min(max(c.index, 0), n-1)
	if c.id != "" && id(at) != c.id {
		for i := range n {
			if id(i) == c.id {
				at = i
				break
			}
		}
	}
	c.index, c.id = at, id(at)
	return at
}

// move sets the cursor to index i of n.
func (c *cursor) move(i, n int, id func(int) string) {
	if n == 0 {
		return
	}
	c.index = min(max(i, 0), n-1)
	c.id = id(c.index)
}

// window gives the first of height visible things so that index is among them.
func (c *cursor) window(n, height int) int {
	if c.index < c.offset {
		c.offset = c.index
	}
	if height > 0 && c.index >= c.offset+height {
		c.offset = c.index - height + 1
	}
	c.offset = max(min(c.offset, n-height), 0)
	return c.offset
}
