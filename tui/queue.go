package tui

import (
	"fmt"
	"math"
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
	title := m.queueTitle(r, w)
	if h < 20 && h >= 8 {
		title = append(title, m.decisionLines(r, w, 1)...) // the page below starts with charts
	}
	const gap = 3
	if w < 100 {
		lines := append(m.queueCharts(r, w, h), m.decisionPane(r, w)...)
		lines = append(lines, m.lanePane(r, w)...)
		lines = append(lines, m.producerPane(r, w)...)
		return append(title, m.scroll(lines, h-len(title))...)
	}
	left := w * 60 / 100
	right := w - left - gap
	a := append(m.queueCharts(r, left, h), m.lanePane(r, left)...)
	b := append(m.decisionPane(r, right), m.producerPane(r, right)...)
	return append(title, m.scroll(beside(a, b, left, gap, m.g.dots), h-len(title))...)
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
	l.add(roleDim, "  applied ")
	role, applied := m.appliedCell(r)
	l.add(role, applied)
	l.add(roleDim, "  waits on ")
	l.add(causeRole(causeOf(r.reading.Bottleneck)), m.memory.words(string(r.reading.Bottleneck)))
	return []line{l.clip(w, m.g.dots)}
}

// queueCharts are waiters, share, shards and causes over one time axis.
func (m *Model) queueCharts(r row, w, h int) []line {
	s := newSpan(m.clock().Unix(), spans[m.span], plotColumns(w, m.g), finest)
	spare := h - 14 - min(len(r.reading.Lanes), 8)
	wh := min(max(spare*3/5, 3), 15)
	sh := min(max(spare*2/5, 3), 9)
	lines := []line{section("Waiting sessions", count(r.reading.Waiters)+" now", w, m.g)}
	lines = append(lines, m.waitersChart(r, w, wh)...)
	fact := percent(r.reading.Share)
	if r.reading.WindowS > 0 {
		fact += " over " + seconds(control.Some(r.reading.WindowS))
	}
	if r.reading.ShareLow.OK() && r.reading.ShareHigh.OK() {
		fact += ", 95% in " + percent(r.reading.ShareLow) + ".." + percent(r.reading.ShareHigh)
	}
	lines = append(lines, section("Wait share", fact, w, m.g))
	lines = append(lines, plot{w: w, h: sh, top: 1, role: roleWarn, label: percentLabel,
		data: r.history.means(seriesShare, s), low: r.history.means(seriesLow, s), high: r.history.means(seriesHigh, s)}.draw(m.g)...)
	lines = append(lines,
		shardStrip(r.history.lasts(r.history.shards, s), w, m.g),
		causeStrip(r.history.lasts(r.history.cause, s), w, m.g),
		timeAxis(s, w, finest, m.g),
		m.causeLine(r.reading.Causes))
	if l, ok := m.holderLine(r); ok {
		lines = append(lines, l)
	}
	return append(lines, m.flowLines(r, w)...)
}

func (m *Model) waitersChart(r row, w, h int) []line {
	s := newSpan(m.clock().Unix(), spans[m.span], plotColumns(w, m.g), finest)
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
	h := r.reading.Holder
	var l line
	if h == nil {
		return l, false
	}
	l.add(causeRole(causeOf(h.Class)), m.g.causes[causeOf(h.Class)]+" ")
	l.add(roleText, plural(h.Waiters, "session")+" behind pid "+strconv.Itoa(h.PID))
	var who []string
	for _, s := range []string{h.Application, h.User, h.Client} {
		if s != "" {
			who = append(who, safe(s, m.g.ascii))
		}
	}
	if len(who) > 0 {
		l.add(roleStrong, " "+strings.Join(who, " "))
	}
	l.add(roleDim, fmt.Sprintf(" lane %d/%d", h.Priority, h.Shard))
	if h.Hidden {
		l.add(roleWarn, " what it does is hidden from our role")
		return l, true
	}
	l.add(roleDim, ", transaction ").add(roleText, seconds(h.XactAgeS))
	state := safe(h.State, m.g.ascii)
	if h.WaitEvent != "" {
		state += " in " + safe(h.WaitEvent, m.g.ascii)
	}
	if state != "" {
		l.add(roleDim, ", ").add(roleText, state)
	}
	return l, true
}

// flowLines are what goes through the queue, with small charts.
func (m *Model) flowLines(r row, w int) []line {
	cw := min(max(w-40, 0), 30)
	s := newSpan(m.clock().Unix(), spans[m.span], cw, finest)
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
		one("enqueued", count(r.reading.EnqueueRate), " jobs/s", seriesRate, "  wait "+seconds(r.reading.WaitPerEnqueueS)+" each"),
		one("ready", whole(r.reading.Depth), " jobs", seriesDepth, "  lag "+seconds(r.reading.LagS)),
	}
}

// lanePane is the lanes, the most waited for first when there are many.
func (m *Model) lanePane(r row, w int) []line {
	lines := []line{section("Lanes", plural(len(r.reading.Lanes), "lane"), w, m.g)}
	type lane = control.LaneReading
	cols := fitColumns([]column[lane]{
		{title: "prio", w: 4, right: true, prio: 0, cell: func(l lane) (role, string) { return roleText, strconv.Itoa(l.Priority) }},
		{title: "shard", w: 5, right: true, prio: 0, cell: func(l lane) (role, string) { return laneRole(l, r.reading), strconv.Itoa(l.Shard) }},
		{title: "wait", w: 6, right: true, prio: 1, cell: func(l lane) (role, string) { return quietZero(l.Waiters), count(l.Waiters) }},
		{title: "busy", w: 5, right: true, prio: 2, cell: func(l lane) (role, string) { return quietZero(l.Busy), percent(l.Busy) }},
		{title: "", w: 4, grow: 12, prio: 6, cell: func(l lane) (role, string) { return roleAccent, m.bar(l.Busy, 16) }},
		{title: "depth", w: 6, right: true, prio: 3, cell: func(l lane) (role, string) { return quietZero(l.Depth), whole(l.Depth) }},
		{title: "lag", w: 6, right: true, prio: 4, cell: func(l lane) (role, string) { return quietZero(l.LagS), seconds(l.LagS) }},
		{title: "jobs/s", w: 7, right: true, prio: 5, cell: func(l lane) (role, string) { return quietZero(l.Rate), count(l.Rate) }},
	}, w, 1)
	lines = append(lines, headLine(cols, 1, ""))
	for _, l := range r.reading.Lanes {
		lines = append(lines, bodyLine(cols, 1, m.g.dots, l))
	}
	if len(r.reading.Lanes) == 0 {
		lines = append(lines, text(roleFaint, "no lanes"))
	}
	return lines
}

// laneRole marks lanes that remain from a higher count: they drain.
func laneRole(l control.LaneReading, r *control.Reading) role {
	if r.Shards > 0 && l.Shard >= r.Shards {
		return roleWarn
	}
	return roleText
}

// bar is a share as a bar of at most w cells.
func (m *Model) bar(v control.Value, w int) string {
	f, ok := v.Get()
	if !ok || w <= 0 {
		return ""
	}
	n := int(math.Round(min(max(f, 0), 1) * float64(w)))
	return repeat(m.g.fill[4], n)
}
