package tui

import (
	"strconv"
	"strings"
)

// key names an entry for cursors.
func (e entry) key() string { return strconv.Itoa(e.id) }

// entries are those of the log that have the filter's text in their queue,
// action, operator or words, the newest first.
func (m *Model) entries() []entry {
	needle := strings.ToLower(m.filters[screenDecisions])
	out := make([]entry, 0, len(m.memory.log))
	for i := len(m.memory.log) - 1; i >= 0; i-- {
		if e := m.memory.log[i]; needle == "" || strings.Contains(e.text, needle) {
			out = append(out, e)
		}
	}
	return out
}

func (m *Model) entryUnderCursor() (entry, bool) {
	list := m.entries()
	c := &m.list[screenDecisions]
	c.atTop = true
	i := c.place(len(list), func(i int) string { return list[i].key() })
	if i < 0 {
		return entry{}, false
	}
	return list[i], true
}

// decisionsPage is what changed since the dashboard was opened, newest first.
func (m *Model) decisionsPage(w, h int) []line {
	if len(m.memory.log) == 0 {
		return []line{{}, text(roleText, "  Nothing has changed since this dashboard was opened."),
			text(roleDim, "  Decisions appear here when they become others; shardpilot log prints the whole record.")}
	}
	e, ok := m.entryUnderCursor()
	if !ok {
		return []line{{}, text(roleDim, "  no entry has \""+m.filter()+"\" in it; esc clears the filter")}
	}
	detail := []line{section(cut(e.label, w/2, m.g.dots), e.kind+" "+e.change, w, m.g)}
	for _, s := range wrap(e.detail, w-2, 2, m.g.dots) {
		detail = append(detail, text(roleText, "  "+s))
	}
	if h < 8 {
		detail = nil
	}
	for len(detail) > 0 && len(detail) < 3 {
		detail = append(detail, line{})
	}
	lines := m.entryTable(w, h-len(detail))
	for len(lines) < h-len(detail) {
		lines = append(lines, line{})
	}
	return append(lines, detail...)
}

func (m *Model) entryTable(w, h int) []line {
	list := m.entries()
	queue, why := 8, 8
	for _, e := range list {
		queue, why = max(queue, width(e.label)), max(why, width(e.reason))
	}
	cols := fitColumns([]column[entry]{
		{title: "TIME " + m.opt.Now().Format("MST"), w: 12, prio: 1, cell: func(e entry) (role, string) { return roleDim, m.timeOf(e.at) }},
		{title: "QUEUE", w: 12, grow: min(queue, 32) - 12, prio: 0, cell: func(e entry) (role, string) { return roleStrong, e.label }},
		{title: "WHAT", w: 12, prio: 0, cell: func(e entry) (role, string) { return e.role, e.kind }},
		{title: "S", w: 5, prio: 2, cell: func(e entry) (role, string) { return roleText, e.change }},
		{title: "WHY", w: 16, grow: min(why, 26) - 16, prio: 3, cell: func(e entry) (role, string) { return roleText, e.reason }},
		{title: "", w: 10, grow: 120, prio: 4, cell: func(e entry) (role, string) { return roleDim, e.detail }},
	}, w-2, 2)
	head := text(roleText, "  ")
	head.join(headLine(cols, 2, m.g.dots))
	lines := []line{head}
	c := &m.list[screenDecisions]
	first := c.window(len(list), h-1)
	for i := first; i < len(list) && len(lines) < h; i++ {
		lines = append(lines, m.itemLine(i, c.index, bodyLine(cols, 2, m.g.dots, list[i])))
	}
	return lines
}

// listLine puts the cursor, or room for it, before a line of a list.
func (m *Model) listLine(selected bool, body line) line {
	var l line
	if selected {
		l.add(roleAccent, m.g.cursor+" ")
		l.selected = true
	} else {
		l.add(roleText, "  ")
	}
	return *l.join(body)
}
