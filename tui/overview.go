package tui

import (
	"fmt"
	"math"

	"shardpilot/control"
)

// What is drawn as trouble. Only colours and marks hang on these; what is done
// about it is the policy's.
const (
	crowdShare  = 0.25 // wait share from which a queue counts as contended
	heavyShare  = 0.60
	crowdWaiter = 1.0 // sessions waiting, below which a share means little
)

func crowdedRow(r row) bool {
	return r.reading.Share.Or(0) >= crowdShare && (r.reading.Waiters.Or(0) >= crowdWaiter || r.heat >= crowdWaiter)
}

// overview is a row for every queue, and under it what the one under the cursor does.
func (m *Model) overview(w, h int) []line {
	if len(m.picture.rows) == 0 {
		return m.noQueues(w)
	}
	detail := m.overviewDetail(w, h)
	tableH := h - len(detail)
	lines := m.queueTable(w, tableH)
	for len(lines) < tableH {
		lines = append(lines, line{})
	}
	return append(lines, detail...)
}

// noQueues says why there is nothing to see and what to do.
func (m *Model) noQueues(w int) []line {
	awa := m.picture.event.Snapshot.Awa
	lines := []line{{}, text(roleStrong, "  No queues to show")}
	sentence, hint := awa.Sentence, awa.Hint
	if sentence == "" {
		sentence = "Awa is " + string(awa.State) + "."
	}
	if hint == "" && awa.State == control.AwaActive {
		hint = "A queue appears here once a job has been enqueued to it: Awa registers its lanes then."
	}
	for _, s := range wrap(safe(sentence, m.g.ascii), w-4, 5, m.g.dots) {
		lines = append(lines, text(roleText, "  "+s))
	}
	lines = append(lines, line{})
	for _, s := range wrap(safe(hint, m.g.ascii), w-4, 6, m.g.dots) {
		lines = append(lines, text(roleAccent, "  "+s))
	}
	return lines
}

func (m *Model) queueTable(w, h int) []line {
	if h <= 0 {
		return nil
	}
	if len(m.rows) == 0 {
		return []line{{}, text(roleDim, "  no queue has \""+m.filter+"\" in its name; esc clears the filter")}
	}
	gap := 1
	if w >= 140 {
		gap = 2
	}
	cols := fitColumns(m.queueColumns(w), w-2, gap)
	m.scaleSparks(cols)
	c := &m.list[screenOverview]
	at := c.place(len(m.rows), func(i int) string { return m.rows[i].name })
	first := c.window(len(m.rows), h-1)
	head := line{}
	head.add(roleText, "  ")
	head.join(headLine(cols, gap, m.g.dots))
	lines := []line{head}
	for i := first; i < len(m.rows) && len(lines) < h; i++ {
		var l line
		if i == at {
			l.add(roleAccent, m.g.cursor+" ")
			l.selected = true
		} else {
			l.add(roleText, "  ")
		}
		l.join(bodyLine(cols, gap, m.g.dots, m.rows[i]))
		lines = append(lines, l)
	}
	return lines
}

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
		s := newSpan(m.clock().Unix(), spans[m.span], cols[i].w, finest)
		if m.topFor != (topKey{m.picture, s}) {
			top := 0.0
			for _, r := range m.picture.rows {
				top = max(top, r.history.peak(seriesWaiters, s))
			}
			m.top, m.topFor = niceTop(top, 1), topKey{m.picture, s}
		}
		cols[i].title = fmt.Sprintf("0-%s waiting, %s", scaleLabel(m.top), m.spanName(s))
		if width(cols[i].title) > cols[i].w {
			cols[i].title = fmt.Sprintf("0-%s %s", scaleLabel(m.top), m.spanName(s))
		}
		cols[i].cell = func(r row) (role, string) {
			return waitRole(r), sparkline(r.history.means(seriesWaiters, s), m.top, m.g)
		}
	}
}

// spanName is the time a chart covers: the chosen one when it is that nearly,
// since columns are whole seconds.
func (m *Model) spanName(s span) string {
	covered := int64(s.cols) * s.per * finest.step
	if want := spans[m.span]; covered > want*9/10 && covered <= want*11/10 {
		covered = want
	}
	return axisSpan(covered)
}

func (m *Model) queueColumns(w int) []column[row] {
	longest := 12
	for _, r := range m.rows {
		longest = max(longest, width(r.label))
		if longest >= 40 {
			longest = 40
			break
		}
	}
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
		{title: "", w: 1, prio: 0, cell: func(r row) (role, string) { return m.mark(r) }},
		{title: sorted(orderName, "QUEUE"), w: 12, grow: longest - 12, prio: 0, cell: func(r row) (role, string) { return nameRole(r), r.label }},
		{title: sorted(orderWaiters, "WAIT"), w: 5, prio: 1, right: true, cell: func(r row) (role, string) { return waitRole(r), count(r.reading.Waiters) }},
		{title: sorted(orderShare, "SHARE"), w: 6, prio: 2, right: true, cell: func(r row) (role, string) { return waitRole(r), percent(r.reading.Share) }},
		{title: sparkTitle, w: min(max(w/7, 8), 30), grow: 30, prio: 5},
		{title: sorted(orderShards, "S"), w: 5, prio: 4, right: true, cell: m.shardCell},
		{title: "MODE", w: 8, prio: 9, cell: modeCell},
		{title: "APPLIED", w: 7, prio: 6, right: true, cell: m.appliedCell},
		{title: sorted(orderRate, "JOBS/S"), w: 7, prio: 10, right: true, cell: func(r row) (role, string) { return quietZero(r.reading.EnqueueRate), count(r.reading.EnqueueRate) }},
		{title: sorted(orderDepth, "DEPTH"), w: 6, prio: 7, right: true, cell: func(r row) (role, string) { return quietZero(r.reading.Depth), whole(r.reading.Depth) }},
		{title: sorted(orderLag, "LAG"), w: 5, prio: 8, right: true, cell: func(r row) (role, string) { return quietZero(r.reading.LagS), seconds(r.reading.LagS) }},
		{title: "NEXT STEP", w: min(max(w/5, 13), 40), grow: 60, prio: 3, cell: m.statusCell},
	}
}

func quietZero(v control.Value) role {
	if f, ok := v.Get(); !ok || f == 0 {
		return roleFaint
	}
	return roleText
}

func nameRole(r row) role {
	if f, ok := r.reading.Waiters.Get(); ok && f == 0 && !crowdedRow(r) && !awaits(r) {
		return roleText
	}
	return roleStrong
}

func waitRole(r row) role {
	w, ok := r.reading.Waiters.Get()
	s := r.reading.Share.Or(0)
	switch {
	case !ok, w == 0 && !crowdedRow(r) && !(r.heat > 0):
		return roleFaint
	case s >= heavyShare && crowdedRow(r):
		return roleBad
	case crowdedRow(r):
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
	case crowdedRow(r):
		return waitRole(r), m.g.crowd
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

func modeCell(r row) (role, string) {
	if r.decision == nil {
		return roleFaint, absent
	}
	switch r.decision.Mode {
	case control.ModeEnforced:
		return roleWarn, "enforced"
	case control.ModeShadow:
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

// statusCell says in a few words what happens next or what is in the way.
func (m *Model) statusCell(r row) (role, string) {
	d := r.decision
	switch {
	case d == nil:
		return roleFaint, "watched only"
	case d.Step != nil: // it may outlive what the rules say at this tick
		return roleWarn, m.direction(d.Step.From, d.Step.To) + " " + m.memory.steps(d.Step.From, d.Step.To) + " pending " + gain(d.Step.PredictedGain, m.g.times)
	case d.Pending:
		return roleWarn, m.actionSign(d.Action) + " " + m.memory.steps(d.From, d.To) + " pending " + gain(d.PredictedGain, m.g.times)
	case d.Action != control.ActionHold:
		return roleAccent, m.actionSign(d.Action) + " " + m.memory.steps(d.From, d.To) + " " + m.memory.words(string(d.Reason))
	case d.Mode == control.ModeManual:
		return roleFaint, m.memory.words(string(d.Reason))
	}
	s := m.memory.words(string(d.Reason))
	if len(d.Blockers) > 0 && d.Blockers[0].Detail != "" {
		s += ": " + safe(d.Blockers[0].Detail, m.g.ascii)
	}
	return roleDim, s
}

// awaits says whether a step waits for a hand.
func awaits(r row) bool {
	return r.decision != nil && (r.decision.Pending || r.decision.Step != nil)
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

// overviewDetail is the pane under the table: a chart when there is room, the
// decision in words otherwise.
func (m *Model) overviewDetail(w, h int) []line {
	r, ok := m.selected()
	if !ok || h < 12 {
		return nil
	}
	var lines []line
	lines = append(lines, section(cut(r.label, w/2, m.g.dots), m.facts(r), w, m.g))
	if h >= 24 {
		spare := h - len(m.picture.rows) - 9 // where few queues leave room, the chart takes it
		lines = append(lines, m.waitersChart(r, w, min(max(h/5, spare, 5), 16))...)
		s := newSpan(m.clock().Unix(), spans[m.span], plotColumns(w, m.g), finest)
		lines = append(lines, shardStrip(r.history.lasts(r.history.shards, s), w, m.g))
		if h >= 30 {
			lines = append(lines, causeStrip(r.history.lasts(r.history.cause, s), w, m.g))
		}
		lines = append(lines, timeAxis(s, w, finest, m.g))
	}
	lines = append(lines, m.decisionLines(r, w, 2)...)
	if l, ok := m.holderLine(r); ok {
		lines = append(lines, l.clip(w, m.g.dots))
	} else {
		lines = append(lines, text(roleFaint, "nobody stands behind a holder"))
	}
	return lines
}

// facts are a queue's numbers in one stretch of text.
func (m *Model) facts(r row) string {
	s := "S " + shardCount(r.reading.Shards) + " " + m.g.sep + " waiting " + count(r.reading.Waiters) + " " + m.g.sep + " share " + percent(r.reading.Share)
	if r.reading.ShareLow.OK() && r.reading.ShareHigh.OK() {
		s += " (" + percent(r.reading.ShareLow) + ".." + percent(r.reading.ShareHigh) + ")"
	}
	return s
}
