package tui

import (
	"fmt"
	"time"
)

// The smallest window that shows anything but its own size.
const (
	needW = 40
	needH = 10
)

// draw makes the view. It is called after everything that changed the model, so
// View has nothing to do and cannot be slow.
func (m *Model) draw() {
	if m.w < needW || m.h < needH {
		m.view = m.tooSmall()
		m.items = nil
		return
	}
	head := append(m.header(m.w), m.banner(m.w)...)
	foot := append(m.problemLine(m.w), m.footer(m.w))
	bodyH := max(m.h-len(head)-len(foot), 0)
	switch {
	case m.menu != nil:
		asked := m.menuPart(m.w, bodyH)
		foot = append(asked, foot...)
		bodyH -= len(asked)
	case m.dialog != nil:
		asked := m.dialogPart(bodyH)
		foot = append(asked, foot...)
		bodyH -= len(asked)
	}
	body := m.body(m.w, bodyH)
	lines := make([]line, 0, m.h)
	lines = append(lines, head...)
	for i := range bodyH {
		if i < len(body) {
			lines = append(lines, body[i])
		} else {
			lines = append(lines, line{})
		}
	}
	lines = append(lines, foot...)
	m.keepItems(lines)
	from, to := len(head), len(head)+bodyH
	old := m.stale() && m.screen != screenHelp
	m.view = frame(lines, m.w, m.h, m.theme, m.g, func(i int) bool { return old && i >= from && i < to })
}

// dialogPart is the open dialog, or why it is not shown.
func (m *Model) dialogPart(h int) []line {
	if m.dialogFits() {
		return m.dialogLines(m.w)
	}
	return []line{text(roleWarn, cut(m.g.warn+" the window is too small for the question; esc leaves it", m.w, m.g.dots))}[:min(h, 1)]
}

func (m *Model) body(w, h int) []line {
	switch m.screen {
	case screenHelp:
		return m.helpPage(w, h)
	case screenHealth:
		return m.healthPage(w, h)
	case screenDecisions:
		return m.decisionsPage(w, h)
	case screenEntry:
		return m.entryPage(w, h)
	}
	if m.picture == nil {
		return m.nothingYet(w)
	}
	switch m.screen {
	case screenQueue:
		return m.queuePage(w, h)
	case screenProducers:
		return m.producersPage(w, h)
	}
	return m.overview(w, h)
}

// bodyHeight is what a page has at the current size, for page up and down.
func (m *Model) bodyHeight() int {
	return max(m.h-len(m.header(m.w))-len(m.banner(m.w))-len(m.problemLine(m.w))-1, 1)
}

// page is how far page up and down go.
func (m *Model) page() int { return max(m.bodyHeight()*2/3, 1) }

// move moves the cursor of the screen, or its text where there is no cursor.
func (m *Model) move(n int) {
	c := &m.list[m.screen]
	switch m.screen {
	case screenOverview:
		c.move(m.overviewCursor()+n, len(m.rows), func(i int) string { return m.rows[i].name })
		m.moved = true
	case screenDecisions:
		list := m.entries()
		id := func(i int) string { return list[i].key() }
		c.atTop = true
		c.move(c.place(len(list), id)+n, len(list), id)
	case screenProducers:
		items := m.producerItems()
		id := func(i int) string { return items[i].id() }
		c.move(c.place(len(items), id)+n, len(items), id)
	default:
		c.offset = max(c.offset+n, 0) // clamped where the length is known
	}
}

// scroll gives the visible part of a page that has no cursor.
func (m *Model) scroll(lines []line, h int) []line {
	c := &m.list[m.screen]
	c.offset = max(min(c.offset, len(lines)-h), 0)
	out := lines[c.offset:]
	if len(out) > h {
		out = append(out[:max(h-1, 0):max(h-1, 0)],
			text(roleDim, fmt.Sprintf("  %s %d more lines, j or page down", m.g.down, len(lines)-c.offset-h+1)))
	}
	return out
}

// tooSmall asks for room in the most words that fit.
func (m *Model) tooSmall() string {
	want := fmt.Sprintf("%dx%d", needW, needH)
	msg := "!"
	for _, s := range []string{"window too small: needs " + want, "needs " + want, want} {
		if len(s) <= m.w {
			msg = s
			break
		}
	}
	lines := make([]line, m.h)
	if m.h > 0 {
		l := &lines[m.h/2]
		l.pad((m.w - len(msg)) / 2)
		l.add(roleWarn, msg)
	}
	return frame(lines, m.w, m.h, m.theme, m.g, nil)
}

// noticeFor is how long the answer to a key stands in the footer.
const noticeFor = 15 * time.Second

func (m *Model) footer(w int) line {
	if m.typing {
		var l line
		l.add(roleAccent, "/").add(roleStrong, m.filter()).add(roleAccent, "_")
		l.add(roleDim, "  "+m.counted()+"  enter keeps, esc clears")
		return l.clip(w, m.g.dots)
	}
	said := m.notice
	if m.opt.Now().Sub(m.noticed) > noticeFor {
		said = ""
	}
	if m.dialog != nil || m.menu != nil {
		return text(roleText, cut(said, w, m.g.dots))
	}
	var right line
	if said != "" {
		right.add(roleText, "  "+said)
	}
	left := m.keyHints(max(w-right.w, 0)).clip(max(w-right.w, 0), m.g.dots)
	left.pad(w - right.w)
	return *left.join(right)
}

// counted is how much the filter of the present screen leaves.
func (m *Model) counted() string {
	shown, all := 0, 0
	switch m.screen {
	case screenOverview:
		if shown = len(m.rows); m.picture != nil {
			all = len(m.picture.rows)
		}
	case screenDecisions:
		shown, all = len(m.entries()), len(m.memory.log)
	case screenProducers:
		shown, all = len(m.producerItems()), len(m.allProducers())
	case screenHelp:
		return ""
	}
	return fmt.Sprintf("%d of %d", shown, all)
}

// nothingYet is the page before the first reading.
func (m *Model) nothingYet(w int) []line {
	lines := []line{{}, text(roleStrong, "  Looking for queues"+m.g.dots)}
	if m.failure != nil {
		lines = []line{{}, text(roleStrong, "  No reading yet")}
		for _, s := range wrap(safe(m.failure.Hint, m.g.ascii), w-4, 4, m.g.dots) {
			lines = append(lines, text(roleText, "  "+s))
		}
	}
	return lines
}
