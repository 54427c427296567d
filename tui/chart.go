package tui

import (
	"math"
	"strings"
)

// axisWidth is the room left of every chart for labels and the axis. It is the
// same for all, so that charts above one another share their time axis.
const axisWidth = 6

// plot is one chart: values over time, one a column, on a scale of 0..top.
// NaN and infinities are gaps, values off the scale are drawn at its edge.
type plot struct {
	w, h  int // columns and lines, the axis included
	top   float64
	data  []float64
	low   []float64 // the interval around data, nil when there is none
	high  []float64
	area  bool // filled from below, otherwise a line
	role  role
	label func(float64) string
}

// plotColumns is how many values fit a chart of w columns.
func plotColumns(w int, g *glyphs) int {
	n := max(w-axisWidth, 0)
	if g.braille {
		return 2 * n
	}
	return n
}

// draw gives exactly h lines of w columns, or none when there is no room.
func (p plot) draw(g *glyphs) []line {
	if p.w <= axisWidth || p.h <= 0 {
		return make([]line, max(p.h, 0))
	}
	cw := p.w - axisWidth
	var cells []cell
	if g.braille {
		cells = p.braille(cw)
	} else {
		cells = p.blocks(cw, g)
	}
	out := make([]line, p.h)
	for y := range out {
		l := &out[y]
		p.axis(l, y, g)
		addCells(l, cells[y*cw:(y+1)*cw])
	}
	return out
}

func (p plot) axis(l *line, y int, g *glyphs) {
	label := ""
	switch {
	case y == 0:
		label = p.label(p.top)
	case y == p.h-1:
		label = "0"
	case p.h >= 5 && p.h%2 == 1 && y == p.h/2:
		label = p.label(p.top / 2)
	}
	mark := g.axis
	if label != "" {
		mark = g.axisTick
	}
	l.cell(roleDim, label, axisWidth-1, true, "")
	l.add(roleFaint, mark)
}

// cell is one character of a drawing; the empty string is a blank.
type cell struct {
	s string
	r role
}

func addCells(l *line, cells []cell) {
	for i := 0; i < len(cells); {
		j := i
		var b strings.Builder
		r := cells[i].r
		for ; j < len(cells) && (cells[j].r == r || cells[j].s == ""); j++ {
			if cells[j].s == "" {
				b.WriteByte(' ')
			} else {
				b.WriteString(cells[j].s)
			}
		}
		l.segs = append(l.segs, seg{s: b.String(), w: j - i, r: r})
		l.w += j - i
		i = j
	}
}

// brailleDots are the bits of the dots of a cell, [column][row from the top].
var brailleDots = [2][4]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// canvas is a field of braille dots. Each cell shows one role: the highest
// layer that has a dot in it.
type canvas struct {
	w, h  int // cells
	bits  []uint8
	layer []uint8
}

func (c *canvas) dot(x, y int, layer uint8) {
	if x < 0 || y < 0 || x >= 2*c.w || y >= 4*c.h {
		return
	}
	i := y/4*c.w + x/2
	c.bits[i] |= brailleDots[x%2][y%4]
	c.layer[i] = max(c.layer[i], layer)
}

func (p plot) braille(cw int) []cell {
	c := &canvas{w: cw, h: p.h, bits: make([]uint8, cw*p.h), layer: make([]uint8, cw*p.h)}
	rows := 4 * p.h
	last := -1
	for x := range 2 * cw {
		p.brailleBand(c, x, rows)
		n := level(at(p.data, x), p.top, rows-1)
		if n < 0 {
			last = -1
			continue
		}
		y := rows - 1 - n
		to := y
		switch {
		case p.area:
			to = rows - 1
		case last >= 0:
			to = last
		}
		for k := min(y, to); k <= max(y, to); k++ {
			c.dot(x, k, 2)
		}
		last = y
	}
	return p.cellsOf(c)
}

func (p plot) brailleBand(c *canvas, x, rows int) {
	lo, hi := level(at(p.low, x), p.top, rows-1), level(at(p.high, x), p.top, rows-1)
	if lo < 0 || hi < 0 {
		return
	}
	for n := lo; n <= hi; n++ {
		if (n+x)%2 == 0 {
			c.dot(x, rows-1-n, 1)
		}
	}
}

func (p plot) cellsOf(c *canvas) []cell {
	out := make([]cell, len(c.bits))
	for i, bits := range c.bits {
		if bits == 0 {
			continue
		}
		r := p.role
		if c.layer[i] == 1 {
			r = roleBand
		}
		out[i] = cell{s: string(rune(0x2800 + int(bits))), r: r}
	}
	return out
}

// blocks draws one value a cell: areas in eighths of a line, lines as points.
func (p plot) blocks(cw int, g *glyphs) []cell {
	out := make([]cell, cw*p.h)
	for x := range cw {
		lo, hi := level(at(p.low, x), p.top, p.h-1), level(at(p.high, x), p.top, p.h-1)
		for n := lo; lo >= 0 && n <= hi; n++ {
			out[(p.h-1-n)*cw+x] = cell{g.band, roleBand}
		}
		v := at(p.data, x)
		if !p.area {
			if n := level(v, p.top, p.h-1); n >= 0 {
				out[(p.h-1-n)*cw+x] = cell{g.point, p.role}
			}
			continue
		}
		n := level(v, p.top, p.h*8)
		if n < 0 {
			continue
		}
		n = max(n, 1) // zero is a flat line, a gap is nothing
		for y := 0; y < p.h && n > 0; y++ {
			out[(p.h-1-y)*cw+x] = cell{g.fill[min(n, 8)], p.role}
			n -= 8
		}
	}
	return out
}

func at(v []float64, i int) float64 {
	if i < 0 || i >= len(v) {
		return math.NaN()
	}
	return v[i]
}

// sparkline is one line of values on a scale of 0..top: blanks are gaps, the
// lowest sign is zero.
func sparkline(v []float64, top float64, g *glyphs) string {
	var b strings.Builder
	for _, f := range v {
		n := level(f, top, len(g.sparks)-1)
		if n < 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(g.sparks[n])
	}
	return b.String()
}
