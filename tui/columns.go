package tui

import (
	"fmt"
	"math"
	"slices"

	"shardpilot/control"
)

// sparkTitle marks the column whose width the sparklines take.
const sparkTitle = "spark"

// topKey is what the shared scale follows from: it is kept while keys are
// pressed.
type topKey struct {
	picture *picture
	span    span
}

// scaleSparks sets the shared scale and gives the sparkline column its title
// and its cells, now that its width is known.
func (m *Model) scaleSparks(cols []column[row]) {
	for i := range cols {
		if cols[i].title != sparkTitle {
			continue
		}
		s := m.charts(cols[i].w)
		if m.topFor != (topKey{m.picture, s}) {
			top := 0.0
			for _, r := range m.picture.rows {
				top = max(top, r.history.peak(s))
			}
			m.top, m.topFor = niceTop(top, 1), topKey{m.picture, s}
		}
		cols[i].title = fmt.Sprintf("0-%s waiting, %s", scaleLabel(m.top), m.spanName(s))
		if width(cols[i].title) > cols[i].w {
			cols[i].title = fmt.Sprintf("0-%s %s", scaleLabel(m.top), m.spanName(s))
		}
		cols[i].cell = func(r row) (role, string) {
			return m.waitRole(r), sparkline(r.history.means(seriesWaiters, s), m.top, m.g)
		}
	}
}

// charts is the span of a chart of so many columns.
func (m *Model) charts(cols int) span { return newSpan(m.clock().Unix(), spans[m.span], cols) }

// spanName is the time a chart covers: the chosen one when it is that nearly,
// since columns are whole slots.
func (m *Model) spanName(s span) string {
	covered := s.seconds()
	if want := spans[m.span]; covered > want*4/5 && covered <= want*6/5 {
		covered = want
	}
	return axisSpan(covered)
}

// columnNames are the overview's columns by the names that operators use.
var columnNames = [...]string{"wait", "share", "trend", "shards", "mode", "applied", "rate", "depth", "lag", "next"}

// ColumnNames are the names that Options.Columns takes.
func ColumnNames() []string { return append([]string{"queue"}, columnNames[:]...) }

// queueColumns are the columns that were chosen, the mark and the name first.
func (m *Model) queueColumns(w int) []column[row] {
	all := m.allColumns(w)
	head, rest := all[:2:2], all[2:]
	if len(m.opt.Columns) == 0 {
		return append(head, rest...)
	}
	for _, name := range m.opt.Columns {
		if i := slices.Index(columnNames[:], name); i >= 0 {
			head = append(head, rest[i])
		}
	}
	return head
}

// allColumns are the mark, the name and then those of columnNames.
func (m *Model) allColumns(w int) []column[row] {
	sorted := func(by order, title string) string {
		if m.order != by {
			return title
		}
		if by == orderName {
			return title + m.g.up
		}
		return title + m.g.down
	}
	return []column[row]{
		{title: sorted(orderAttention, ""), w: 1, prio: 0, cell: m.mark},
		{title: sorted(orderName, "QUEUE"), w: 12, grow: m.longestName() - 12, prio: 0, cell: func(r row) (role, string) { return m.nameRole(r), r.label }},
		{title: sorted(orderWaiters, "WAIT"), w: 5, prio: 1, right: true, cell: m.lately(seriesWaiters, m.waitRole, count)},
		{title: sorted(orderShare, "SHARE"), w: 6, prio: 2, right: true, cell: m.lately(seriesShare, m.waitRole, percent)},
		{title: sparkTitle, w: min(max(w/7, 8), 30), grow: 30, prio: 5},
		{title: sorted(orderShards, "S"), w: 5, prio: 4, right: true, cell: m.shardCell},
		{title: "MODE", w: m.modeWidth(), prio: 9, cell: modeCell},
		{title: "APPLIED", w: 7, prio: 6, right: true, cell: m.appliedCell},
		{title: sorted(orderRate, "JOBS/S"), w: 7, prio: 10, right: true, cell: m.lately(seriesRate, nil, count)},
		{title: sorted(orderDepth, "DEPTH"), w: 6, prio: 7, right: true, cell: m.lately(seriesDepth, nil, whole)},
		{title: sorted(orderLag, "LAG"), w: 5, prio: 8, right: true, cell: m.lately(seriesLag, nil, seconds)},
		{title: "NEXT STEP", w: min(max(w/5, 13), 40), grow: 60, prio: 3, cell: m.statusCell},
	}
}

func (m *Model) longestName() int {
	longest := 12
	for _, r := range m.rows {
		if longest = max(longest, width(r.label)); longest >= 40 {
			return 40
		}
	}
	return longest
}

// lateFor is how many seconds a number that was not sampled is shown quietly
// as it was before it becomes "n/a".
const lateFor = 3

// present is the value of a series: the reading's, or else the newest one while
// it is younger than lateFor seconds; then late is true.
func (m *Model) present(r row, series int) (v control.Value, late bool) {
	switch series {
	case seriesWaiters:
		v = r.reading.Waiters
	case seriesShare:
		v = r.reading.Share
	case seriesRate:
		v = r.reading.EnqueueRate
	case seriesDepth:
		v = r.reading.Depth
	case seriesLag:
		v = r.reading.LagS
	}
	if v.OK() {
		return v, false
	}
	v = r.history.latest(series, r.reading.At.Unix(), lateFor)
	return v, v.OK()
}

// figure is present for text, which has no quiet way to say late: every place of
// a picture shows one and the same number.
func (m *Model) figure(r row, series int) control.Value {
	v, _ := m.present(r, series)
	return v
}

// lately is the cell of a series. Without a role of its own zeros are quiet.
func (m *Model) lately(series int, as func(row) role, show func(control.Value) string) func(row) (role, string) {
	return func(r row) (role, string) {
		v, late := m.present(r, series)
		switch {
		case late:
			return roleFaint, show(v)
		case as != nil:
			return as(r), show(v)
		}
		return quietZero(v), show(v)
	}
}

func quietZero(v control.Value) role {
	if f, ok := v.Get(); !ok || f == 0 {
		return roleFaint
	}
	return roleText
}

func (m *Model) nameRole(r row) role {
	if m.attention(r) == rankQuiet {
		return roleDim
	}
	return roleStrong
}

func (m *Model) waitRole(r row) role {
	w, ok := r.reading.Waiters.Get()
	s := r.reading.Share.Or(0)
	switch {
	case !ok, w == 0 && !m.crowded(r) && !(r.heat > 0):
		return roleFaint
	case s >= m.opt.Thresholds.Heavy && m.crowded(r):
		return roleBad
	case m.crowded(r):
		return roleWarn
	}
	return roleText
}

// mark is the one sign in front of a row: the gravest of what is to be said.
func (m *Model) mark(r row) (role, string) {
	switch {
	case r.reading.Bottleneck == control.BottleneckStuck:
		return roleBad, m.g.bad
	case awaits(r):
		return roleWarn, m.g.pending
	case r.reading.Stale > 0:
		return roleWarn, m.g.warn
	case m.crowded(r):
		return m.waitRole(r), m.g.crowd
	case drains(r) != nil:
		return drainRole(drains(r)), m.g.down2
	}
	return roleText, " "
}

func (m *Model) shardCell(r row) (role, string) {
	if d := r.decision; d != nil && d.Action != control.ActionHold && d.To != d.From {
		return roleWarn, shardCount(r.reading.Shards) + m.g.arrow + shardCount(d.To)
	}
	if r.reading.Shards == 1 {
		return roleDim, "1"
	}
	return roleText, shardCount(r.reading.Shards)
}

// heldBack says whether a queue's policy lets the controller act and only the
// process does not; heldBackSign stands for that where a mode does.
func heldBack(r row) bool {
	d := r.decision
	return d != nil && d.Mode == control.ModeShadow && d.Policy.Auto && d.Policy.Enforced
}

const heldBackSign = "enforced*"

// modeWidth is what the modes need: a cell more while one has its asterisk.
func (m *Model) modeWidth() int {
	if slices.ContainsFunc(m.rows, heldBack) {
		return len(heldBackSign)
	}
	return len(control.ModeEnforced)
}

func modeCell(r row) (role, string) {
	if r.decision == nil {
		return roleFaint, absent
	}
	switch r.decision.Mode {
	case control.ModeEnforced:
		return roleWarn, "enforced"
	case control.ModeShadow:
		if heldBack(r) {
			return roleAccent, heldBackSign
		}
		return roleAccent, "shadow"
	case control.ModeManual:
		return roleDim, "manual"
	}
	return roleFaint, absent
}

func (m *Model) appliedCell(r row) (role, string) {
	s := ofTotal(r.reading.Applied, r.reading.Producers)
	switch on, all := r.reading.Applied.Or(math.NaN()), r.reading.Producers.Or(math.NaN()); {
	case r.reading.Stale > 0:
		return roleWarn, s
	case on == all && all > 0:
		return roleText, s
	}
	return roleDim, s
}

// statusCell says in a few words what happens next or what is in the way, and
// until it is over that lanes above the count drain.
func (m *Model) statusCell(r row) (role, string) {
	as, s := m.nextCell(r)
	d := drains(r)
	switch {
	case d == nil:
		return as, s
	case awaits(r):
		return as, s + " " + m.g.sep + " " + m.g.told(d.Short())
	}
	return drainRole(d), m.g.told(d.Short()) + " " + m.g.sep + " " + s
}

func (m *Model) nextCell(r row) (role, string) {
	d := r.decision
	switch {
	case d == nil && r.past:
		return roleFaint, absent
	case d == nil:
		return roleFaint, "watched only"
	case d.Step != nil: // it may outlive what the rules say at this tick
		return roleWarn, m.direction(d.Step.From, d.Step.To) + " " + m.memory.steps(d.Step.From, d.Step.To) + " pending " + gain(d.Step.PredictedGain, m.g.times)
	case d.Pending:
		return roleWarn, m.actionSign(d.Action) + " " + m.memory.steps(d.From, d.To) + " pending " + gain(d.PredictedGain, m.g.times)
	case d.Action != control.ActionHold:
		return roleAccent, m.actionSign(d.Action) + " " + m.memory.steps(d.From, d.To) + " " + m.memory.words(string(d.Reason))
	case d.Mode == control.ModeManual:
		reason, _ := m.why(d)
		return roleFaint, reason
	}
	return roleDim, m.status(d)
}

// awaits says whether a step waits for a hand.
func awaits(r row) bool {
	return r.decision != nil && (r.decision.Pending || r.decision.Step != nil)
}

// crowded says whether a queue's producers stand in line so that it is marked.
func (m *Model) crowded(r row) bool {
	t := m.opt.Thresholds
	return r.reading.Share.Or(0) >= t.Share && (r.reading.Waiters.Or(0) >= t.Waiters || r.heat >= t.Waiters)
}

// How much a queue wants to be looked at.
const (
	rankQuiet = iota
	rankWaiting
	rankCrowded
	rankHand // stuck, or a step waits for a hand
)

// attention ranks a queue. It goes by what was seen over seconds, so that rows
// do not jump about.
func (m *Model) attention(r row) int {
	switch {
	case awaits(r), r.reading.Bottleneck == control.BottleneckStuck && r.heat > 0:
		return rankHand
	case m.crowded(r):
		return rankCrowded
	case r.heat >= 0.05, !r.reading.Waiters.OK(), drains(r) != nil:
		return rankWaiting
	}
	return rankQuiet
}

func (m *Model) direction(from, to int) string {
	if to < from {
		return m.g.shrink
	}
	return m.g.grow
}

func (m *Model) actionSign(a control.Action) string {
	switch a {
	case control.ActionGrow:
		return m.g.grow
	case control.ActionShrink:
		return m.g.shrink
	}
	return m.g.sep
}
