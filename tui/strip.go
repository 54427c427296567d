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

// stackStrip shows over time, h lines high, how the waiting divides among its
// causes: every column where anybody waited is full, from the bottom up by
// lane, notify, stuck, hidden. Nobody waiting is a dot, no data is nothing.
func stackStrip(shares [][len(stacked)]float64, worst []byte, w, h int, g *glyphs) []line {
	cw := max(w-axisWidth, 0)
	perCell := max(len(shares)/max(cw, 1), 1)
	cells := make([]cell, cw*h)
	for x := range cw {
		var sum [len(stacked)]float64
		for i := x * perCell; i < (x+1)*perCell && i < len(shares); i++ {
			for k := range sum {
				sum[k] += shares[i][k]
			}
		}
		for y, c := range stackCells(sum, newestOf(worst, x*perCell, perCell), h) {
			switch {
			case c == causeGap:
			case c == causeNone:
				cells[(h-1-y)*cw+x] = cell{g.causes[causeNone], roleFaint}
			default:
				cells[(h-1-y)*cw+x] = cell{g.stack[c], causeRole(c)}
			}
		}
	}
	out := make([]line, h)
	for y := range out {
		name := ""
		if y == h/2 {
			name = "why"
		}
		out[y] = stripLabel(name, g)
		addCells(&out[y], cells[y*cw:(y+1)*cw])
	}
	return out
}

// stackCells divides a column of h cells, from the bottom up.
func stackCells(sum [len(stacked)]float64, worst byte, h int) []byte {
	out := make([]byte, h)
	total := 0.0
	for _, v := range sum {
		total += v
	}
	switch {
	case total > 0:
	case worst > causeNone: // shares were not read, what they wait for was
		for y := range out {
			out[y] = worst
		}
		return out
	case worst == causeNone && h > 0:
		out[0] = causeNone
		return out
	default:
		return out
	}
	for y := range out { // what stands at the middle of each cell
		at := (float64(y) + 0.5) / float64(h) * total
		for k, v := range sum {
			if at -= v; at < 0 {
				out[y] = stacked[k]
				break
			}
		}
		if out[y] == causeGap {
			out[y] = worst
		}
	}
	return out
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
// stand at round spans and end at what the right edge is.
func timeAxis(s span, w int, end string, g *glyphs) line {
	var l line
	l.pad(axisWidth - 1)
	cw := max(w-axisWidth, 0)
	if cw == 0 || s.cols == 0 {
		return l
	}
	perCell := float64(s.per*s.step()) / float64(s.wide) * float64(s.cols) / float64(cw)
	row := []rune(strings.Repeat(g.rule, cw))
	put := func(x int, label string) {
		for i, r := range label {
			if x+i >= 0 && x+i < cw {
				row[x+i] = r
			}
		}
	}
	every := axisStep(perCell * 16)
	for ago := every; ago < perCell*float64(cw-len(end)); ago += every {
		label := "-" + axisSpan(int64(ago))
		put(cw-1-int(ago/perCell), label)
	}
	put(cw-len(end), end)
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
