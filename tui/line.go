package tui

import "strings"

// seg is a stretch of safe text in one role. w is its width in columns.
type seg struct {
	s string
	w int
	r role
}

// line is one line of a pane. It knows its width, so nobody has to measure.
type line struct {
	segs     []seg
	w        int
	selected bool // stands on the cursor's ground, to its end
	item     int  // of the screen's list, from 1; 0 when it is none
}

// add appends safe text.
func (l *line) add(r role, s string) *line {
	return l.put(r, s, width(s))
}

// put appends safe text of n columns.
func (l *line) put(r role, s string, n int) *line {
	if s == "" {
		return l
	}
	if k := len(l.segs); k > 0 && l.segs[k-1].r == r && !unstable(l.segs[k-1].s) {
		l.segs[k-1].s += s
		l.segs[k-1].w += n
	} else {
		l.segs = append(l.segs, seg{s: s, w: n, r: r})
	}
	l.w += n
	return l
}

// pad fills with spaces up to column w.
func (l *line) pad(w int) *line {
	if n := w - l.w; n > 0 {
		l.put(roleText, spaces(n), n)
	}
	return l
}

// cell appends text in exactly w columns, cut or padded, to the left or right.
func (l *line) cell(r role, s string, w int, right bool, tail string) *line {
	if w <= 0 {
		return l
	}
	n := width(s)
	if n > w {
		s = cut(s, w, tail)
		n = width(s)
	}
	if right {
		l.pad(l.w + w - n)
	}
	l.put(r, s, n)
	if !right {
		l.pad(l.w + w - n)
	}
	return l
}

// join appends other, which keeps its roles.
func (l *line) join(other line) *line {
	l.segs = append(l.segs, other.segs...)
	l.w += other.w
	return l
}

// clip cuts the line to w columns.
func (l line) clip(w int, tail string) line {
	if l.w <= w {
		return l
	}
	out := line{selected: l.selected}
	for _, s := range l.segs {
		if out.w+s.w > w {
			out.add(s.r, cut(s.s, w-out.w, tail))
			return out
		}
		out.segs = append(out.segs, s)
		out.w += s.w
	}
	return out
}

func text(r role, s string) line {
	var l line
	l.add(r, s)
	return l
}

const blanks = "                                                                                                    "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// beside puts right next to left, which is given width w and a gap.
func beside(left, right []line, w, gap int, tail string) []line {
	n := max(len(left), len(right))
	out := make([]line, n)
	for i := range out {
		var l line
		if i < len(left) {
			l.join(left[i].clip(w, tail))
		}
		l.pad(w + gap)
		if i < len(right) {
			l.join(right[i])
		}
		out[i] = l
	}
	return out
}
