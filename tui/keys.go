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
	Save   *Page            // the screen as text, to be kept; nil for nothing
	tape   *move            // of the recording that is shown, nil for nothing
	record bool             // begin or end a recording
}

// Page is a picture of the screen without escape sequences.
type Page struct {
	Name string // of a file, without a directory
	Data []byte
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

// bindings is the key table: with the action keys when something can be done,
// and with the key that saves when there is where to.
func (m *Model) bindings() []binding {
	all := lookBindings()
	if m.tape != nil {
		at := slices.IndexFunc(all, func(b binding) bool { return b.group == timeGroup })
		all = slices.Insert(slices.DeleteFunc(all, func(b binding) bool { return b.group == timeGroup }), at, tapeBindings()...)
	}
	look := slices.IndexFunc(all, func(b binding) bool { return b.group == lookGroup })
	other := slices.IndexFunc(all, func(b binding) bool { return b.group == otherGroup })
	var acts, saves []binding
	if m.opt.Do != nil && !m.opt.ReadOnly {
		acts = actionBindings()
		if none := m.paused || m.noPolicy() != ""; none || m.noCounts() != "" { // they still say why, and are not offered
			for i := range acts {
				if none || acts[i].short == "approve" || acts[i].short == "override" {
					acts[i].short = ""
				}
			}
		}
	}
	if m.opt.Save != nil {
		saves = []binding{{keys: []string{"ctrl+s"}, help: "save the screen as text into a file", group: otherGroup, do: (*Model).savePage}}
	}
	if m.opt.Recorder != nil {
		saves = append(saves, binding{keys: []string{"R"}, help: "begin or end a recording, for shardpilot replay", group: otherGroup, do: func(*Model) Effect { return Effect{record: true} }})
	}
	return slices.Concat(all[:look], acts, all[look:other], saves, all[other:])
}

const lookGroup, timeGroup, otherGroup = "Looking", "Time", "Other"

func lookBindings() []binding {
	lists := []screen{screenOverview, screenDecisions, screenProducers, screenEntry}
	moves := []screen{screenOverview, screenQueue, screenDecisions, screenProducers, screenHealth, screenHelp, screenEntry}
	charts := []screen{screenOverview, screenQueue}
	filtered := []screen{screenOverview, screenDecisions, screenProducers, screenHelp}
	by := func(n int) func(*Model) Effect { return just(func(m *Model) { m.move(n) }) }
	walk := func(n int) func(*Model) Effect { return just(func(m *Model) { m.step(n) }) }
	sortBy := func(n order) func(*Model) Effect {
		return just(func(m *Model) { m.order = (m.order + orderCount + n) % orderCount; m.arrange() })
	}
	return []binding{
		{keys: []string{"j", "down"}, show: "j/k", short: "move", help: "down, also the arrow key", group: "Moving", on: moves, do: by(1)},
		{keys: []string{"k", "up"}, help: "up, also the arrow key", group: "Moving", on: moves, do: by(-1)},
		{keys: []string{"g", "home"}, help: "to the top", group: "Moving", on: moves, do: by(-1 << 30)},
		{keys: []string{"G"}, help: "to the bottom", group: "Moving", on: moves, do: by(1 << 30)},
		{keys: []string{"pgdown", "ctrl+d", "ctrl+f"}, help: "a page down", group: "Moving", on: moves, do: just(func(m *Model) { m.move(m.page()) })},
		{keys: []string{"pgup", "ctrl+u", "ctrl+b"}, help: "a page up", group: "Moving", on: moves, do: just(func(m *Model) { m.move(-m.page()) })},
		{keys: []string{"enter"}, short: "open", help: "open the queue or the entry under the cursor", group: "Screens", on: lists, do: just((*Model).enter)},
		{keys: []string{"esc", "backspace"}, short: "back", help: "drop the filter, or back", group: "Screens", do: just((*Model).escape)},
		{keys: []string{"tab"}, short: "screens", help: "next screen", group: "Screens", do: just(func(m *Model) { m.cycle(1) })},
		{keys: []string{"shift+tab"}, help: "previous screen", group: "Screens", do: just(func(m *Model) { m.cycle(-1) })},
		{keys: []string{"!"}, help: "health: what could not be read and what mends it", group: "Screens", do: just(func(m *Model) { m.show(screenHealth) })},
		{keys: []string{"?", "f1"}, short: "help", help: "this page; / searches it", group: "Screens", do: just(func(m *Model) { m.show(screenHelp) })},
		{keys: []string{":", "ctrl+p"}, help: "find an action by its name", group: "Screens", do: just((*Model).palette)},
		{keys: []string{"/"}, short: "filter", help: "show only what has this text in it", group: lookGroup, on: filtered, do: just(func(m *Model) { m.typing = true })},
		{keys: []string{"s"}, short: "sort", help: "sort by the next column", group: lookGroup, on: []screen{screenOverview}, do: sortBy(1)},
		{keys: []string{"S"}, help: "sort by the previous column", group: lookGroup, on: []screen{screenOverview}, do: sortBy(-1)},
		{keys: []string{"]"}, show: "[ ]", short: "span", help: "charts over a longer time, up to 24 h", group: lookGroup, on: charts, do: just(func(m *Model) { m.span = min(m.span+1, len(spans)-1) })},
		{keys: []string{"["}, help: "charts over a shorter time, down to 1 min", group: lookGroup, on: charts, do: just(func(m *Model) { m.span = max(m.span-1, 0) })},
		{keys: []string{" "}, show: "space", short: "pause", help: "pause the picture; readings go on behind it", group: timeGroup, do: just((*Model).pause)},
		{keys: []string{"h", "left"}, help: "a step back in time", group: timeGroup, on: charts, do: walk(-1)},
		{keys: []string{"l", "right"}, help: "a step forth in time", group: timeGroup, on: charts, do: walk(1)},
		{keys: []string{"H", "shift+left"}, help: "ten steps back", group: timeGroup, on: charts, do: walk(-10)},
		{keys: []string{"L", "shift+right"}, help: "ten steps forth", group: timeGroup, on: charts, do: walk(10)},
		{keys: []string{"end", "0"}, help: "return to the newest reading", group: timeGroup, do: just((*Model).goLive)},
		{keys: []string{"+", "="}, help: "let the picture advance less often", group: timeGroup, do: just(func(m *Model) { m.opt.Interval = slower(m.opt.Interval); m.say("every " + m.opt.Interval.String()) })},
		{keys: []string{"-", "_"}, help: "let the picture advance more often", group: timeGroup, do: just(func(m *Model) { m.opt.Interval = faster(m.opt.Interval); m.say("every " + m.opt.Interval.String()) })},
		{keys: []string{"y"}, short: "copy", help: "copy to the clipboard of your terminal: name, SQL or evidence", group: otherGroup, on: []screen{screenOverview, screenQueue, screenDecisions, screenProducers, screenEntry}, do: just((*Model).copyMenu)},
		{keys: []string{"ctrl+l"}, help: "redraw the screen", group: otherGroup, do: func(*Model) Effect { return Effect{Redraw: true} }},
		{keys: []string{"q", "ctrl+c"}, short: "quit", help: "quit, also ctrl+c", group: otherGroup, do: func(*Model) Effect { return Effect{Quit: true} }},
	}
}

// Key does what a key is for. Names are bubbletea's: "j", "enter", "ctrl+l".
func (m *Model) Key(key string) Effect {
	m.notice = ""
	e := m.press(key)
	m.draw()
	return e
}

func (m *Model) press(key string) Effect {
	switch {
	case key == "ctrl+c", key == "ctrl+l":
	case m.menu != nil:
		return m.menuKey(key)
	case m.dialog != nil:
		return m.dialogKey(key)
	case m.typing:
		m.typed(key)
		return Effect{}
	}
	for _, b := range m.bindings() {
		if b.works(m.screen) && slices.Contains(b.keys, key) {
			return b.do(m)
		}
	}
	acts := slices.ContainsFunc(actionBindings(), func(b binding) bool { return b.works(m.screen) && slices.Contains(b.keys, key) })
	switch {
	case acts && m.tape != nil:
		m.say("this is a recording: nothing can be done from it")
	case acts && m.opt.ReadOnly:
		m.say("read-only: nothing is changed from here; start without --read-only to act")
	}
	return Effect{}
}

// Paste takes pasted text: it goes into what is being typed and is nothing
// otherwise. It is never keys.
func (m *Model) Paste(s string) {
	switch {
	case m.menu != nil:
		m.menu.query = clean(m.menu.query+s, m.g)
	case m.dialog != nil:
		m.dialogPaste(s)
	case m.typing:
		m.setFilter(m.filter() + s)
	default:
		m.say("pasted text is not taken for keys")
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
	default:
		m.setFilter(edit(m.filter(), key))
	}
}

// edit is what a key makes of a line of text that is being typed.
func edit(s, key string) string {
	switch key {
	case "backspace", "ctrl+h":
		rs := []rune(s)
		return string(rs[:max(len(rs)-1, 0)])
	case "ctrl+u":
		return ""
	}
	if len([]rune(key)) == 1 {
		return s + key
	}
	return s
}

// filterLimit keeps a pasted novel out of the filter.
const filterLimit = 100

func clean(s string, g *glyphs) string {
	rs := []rune(safe(s, g.ascii))
	return string(rs[:min(len(rs), filterLimit)])
}

func (m *Model) setFilter(s string) {
	m.filters[m.screen] = clean(s, m.g)
	m.arrange()
}

func (m *Model) say(s string) { m.notice, m.noticed = s, m.opt.Now() }

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
	case m.filter() != "":
		m.setFilter("")
	case n > 0:
		m.screen, m.back = m.back[n-1], m.back[:n-1]
	case m.screen != screenOverview:
		m.screen = screenOverview
	default:
		m.moved = false // the cursor is with the first row again
	}
}

// cycle goes through the screens that tab reaches; Queue is there when one is open.
func (m *Model) cycle(step int) {
	reach := m.tabs()
	i := max(slices.Index(reach, m.tab()), 0)
	m.screen = reach[(i+step+len(reach))%len(reach)]
	m.back = nil
}

// tab is the screen that is marked among the tabs.
func (m *Model) tab() screen {
	if m.screen == screenEntry {
		return screenDecisions
	}
	return m.screen
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
			m.entry, m.list[screenEntry] = e, cursor{}
			m.show(screenEntry)
		}
		return
	case screenEntry:
		name = m.entry.queue
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

// keyHints is the footer: what works here, from the table. Where there is no
// room whole hints fall away; what acts, help and quit stay longest.
func (m *Model) keyHints(w int) line {
	var parts []part
	all := m.bindings()
	for _, b := range all {
		if b.short == "" || !b.works(m.screen) {
			continue
		}
		prio := len(parts) + 2 // actions before moves, the first of each before the last
		switch {
		case b.short == "help" || b.short == "quit":
			prio = 1
		case b.group != actionGroup:
			prio += len(all)
		}
		var l line
		l.add(roleAccent, keyName(b.label())).add(roleDim, " "+b.short)
		parts = append(parts, part{l, prio})
	}
	return fitParts(parts, w, "  ")
}
