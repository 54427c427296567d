package tui

import (
	"sort"
	"strconv"

	"shardpilot/control"
)

// overview is a row for every queue, and under it, in the room that the rows
// leave, what the one under the cursor does.
func (m *Model) overview(w, h int) []line {
	if len(m.picture.rows) == 0 {
		return m.noQueues(w)
	}
	detail := m.overviewDetail(w, m.detailHeight(h))
	tableH := h - len(detail)
	lines := m.queueTable(w, tableH)
	for len(lines) < tableH {
		lines = append(lines, line{})
	}
	return append(lines, detail...)
}

// detailHeight is what is left under the table for the queue under the cursor:
// all that the rows do not need, and with many rows enough to be of use.
func (m *Model) detailHeight(h int) int {
	if h < 12 {
		return 0
	}
	least := 4
	if h >= 24 {
		least = h * 2 / 5
	}
	rows := len(m.rows) + 2 // the heading, and the line above those that are quiet
	if len(m.rows) == 0 || m.nobodyIn() {
		rows++
	}
	return max(least, h-rows)
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
		return []line{{}, text(roleDim, "  no queue has \""+m.filter()+"\" in its name; esc clears the filter")}
	}
	gap := 1
	if w >= 140 {
		gap = 2
	}
	cols := fitColumns(m.queueColumns(w), w-2, gap)
	m.scaleSparks(cols)
	c := &m.list[screenOverview]
	at := m.overviewCursor()
	quiet := m.firstQuiet()
	room := h - 1
	if quiet > 0 {
		room-- // for the line above them
	}
	first := c.window(len(m.rows), room)
	head := line{}
	head.add(roleText, "  ")
	head.join(headLine(cols, gap, m.g.dots))
	lines := []line{head}
	for i := first; i < min(len(m.rows), first+room); i++ {
		if i == quiet && i > first && quiet > 0 {
			lines = append(lines, m.quietLine(len(m.rows)-quiet, w))
		}
		lines = append(lines, m.itemLine(i, at, bodyLine(cols, gap, m.g.dots, m.rows[i])))
	}
	if m.nobodyIn() && len(lines) < h {
		hint := "shardpilot set --queue NAME --auto --max N opts one in"
		if m.opt.Do != nil && !m.opt.ReadOnly {
			hint = "m lets the controller look after one and say what it would do"
		}
		lines = append(lines, text(roleAccent, cut("  no queue is opted in: "+hint, w, m.g.dots)))
	}
	return lines
}

// nobodyIn says whether no queue is opted in although decisions are made, so
// that the controller has nothing to do.
func (m *Model) nobodyIn() bool {
	for _, r := range m.picture.rows {
		if r.past || r.decision == nil || r.decision.Mode != control.ModeManual {
			return false
		}
	}
	return true
}

// firstQuiet is the place of the first of the queues in which nothing happens,
// when they stand together below others; 0 when they do not.
func (m *Model) firstQuiet() int {
	if m.order != orderAttention || len(m.rows) == 0 {
		return 0
	}
	n := sort.Search(len(m.rows), func(i int) bool { return m.attention(m.rows[i]) == rankQuiet })
	if n == len(m.rows) {
		return 0
	}
	return n
}

func (m *Model) quietLine(n, w int) line {
	var l line
	words := " " + strconv.Itoa(n) + " quiet "
	l.add(roleFaint, "  "+repeat(m.g.rule, 2)+words+repeat(m.g.rule, min(max(w-6-width(words), 0), 40)))
	return l
}

// overviewDetail is the pane under the table in at most h lines: charts when
// there is room, and the decision in words.
func (m *Model) overviewDetail(w, h int) []line {
	r, ok := m.selected()
	if !ok || h < 4 {
		return nil
	}
	title := section(cut(r.label, w/2, m.g.dots), m.facts(r), w, m.g)
	words := append(m.decisionLines(r, w, 2), m.behindLine(r, w))
	if d := drains(r); d != nil {
		words = append([]line{text(drainRole(d), cut(m.g.down2+" "+m.g.told(d.Words()), w, m.g.dots))}, words...)
	}
	switch {
	case h < 12:
		return append([]line{title}, words[:min(len(words), h-1)]...)
	case h < 18 || w < 100:
		return append(append([]line{title}, m.smallCharts(r, w, h-1-len(words))...), words...)
	}
	const gap = 3
	left := w * 60 / 100
	why := append(m.drainPane(r, w-left-gap), m.decisionPane(r, w-left-gap)...)
	why = append(why, m.comparisonPane(r, w-left-gap)...)
	why, behind := append(why, m.policyPane(r, w-left-gap)...), m.behindPane(r, w-left-gap)
	if r.reading.Bottleneck == control.BottleneckStuck {
		why = append(behind, why...) // who that is explains the rest
	} else {
		why = append(why, behind...)
	}
	charts := append(m.smallCharts(r, left, h-1), make([]line, h)...)[:h-1]
	return append([]line{title}, beside(charts, why[:min(len(why), h-1)], left, gap, m.g.dots)...)
}

// smallCharts are the charts of a queue in h lines: the waiting, the share when
// there is room for it, and what happened meanwhile.
func (m *Model) smallCharts(r row, w, h int) []line {
	s := m.charts(plotColumns(w, m.g))
	foot := []line{shardStrip(r.history.counts(s), w, m.g), timeAxis(s, w, m.axisEnd(), m.g)}
	if h >= 12 {
		foot = append([]line{markStrip(r.marks, s, w, m.g)}, foot...)
	}
	causes := m.causeStrips(r, s, w, stripHeight(h))
	plots := h - len(foot) - len(causes)
	if plots < 14 {
		return append(append(m.waitersChart(r, w, max(plots, 1)), causes...), foot...)
	}
	share := min(plots*2/5, 12)
	lines := m.waitersChart(r, w, plots-share-1)
	lines = append(lines, section("Wait share", m.shareFact(r), w, m.g))
	lines = append(lines, m.shareChart(r, s, w, share)...)
	return append(append(lines, causes...), foot...)
}

// causeStrips say over time in n lines what the waits were behind: the gravest
// of it in one line, how it divides in more.
func (m *Model) causeStrips(r row, s span, w, n int) []line {
	switch {
	case n <= 0:
		return nil
	case n == 1:
		return []line{causeStrip(r.history.worst(s), w, m.g)}
	}
	return stackStrip(r.history.shares(s), r.history.worst(s), w, n, m.g)
}

// stripHeight is how many lines of a pane of h lines the causes get.
func stripHeight(h int) int {
	switch {
	case h < 10:
		return 0
	case h < 24:
		return 1
	case h < 40:
		return 2
	}
	return 3
}

func (m *Model) behindPane(r row, w int) []line {
	return []line{section("Who holds it up", "", w, m.g), m.behindLine(r, w)}
}

func (m *Model) behindLine(r row, w int) line {
	l, ok := m.holderLine(r)
	switch {
	case ok:
		return l.clip(w, m.g.dots)
	case r.past:
		return text(roleFaint, "who held the lanes is not kept")
	case !m.figure(r, seriesWaiters).OK():
		return text(roleFaint, "who holds the lanes was not seen")
	}
	return text(roleFaint, "nobody stands behind a holder")
}

// facts are a queue's numbers in one stretch of text.
func (m *Model) facts(r row) string {
	s := "S " + shardCount(r.reading.Shards) + " " + m.g.sep + " waiting " + count(m.figure(r, seriesWaiters)) + " " + m.g.sep + " share " + percent(m.figure(r, seriesShare))
	if r.reading.ShareLow.OK() && r.reading.ShareHigh.OK() {
		s += " (" + percent(r.reading.ShareLow) + ".." + percent(r.reading.ShareHigh) + ")"
	}
	return s
}
