package tui

// column is one column of a table of T.
type column[T any] struct {
	title string
	w     int // width, or the least width when it grows
	grow  int // most it may grow by, 0 for a fixed column
	prio  int // the highest numbers fall away first
	right bool
	cell  func(T) (role, string)
}

// fitColumns chooses the columns that fit w by priority, in their order, and
// lets the growing ones share what is left in the order of priority.
func fitColumns[T any](cols []column[T], w, gap int) []column[T] {
	var out []column[T]
	for limit := maxPrio(cols); limit >= 0; limit-- {
		out = out[:0]
		need := -gap
		for _, c := range cols {
			if c.prio <= limit {
				out = append(out, c)
				need += c.w + gap
			}
		}
		if need > w && limit > 0 {
			continue
		}
		spread(out, w-need)
		break
	}
	return out
}

func maxPrio[T any](cols []column[T]) int {
	n := 0
	for _, c := range cols {
		n = max(n, c.prio)
	}
	return n
}

func spread[T any](cols []column[T], left int) {
	for prio := 0; left > 0 && prio <= maxPrio(cols); prio++ {
		for i := range cols {
			if cols[i].prio == prio && cols[i].grow > 0 {
				n := min(left, cols[i].grow)
				cols[i].w += n
				left -= n
			}
		}
	}
}

func headLine[T any](cols []column[T], gap int, tail string) line {
	var l line
	for i, c := range cols {
		if i > 0 {
			l.add(roleText, spaces(gap))
		}
		l.cell(roleDim, c.title, c.w, c.right, tail)
	}
	return l
}

func bodyLine[T any](cols []column[T], gap int, tail string, t T) line {
	var l line
	for i, c := range cols {
		if i > 0 {
			l.add(roleText, spaces(gap))
		}
		r, s := c.cell(t)
		l.cell(r, s, c.w, c.right, tail)
	}
	return l
}

// section is the heading of a pane: a name, a rule, and a fact at its end.
func section(title, fact string, w int, g *glyphs) line {
	var l line
	l.add(roleTitle, cut(title, w, g.dots))
	room := w - l.w - width(fact)
	if fact != "" {
		room -= 2
	}
	if room < 3 {
		return l
	}
	l.add(roleText, " ").add(roleFaint, repeat(g.rule, room-1))
	if fact != "" {
		l.add(roleText, " ").add(roleDim, fact)
	}
	return l
}

func repeat(s string, n int) string {
	b := make([]byte, 0, n*len(s))
	for range n {
		b = append(b, s...)
	}
	return string(b)
}
