package tui

// The mouse chooses and opens, and that is all: no click answers a question, so
// that nothing is ever done by one.

// itemLine is a line of a list that a click can choose.
func (m *Model) itemLine(i, at int, body line) line {
	l := m.listLine(i == at, body)
	l.item = i + 1
	return l
}

// keepItems remembers which item of the screen's list each line shows.
func (m *Model) keepItems(lines []line) {
	m.items = m.items[:0]
	for _, l := range lines {
		m.items = append(m.items, l.item)
	}
}

// Click chooses what the line y shows, and opens it when it is chosen already.
func (m *Model) Click(y int) {
	m.notice = ""
	if m.asking() || y < 0 || y >= len(m.items) || m.items[y] == 0 {
		return
	}
	i, at := m.items[y]-1, m.list[m.screen].index
	if i == at {
		m.enter()
	} else {
		m.move(i - at)
	}
	m.draw()
}

// Wheel moves the cursor, or the page where there is none, by so many lines.
func (m *Model) Wheel(n int) {
	if !m.asking() {
		m.move(n)
		m.draw()
	}
}

func (m *Model) asking() bool { return m.dialog != nil || m.menu != nil || m.typing }
