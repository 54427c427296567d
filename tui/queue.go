package tui

import (
	"fmt"
	"strconv"
	"strings"

	"shardpilot/control"
)

// queuePage is everything about one queue: how it went on the left, why on the
// right, one under the other where there is no room beside.
func (m *Model) queuePage(w, h int) []line {
	r, ok := m.find(m.open)
	if !ok {
		return []line{{}, text(roleStrong, "  "+safe(m.open, m.g.ascii)),
			text(roleText, "  is not in the newest reading; esc goes back")}
	}
	title, full := m.queueTitle(r, w), h
	if w < 100 && h >= 8 && !awaits(r) {
		title = append(title, m.decisionLines(r, w, 1)...) // the page below starts with charts
		if d := drains(r); d != nil {
			title = append(title, text(drainRole(d), cut(m.g.down2+" "+m.g.told(d.Words()), w, m.g.dots)))
		}
	}
	if heldBack(r) && h >= 8 {
		title = append(title, text(roleWarn, cut(heldBackWords(r), w, m.g.dots)))
	}
	const gap = 3
	why := func(w int) []line {
		first, then := m.comparisonPane(r, w), append(m.decisionPane(r, w), m.drainPane(r, w)...)
		if awaits(r) { // else what the last step brought comes first while it is fresh
			first, then = then, first
		}
		lines := append(first, then...)
		return append(append(lines, m.policyPane(r, w)...), m.producerPane(r, w)...)
	}
	if w < 100 {
		lines := m.queueCharts(r, w, h)
		if awaits(r) { // what waits for a hand comes before what explains it
			return append(title, m.scroll(append(append(why(w), lines...), m.lanePane(r, w)...), h-len(title))...)
		}
		return append(title, m.scroll(append(append(lines, m.lanePane(r, w)...), why(w)...), h-len(title))...)
	}
	left := w * 60 / 100
	b := why(w - left - gap)
	if len(b) > h-len(title) {
		h-- // the line that says so must not cover the last lane
	}
	a := append(m.queueCharts(r, left, h), m.lanePane(r, left)...)
	return append(title, m.scroll(beside(a, b, left, gap, m.g.dots), full-len(title))...)
}

func (m *Model) queueTitle(r row, w int) []line {
	var l line
	mark, sign := m.mark(r)
	if sign != " " {
		l.add(mark, sign+" ")
	}
	l.add(roleStrong, cut(r.label, max(w-50, 16), m.g.dots)).add(roleText, "  ")
	_, shards := m.shardCell(r)
	l.add(roleDim, "S ").add(roleStrong, shards)
	mode, name := modeCell(r)
	l.add(roleText, "  ").add(mode, name)
	if d := r.decision; d != nil && d.Policy.Max > 0 {
		l.add(roleDim, "  max ").add(roleText, shardCount(d.Policy.Max))
	}
	if pinned(r) {
		l.add(roleText, "  ").add(roleWarn, m.g.pin+" pinned")
	}
	if d := r.decision; d != nil && (d.Policy.PauseUp != nil || d.Policy.PauseDown != nil) {
		l.add(roleText, "  ").add(roleWarn, "braked")
	}
	if d := drains(r); d != nil && d.State == control.DrainUnknown {
		l.add(roleText, "  ").add(roleWarn, m.g.down2+" "+d.Short())
	} else if d != nil {
		l.add(roleText, "  ").add(roleWarn, m.g.down2+" DRAINING")
	}
	role, applied := m.appliedCell(r)
	l.add(roleText, "  ").add(role, applied).add(roleDim, " producers on S")
	l.add(roleDim, "  waits on ")
	on := m.memory.words(string(r.reading.Bottleneck))
	if on == "" {
		on = absent
	}
	l.add(causeRole(causeOf(r.reading.Bottleneck)), on)
	return []line{l.clip(w, m.g.dots)}
}

// queueCharts are waiters, share, shards, events and causes over one time axis.
func (m *Model) queueCharts(r row, w, h int) []line {
	s := m.charts(plotColumns(w, m.g))
	strip := stripHeight(h)
	spare := h - 12 - strip - min(max(len(r.reading.Lanes), 1), 8)
	wh := min(max(spare*3/5, 3), 20)
	sh := min(max(spare*2/5, 3), 12)
	lines := []line{section("Waiting sessions, "+m.spanName(s), count(m.figure(r, seriesWaiters))+" "+strings.TrimSpace(m.axisEnd()), w, m.g)}
	lines = append(lines, m.waitersChart(r, w, wh)...)
	lines = append(lines, section("Wait share", m.shareFact(r), w, m.g))
	lines = append(lines, m.shareChart(r, s, w, sh)...)
	lines = append(lines, markStrip(r.marks, s, w, m.g), shardStrip(r.history.counts(s), w, m.g))
	lines = append(lines, m.causeStrips(r, s, w, strip)...)
	lines = append(lines, timeAxis(s, w, m.axisEnd(), m.g), m.causeLine(r.reading.Causes))
	if r.history.at(s) == nil {
		lines = append(lines, text(roleDim, cut("  longer than 15 min is kept only once somebody has waited; nobody has", w, m.g.dots)))
	}
	if l, ok := m.holderLine(r); ok {
		lines = append(lines, l)
	}
	return append(lines, m.flowLines(r, w)...)
}

func (m *Model) shareFact(r row) string {
	fact := percent(m.figure(r, seriesShare))
	if r.reading.WindowS > 0 {
		fact += " over " + seconds(control.Some(r.reading.WindowS))
	}
	if r.reading.ShareLow.OK() && r.reading.ShareHigh.OK() {
		fact += ", 95% in " + percent(r.reading.ShareLow) + ".." + percent(r.reading.ShareHigh)
	}
	return fact
}

func (m *Model) shareChart(r row, s span, w, h int) []line {
	return plot{w: w, h: h, top: 1, role: roleWarn, label: percentLabel,
		data: r.history.means(seriesShare, s), low: r.history.means(seriesLow, s), high: r.history.means(seriesHigh, s)}.draw(m.g)
}

func (m *Model) waitersChart(r row, w, h int) []line {
	s := m.charts(plotColumns(w, m.g))
	data := r.history.means(seriesWaiters, s)
	top := 0.0
	for _, v := range data {
		if v == v {
			top = max(top, v)
		}
	}
	return plot{w: w, h: h, top: niceTop(top, 1), data: data, area: true, role: roleAccent, label: scaleLabel}.draw(m.g)
}

// causeLine is the waits by cause in shares, over the reading's window.
func (m *Model) causeLine(c control.Causes) line {
	var l line
	l.pad(axisWidth)
	parts := []struct {
		name string
		v    control.Value
		c    byte
	}{{"lane", c.Lane, causeLane}, {"notify", c.Notify, causeNotify}, {"stuck", c.Stuck, causeStuck}, {"hidden", c.Unknown, causeUnknown}}
	for i, p := range parts {
		if i > 0 {
			l.add(roleText, "  ")
		}
		r := roleDim
		if p.v.Or(0) > 0 {
			r = causeRole(p.c)
		}
		l.add(r, m.g.causes[p.c]+" ").add(roleDim, p.name+" ").add(r, percent(p.v))
	}
	return l
}

// holderLine names the session that most stand behind. Nothing when nobody does.
func (m *Model) holderLine(r row) (line, bool) {
	h := r.behind
	var l line
	if h == nil {
		return l, false
	}
	l.add(causeRole(causeOf(h.Class)), m.g.causes[causeOf(h.Class)]+" ")
	l.add(roleText, control.Plural(h.Waiters, "session")+" behind pid "+strconv.Itoa(h.PID))
	if h.Application != "" {
		l.add(roleStrong, " "+safe(h.Application, m.g.ascii))
	}
	where := []string{fmt.Sprintf(", lane %d/%d", h.Priority, h.Shard)}
	for _, s := range []string{h.User, h.Client} {
		if s != "" {
			where = append(where, safe(s, m.g.ascii))
		}
	}
	from := strings.Join(where, " ") // last: a narrow window cuts it off first
	if h.Hidden {
		l.add(roleWarn, ", what it does is hidden from our role").add(roleDim, from)
		return l, true
	}
	l.add(roleDim, ", transaction ").add(roleStrong, seconds(h.XactAgeS))
	state := safe(h.State, m.g.ascii)
	if h.WaitEvent != "" {
		state += " in " + safe(h.WaitEvent, m.g.ascii)
	}
	if state != "" {
		l.add(roleDim, ", ").add(roleText, state)
	}
	l.add(roleDim, from)
	return l, true
}

// flowLines are what goes through the queue, with small charts.
func (m *Model) flowLines(r row, w int) []line {
	cw := min(max(w-40, 0), 30)
	s := m.charts(cw)
	one := func(name, value, unit string, series int, extra string) line {
		var l line
		l.cell(roleDim, name, 10, false, "").cell(roleText, value, 6, true, "").cell(roleDim, unit, 8, false, "")
		data := r.history.means(series, s)
		top := 0.0
		for _, v := range data {
			if v == v {
				top = max(top, v)
			}
		}
		l.add(roleAccent, sparkline(data, niceTop(top, 1), m.g)).add(roleDim, extra)
		return l
	}
	return []line{
		one("enqueued", count(m.figure(r, seriesRate)), " jobs/s", seriesRate, "  wait "+seconds(r.reading.WaitPerEnqueueS)+" each"),
		one("ready", whole(m.figure(r, seriesDepth)), " jobs", seriesDepth, "  lag "+seconds(m.figure(r, seriesLag))),
	}
}
