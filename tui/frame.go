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
	col, now, ground := 0, "", false
	put := func(r role, s string) {
		style := t.style(r, l.selected, grey)
		// Spaces look the same in every style that has no ground of its own:
		// not changing for them saves a third of what is sent.
		if style != now && (ground || l.selected || !blank(s) || hasGround(r)) {
			switch {
			case now == "":
				b.WriteString(style)
			case style == "":
				b.WriteString(t.off)
			default: // off and on in one sequence
				b.WriteString("\x1b[0;" + style[len("\x1b["):])
			}
			now, ground = style, hasGround(r)
		}
		b.WriteString(s)
	}
	for _, s := range l.segs {
		put(s.r, s.s)
		col += s.w
		if unstable(s.s) && col < w {
			b.WriteString("\x1b[" + strconv.Itoa(col+1) + "G")
		}
	}
	if col < w {
		put(roleText, spaces(w-col))
	}
	if now != "" {
		b.WriteString(t.off)
	}
}

func blank(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' {
			return false
		}
	}
	return true
}

// hasGround says whether a role colours the space behind its text.
func hasGround(r role) bool {
	switch r {
	case roleBadge, roleLabel, roleShadow, roleEnforce, roleBanner:
		return true
	}
	return false
}

func (t *theme) style(r role, selected, grey bool) string {
	switch {
	case !t.colored:
		return ""
	case grey && !hasGround(r):
		return t.grey
	case selected:
		return t.selected[r]
	}
	return t.on[r]
}
