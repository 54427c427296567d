package tui

import (
	"slices"

	"shardpilot/control"
)

// Effect is what a key asks of the world outside the model.
type Effect struct {
	Quit   bool
	Redraw bool             // the terminal may show something that is not ours
	Copy   string           // raw text for the clipboard, "" for none
	Do     *control.Command // what an operator confirmed, nil for nothing
}

// binding is one thing keys can do. The table of them is the only list: keys
// are looked up in it and help is printed from it.
type binding struct {
	keys  []string // as bubbletea names them; the first is shown
	show  string   // what to print instead of the first key
	short string   // for the footer, "" keeps it out
	help  string   // one line
	group string
	on    []screen // where it works; nil is everywhere
	do    func(*Model) Effect
}

func (b binding) works(s screen) bool { return b.on == nil || slices.Contains(b.on, s) }

func (b binding) label() string {
	if b.show != "" {
		return b.show
	}
	return b.keys[0]
}

func just(f func(*Model)) func(*Model) Effect {
	return func(m *Model) Effect { f(m); return Effect{} }
}

// bindings is the key table: with the action keys when something can be done.
func (m *Model) bindings() []binding {
	if m.opt.Do == nil || m.opt.ReadOnly {
		return lookBindings()
	}
	all := lookBindings()
	other := slices.IndexFunc(all, func(b binding) bool { return b.group == "Other" })
	return slices.Concat(all[:other], actionBindings(), all[other:])
}

func lookBindings() []binding {
	lists := []screen{screenOverview, screenDecisions, screenProducers}
	moves := []screen{screenOverview, screenQueue, screenDecisions, screenProducers, screenHealth, screenHelp}
	charts := []screen{screenOverview, screenQueue}
	by := func(n int) func(*Model) Effect { return just(func(m *Model) { m.move(n) }) }
	return []binding{
		{keys: []string{"j", "down"}, show: "j/k", short: "move", help: "down, also the arrow key", group: "Moving", on: moves, do: by(1)},
		{keys: []string{"k", "up"}, help: "up, also the arrow key", group: "Moving", on: moves, do: by(-1)},
		{keys: []string{"g", "home"}, help: "to the top", group: "Moving", on: moves, do: by(-1 << 30)},
		{keys: []string{"G", "end"}, help: "to the end", group: "Moving", on: moves, do: by(1 << 30)},
		{keys: []string{"pgdown", "ctrl+d", "ctrl+f"}, help: "a page down", group: "Moving", on: moves, do: just(func(m *Model) { m.move(m.page()) })},
		{keys: []string{"pgup", "ctrl+u", "ctrl+b"}, help: "a page up", group: "Moving", on: moves, do: just(func(m *Model) { m.move(-m.page()) })},
		{keys: []string{"enter", "l", "right"}, short: "open", help: "open the queue under the cursor", group: "Screens", on: lists, do: just((*Model).enter)},
		{keys: []string{"esc", "h", "left", "backspace"}, short: "back", help: "back; on the overview, drop the filter", group: "Screens", do: just((*Model).escape)},
		{keys: []string{"tab"}, short: "screens", help: "next screen", group: "Screens", do: just(func(m *Model) { m.cycle(1) })},
		{keys: []string{"shift+tab"}, help: "previous screen", group: "Screens", do: just(func(m *Model) { m.cycle(-1) })},
		{keys: []string{"!"}, help: "health: what could not be read and what mends it", group: "Screens", do: just(func(m *Model) { m.show(screenHealth) })},
		{keys: []string{"?", "f1"}, short: "help", help: "this page", group: "Screens", do: just(func(m *Model) { m.show(screenHelp) })},
		{keys: []string{"/"}, short: "filter", help: "show only queues with this text in their name", group: "Looking", on: []screen{screenOverview}, do: just(func(m *Model) { m.typing = true })},
		{keys: []string{"s"}, short: "sort", help: "sort by the next column", group: "Looking", on: []screen{screenOverview}, do: just(func(m *Model) { m.order = (m.order + 1) % orderCount; m.arrange() })},
		{keys: []string{"S"}, help: "sort by the previous column", group: "Looking", on: []screen{screenOverview}, do: just(func(m *Model) { m.order = (m.order + orderCount - 1) % orderCount; m.arrange() })},
		{keys: []string{"]"}, help: "charts over a longer time", group: "Looking", on: charts, do: just(func(m *Model) { m.span = min(m.span+1, len(spans)-1) })},
		{keys: []string{"["}, help: "charts over a shorter time", group: "Looking", on: charts, do: just(func(m *Model) { m.span = max(m.span-1, 0) })},
		{keys: []string{" "}, show: "space", short: "pause", help: "pause the picture; readings go on behind it", group: "Looking", do: just((*Model).pause)},
		{keys: []string{"+", "="}, help: "let the picture advance less often", group: "Looking", do: just(func(m *Model) { m.opt.Interval = slower(m.opt.Interval); m.say("every " + m.opt.Interval.String()) })},
		{keys: []string{"-", "_"}, help: "let the picture advance more often", group: "Looking", do: just(func(m *Model) { m.opt.Interval = faster(m.opt.Interval); m.say("every " + m.opt.Interval.String()) })},
		{keys: []string{"y"}, short: "copy", help: "copy the queue's name to the clipboard of your terminal", group: "Other", on: []screen{screenOverview, screenQueue, screenDecisions, screenProducers}, do: (*Model).copyName},
		{keys: []string{"ctrl+l"}, help: "redraw the screen", group: "Other", do: func(*Model) Effect { return Effect{Redraw: true} }},
		{keys: []string{"q", "ctrl+c"}, short: "quit", help: "quit, also ctrl+c", group: "Other", do: func(*Model) Effect { return Effect{Quit: true} }},
	}
}

// Key does what a key is for. Names are bubbletea's: "j", "enter", "ctrl+l".
func (m *Model) Key(key string) Effect {
	m.notice = ""
	if m.typing && key != "ctrl+c" && key != "ctrl+l" {
		m.typed(key)
		m.draw()
		return Effect{}
	}
	if m.dialog != nil && key != "ctrl+c" && key != "ctrl+l" {
		e := m.dialogKey(key)
		m.draw()
		return e
	}
	var e Effect
	for _, b := range m.bindings() {
		if b.works(m.screen) && slices.Contains(b.keys, key) {
			e = b.do(m)
			break
		}
	}
	m.draw()
	return e
}

// Paste takes pasted text: it goes into the filter when that is being typed and
// is nothing otherwise. It is never keys.
func (m *Model) Paste(s string) {
	if m.dialog != nil {
		m.dialogPaste(s)
	} else if !m.typing {
		m.say("pasted text is not taken for keys")
	} else {
		m.setFilter(m.filter + s)
	}
	m.draw()
}

func (m *Model) typed(key string) {
	switch key {
	case "esc":
		m.typing = false
		m.setFilter("")
	case "enter", "tab":
		m.typing = false
	case "up", "down":
		m.move(map[string]int{"up": -1, "down": 1}[key])
	case "backspace", "ctrl+h":
		rs := []rune(m.filter)
		m.setFilter(string(rs[:max(len(rs)-1, 0)]))
	case "ctrl+u":
		m.setFilter("")
	default:
		if len([]rune(key)) == 1 {
			m.setFilter(m.filter + key)
		}
	}
}

// filterLimit keeps a pasted novel out of the filter.
const filterLimit = 100

func (m *Model) setFilter(s string) {
	rs := []rune(safe(s, m.g.ascii))
	m.filter = string(rs[:min(len(rs), filterLimit)])
	m.arrange()
}

func (m *Model) say(s string) { m.notice, m.noticed = s, m.opt.Now() }

func (m *Model) copyName() Effect {
	name := ""
	switch m.screen {
	case screenDecisions:
		if e, ok := m.entryUnderCursor(); ok {
			name = e.queue
		}
	case screenProducers:
		name = m.producerUnderCursor().queue
	default:
		if r, ok := m.selected(); ok {
			name = r.name
		}
	}
	if name == "" {
		m.say("nothing under the cursor to copy")
		return Effect{}
	}
	m.say("copied " + cut(safe(name, m.g.ascii), 40, m.g.dots))
	return Effect{Copy: name}
}

// show goes to a screen; the key that brought it there takes it away again.
func (m *Model) show(s screen) {
	if m.screen == s {
		m.escape()
		return
	}
	m.back = append(m.back, m.screen)
	if len(m.back) > 16 {
		m.back = m.back[1:]
	}
	m.screen = s
}

func (m *Model) escape() {
	switch n := len(m.back); {
	case n > 0:
		m.screen, m.back = m.back[n-1], m.back[:n-1]
	case m.screen != screenOverview:
		m.screen = screenOverview
	case m.filter != "":
		m.setFilter("")
	}
}

// cycle goes through the screens that tab reaches; Queue is there when one is open.
func (m *Model) cycle(step int) {
	reach := m.tabs()
	i := max(slices.Index(reach, m.screen), 0)
	m.screen = reach[(i+step+len(reach))%len(reach)]
	m.back = nil
}

func (m *Model) tabs() []screen {
	reach := []screen{screenOverview}
	if m.open != "" {
		reach = append(reach, screenQueue)
	}
	return append(reach, screenDecisions, screenProducers, screenHealth, screenHelp)
}

func (m *Model) enter() {
	name := ""
	switch m.screen {
	case screenOverview:
		if r, ok := m.selected(); ok {
			name = r.name
		}
	case screenDecisions:
		if e, ok := m.entryUnderCursor(); ok {
			name = e.queue
		}
	case screenProducers:
		name = m.producerUnderCursor().queue
	}
	if name == "" {
		return
	}
	if m.open != name {
		m.list[screenQueue] = cursor{}
	}
	m.open = name
	m.show(screenQueue)
}

func (m *Model) pause() {
	m.paused = !m.paused
	m.pausedA = m.opt.Now()
	if !m.paused {
		m.Advance()
	}
}

// keyHints is the footer: what works here, from the table. Where there is no
// room whole hints fall away; what acts, help and quit stay longest.
func (m *Model) keyHints(w int) line {
	var parts []part
	for _, b := range m.bindings() {
		if b.short == "" || !b.works(m.screen) {
			continue
		}
		prio := len(parts) + 3
		switch {
		case b.short == "help" || b.short == "quit":
			prio = 1
		case b.group == actionGroup:
			prio = 2
		}
		var l line
		l.add(roleAccent, keyName(b.label())).add(roleDim, " "+b.short)
		parts = append(parts, part{l, prio})
	}
	return fitParts(parts, w, "  ")
}
