package tui

import (
	"strings"
)

// menu is a list to choose from that narrows while one types: the palette of
// actions, and what can be copied. Choosing is the only thing it does.
type menu struct {
	title string
	items []item
	query string // safe
	at    int    // among those that match
}

// item is one line of a menu.
type item struct {
	label string // safe
	hint  string // safe
	do    func(*Model) Effect
}

// matches are the items that have every word of the query in them.
func (n *menu) matches() []item {
	var out []item
	words := strings.Fields(strings.ToLower(n.query))
next:
	for _, it := range n.items {
		in := strings.ToLower(it.label + " " + it.hint)
		for _, w := range words {
			if !strings.Contains(in, w) {
				continue next
			}
		}
		out = append(out, it)
	}
	return out
}

// palette lists what keys can do on this screen, by name.
func (m *Model) palette() {
	n := &menu{title: "Actions"}
	for _, b := range m.bindings() {
		if b.works(m.screen) && b.keys[0] != ":" {
			n.items = append(n.items, item{label: b.help, hint: keyName(b.keys[0]), do: b.do})
		}
	}
	m.openMenu(n)
}

func (m *Model) openMenu(n *menu) {
	if m.menu = n; !m.menuFits() {
		m.menu = nil
		m.say("the window is too small for a menu")
	}
}

// menuKey handles a key while a menu is open. One that cannot be shown whole
// only closes.
func (m *Model) menuKey(key string) Effect {
	n := m.menu
	found := n.matches()
	switch {
	case key == "esc", !m.menuFits():
		m.menu = nil
	case key == "enter":
		m.menu = nil
		if n.at < len(found) {
			return found[n.at].do(m)
		}
	case key == "down", key == "tab", key == "ctrl+n":
		n.at = min(n.at+1, max(len(found)-1, 0))
	case key == "up", key == "shift+tab", key == "ctrl+p":
		n.at = max(n.at-1, 0)
	default:
		n.query, n.at = clean(edit(n.query, key), m.g), 0
	}
	return Effect{}
}

// menuLines is the most items of a menu that are shown at once.
const menuLines = 8

func (m *Model) menuFits() bool { return m.w >= needW && m.h >= needH && m.bodyHeight() > menuLines/2 }

// menuPart draws the menu over the full width in at most h lines.
func (m *Model) menuPart(w, h int) []line {
	n := m.menu
	found := n.matches()
	n.at = min(n.at, max(len(found)-1, 0))
	lines := []line{section(n.title, "enter takes, esc leaves", w, m.g)}
	room := min(menuLines, max(h-2, 1))
	first := max(min(n.at-room+1, len(found)-room), 0)
	for i := first; i < min(len(found), first+room); i++ {
		l := m.listLine(i == n.at, line{})
		if found[i].hint != "" {
			l.cell(roleAccent, found[i].hint, 11, false, m.g.dots).add(roleText, " ")
		}
		l.add(roleText, found[i].label)
		l.selected = i == n.at
		lines = append(lines, l.clip(w, m.g.dots))
	}
	if len(found) == 0 {
		lines = append(lines, text(roleDim, "  nothing has this in its name"))
	}
	var typed line
	typed.add(roleAccent, ": ").add(roleStrong, n.query).add(roleAccent, "_")
	return append(lines, typed.clip(w, m.g.dots))[:min(len(lines)+1, h)]
}
