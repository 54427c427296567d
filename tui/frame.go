package tui

import (
	"strconv"
	"strings"
)

// frame turns lines into exactly h lines of exactly w columns with the theme's
// escape sequences. It is the only place that writes any.
func frame(lines []line, w, h int, t *theme, g *glyphs, grey func(i int) bool) string {
	if h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(h * (w*2 + 16))
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		var l line
		if i < len(lines) {
			l = lines[i].clip(w, g.dots)
		}
		encode(&b, l, w, t, grey != nil && grey(i))
	}
	return b.String()
}

func encode(b *strings.Builder, l line, w int, t *theme, grey bool) {
	col, now := 0, ""
	put := func(style, s string) {
		if style != now {
			if now != "" {
				b.WriteString(t.off)
			}
			b.WriteString(style)
			now = style
		}
		b.WriteString(s)
	}
	for _, s := range l.segs {
		put(t.style(s.r, l.selected, grey), s.s)
		col += s.w
		if unstable(s.s) && col < w {
			b.WriteString("\x1b[" + strconv.Itoa(col+1) + "G")
		}
	}
	if col < w {
		put(t.style(roleText, l.selected, grey), spaces(w-col))
	}
	if now != "" {
		b.WriteString(t.off)
	}
}

func (t *theme) style(r role, selected, grey bool) string {
	switch {
	case !t.colored:
		return ""
	case grey && r != roleBanner && r != roleBadge && r != roleShadow && r != roleEnforce:
		return t.grey
	case selected:
		return t.selected[r]
	}
	return t.on[r]
}
