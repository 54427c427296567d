package tui

import (
	"strconv"
	"strings"
)

// stripLabel starts a strip so that it lines up with the charts above it.
func stripLabel(name string, g *glyphs) line {
	var l line
	l.cell(roleDim, name, axisWidth-1, true, "")
	l.add(roleFaint, g.axis)
	return l
}

// shardStrip shows S over time as steps: a number wherever it became another,
// a mark before it when it is a change and not the beginning.
func shardStrip(shards []uint8, w int, g *glyphs) line {
	l := stripLabel("S", g)
	cw := max(w-axisWidth, 0)
	cells := make([]cell, cw)
	perCell := max(len(shards)/max(cw, 1), 1)
	prev := uint8(0)
	for x := 0; x < cw; x++ {
		now := newestOf(shards, x*perCell, perCell)
		if now == 0 {
			continue
		}
		if cells[x].s == "" {
			cells[x] = cell{g.step, roleFaint}
		}
		if now != prev {
			mark := strconv.Itoa(int(now))
			if prev != 0 {
				mark = g.change + mark
			}
			place(cells, x, mark, prev != 0)
		}
		prev = now
	}
	addCells(&l, cells)
	return l
}

func newestOf(v []uint8, from, n int) uint8 {
	out := uint8(0)
	for i := from; i < from+n && i < len(v); i++ {
		if v[i] != 0 {
			out = v[i]
		}
	}
	return out
}

// place writes mark into cells at x, moved left when it would not fit.
func place(cells []cell, x int, mark string, changed bool) {
	rs := []rune(mark)
	x = max(min(x, len(cells)-len(rs)), 0)
	r := roleText
	if changed {
		r = roleWarn
	}
	for i, c := range rs {
		if x+i < len(cells) {
			cells[x+i] = cell{string(c), r}
		}
	}
}

// causeStrip shows over time what the waits were behind.
func causeStrip(causes []byte, w int, g *glyphs) line {
	l := stripLabel("why", g)
	cw := max(w-axisWidth, 0)
	cells := make([]cell, cw)
	perCell := max(len(causes)/max(cw, 1), 1)
	for x := range cells {
		c := newestOf(causes, x*perCell, perCell)
		if c != causeGap {
			cells[x] = cell{g.causes[c], causeRole(c)}
		}
	}
	addCells(&l, cells)
	return l
}

func causeRole(c byte) role {
	switch c {
	case causeLane:
		return roleAccent
	case causeNotify:
		return roleNotify
	case causeStuck:
		return roleBad
	case causeUnknown:
		return roleDim
	}
	return roleFaint
}

// timeAxis is the line under charts: how long ago the columns were. The labels
// stand at whole parts of a minute and end at "now".
func timeAxis(s span, w int, t tier, g *glyphs) line {
	var l line
	l.pad(axisWidth - 1)
	cw := max(w-axisWidth, 0)
	if cw == 0 || s.cols == 0 {
		return l
	}
	perCell := float64(s.per*t.step) * float64(s.cols) / float64(cw)
	row := []rune(strings.Repeat(g.rule, cw))
	put := func(x int, label string) {
		for i, r := range label {
			if x+i >= 0 && x+i < cw {
				row[x+i] = r
			}
		}
	}
	every := axisStep(perCell * 16)
	for ago := every; ago < perCell*float64(cw-4); ago += every {
		label := "-" + axisSpan(int64(ago))
		put(cw-1-int(ago/perCell), label)
	}
	put(cw-4, " now")
	l.add(roleFaint, g.corner)
	l.add(roleFaint, string(row))
	return l
}

// axisStep is the distance of the labels: a round span, at least least seconds.
func axisStep(least float64) float64 {
	steps := [...]float64{5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200}
	for _, s := range steps {
		if s >= least {
			return s
		}
	}
	return steps[len(steps)-1]
}

func axisSpan(s int64) string {
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s%60 == 0 && s < 3600:
		return strconv.FormatInt(s/60, 10) + "m"
	case s%3600 == 0:
		return strconv.FormatInt(s/3600, 10) + "h"
	}
	return longSpan(s)
}
