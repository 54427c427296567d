package tui

import (
	"cmp"
	"math"
	"strconv"

	"shardpilot/control"
)

// lanePane is the lanes by priority and shard, with who holds each when that
// was seen lately.
func (m *Model) lanePane(r row, w int) []line {
	lines := []line{section("Lanes", m.lanesFact(r), w, m.g)}
	if r.past {
		return append(lines, text(roleFaint, absent+": lanes of the past are not kept"))
	}
	type lane = control.LaneReading
	cols := fitColumns([]column[lane]{
		{title: "prio", w: 4, right: true, prio: 0, cell: func(l lane) (role, string) { return roleText, strconv.Itoa(l.Priority) }},
		{title: "shard", w: 5, right: true, prio: 0, cell: func(l lane) (role, string) { return m.laneShard(l, r.reading) }},
		{title: "wait", w: 6, right: true, prio: 1, cell: func(l lane) (role, string) { return quietZero(l.Waiters), count(l.Waiters) }},
		{title: "busy", w: 5, right: true, prio: 2, cell: func(l lane) (role, string) { return quietZero(l.Busy), percent(l.Busy) }},
		{title: "", w: 8, prio: 7, cell: func(l lane) (role, string) { return roleAccent, m.bar(l.Busy, 8) }},
		{title: "depth", w: 6, right: true, prio: 3, cell: func(l lane) (role, string) { return quietZero(l.Depth), whole(l.Depth) }},
		{title: "lag", w: 6, right: true, prio: 4, cell: func(l lane) (role, string) { return quietZero(l.LagS), seconds(l.LagS) }},
		{title: "jobs/s", w: 7, right: true, prio: 5, cell: func(l lane) (role, string) { return quietZero(l.Rate), count(l.Rate) }},
		{title: "held by", w: 14, grow: 60, prio: 6, cell: func(l lane) (role, string) { return m.laneHolder(r, l) }},
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

// laneHolder says who has a lane, for how long and doing what: dim when that
// was not seen at the newest reading.
func (m *Model) laneHolder(r row, l control.LaneReading) (role, string) {
	h, ok := r.holders[lane{l.Priority, l.Shard}]
	switch {
	case !ok || r.reading.At.Sub(h.at) > heldFor:
		return roleFaint, ""
	case h.Hidden:
		return roleDim, "pid " + strconv.Itoa(h.PID) + ", hidden"
	}
	as := roleText
	if !h.at.Equal(r.reading.At) {
		as = roleFaint
	} else if h.Class == control.BottleneckStuck {
		as = roleBad
	}
	words := safe(cmp.Or(h.Application, "pid "+strconv.Itoa(h.PID)), m.g.ascii)
	if h.XactAgeS.OK() { // it has moved on since, and what it does now is not what kept the lane
		words += " " + seconds(h.XactAgeS)
	}
	return as, words + spaced(safe(cmp.Or(h.WaitEvent, h.State), m.g.ascii))
}

// laneShard marks lanes that remain from a higher count: they drain.
func (m *Model) laneShard(l control.LaneReading, r *control.Reading) (role, string) {
	if r.Shards > 0 && l.Shard >= r.Shards {
		return roleWarn, m.g.down2 + " " + strconv.Itoa(l.Shard)
	}
	return roleText, strconv.Itoa(l.Shard)
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
