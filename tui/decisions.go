package tui

import "strconv"

// entryAt is the i-th entry of the log, the newest first.
func (m *Model) entryAt(i int) entry { return m.memory.log[len(m.memory.log)-1-i] }

func (m *Model) entryID(i int) string { return strconv.Itoa(m.entryAt(i).id) }

func (m *Model) entryUnderCursor() (entry, bool) {
	c := &m.list[screenDecisions]
	c.atTop = true
	i := c.place(len(m.memory.log), m.entryID)
	if i < 0 {
		return entry{}, false
	}
	return m.entryAt(i), true
}

// decisionsPage is what changed since the dashboard was opened, newest first.
func (m *Model) decisionsPage(w, h int) []line {
	if len(m.memory.log) == 0 {
		return []line{{}, text(roleText, "  Nothing has changed since this dashboard was opened."),
			text(roleDim, "  Decisions appear here when they become others; shardpilot log prints the whole record.")}
	}
	e, _ := m.entryUnderCursor()
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
	cols := fitColumns([]column[entry]{
		{title: "TIME " + m.opt.Now().Format("MST"), w: 12, prio: 1, cell: func(e entry) (role, string) { return roleDim, m.timeOf(e.at) }},
		{title: "QUEUE", w: 12, grow: 20, prio: 0, cell: func(e entry) (role, string) { return roleStrong, e.label }},
		{title: "WHAT", w: 12, prio: 0, cell: func(e entry) (role, string) { return e.role, e.kind }},
		{title: "S", w: 6, prio: 2, cell: func(e entry) (role, string) { return roleText, e.change }},
		{title: "WHY", w: 16, grow: 30, prio: 3, cell: func(e entry) (role, string) { return roleText, e.reason }},
		{title: "", w: 10, grow: 120, prio: 4, cell: func(e entry) (role, string) { return roleDim, e.detail }},
	}, w-2, 2)
	head := text(roleText, "  ")
	head.join(headLine(cols, 2, m.g.dots))
	lines := []line{head}
	c := &m.list[screenDecisions]
	first := c.window(len(m.memory.log), h-1)
	for i := first; i < len(m.memory.log) && len(lines) < h; i++ {
		lines = append(lines, m.listLine(i == c.index, bodyLine(cols, 2, m.g.dots, m.entryAt(i))))
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
