package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// copyMenu offers what can be copied of the thing under the cursor.
func (m *Model) copyMenu() {
	name, r, e := m.underCursor()
	if name == "" {
		m.say("nothing under the cursor to copy")
		return
	}
	label := cut(safe(name, m.g.ascii), 40, m.g.dots)
	n := &menu{title: "Copy of " + label}
	add := func(what, raw string) {
		n.items = append(n.items, item{label: what, do: func(m *Model) Effect {
			m.say("copied the " + what)
			return Effect{Copy: raw}
		}})
	}
	add("name "+label, name)
	if r != nil && r.reading.Shards > 0 && m.tape == nil { // not from a count of the past
		from, to := r.reading.Shards, wanted(*r)
		add(fmt.Sprintf("SQL that would set the count to %d, by hand", to), handSQL(name, from, to))
	}
	if e != nil && e.full != nil {
		add("entry with its evidence as JSON", asJSON(e.full))
	} else if r != nil && r.decision != nil {
		add("decision with its evidence as JSON", asJSON(r.decision))
	}
	m.openMenu(n)
}

// underCursor is the queue the cursor is about, as a row when the picture has
// it, and as an entry of the log on the pages of those.
func (m *Model) underCursor() (string, *row, *entry) {
	name := ""
	var of *entry
	switch m.screen {
	case screenDecisions:
		if e, ok := m.entryUnderCursor(); ok {
			name, of = e.queue, &e
		}
	case screenEntry:
		name, of = m.entry.queue, &m.entry
	case screenProducers:
		name = m.producerUnderCursor().queue
	default:
		if r, ok := m.selected(); ok {
			return r.name, &r, nil
		}
		return "", nil, nil
	}
	if r, ok := m.find(name); ok {
		return name, &r, of
	}
	return name, nil, of
}

// wanted is the count a queue would be set to: that of its pending step or of
// its decision, or the one it has.
func wanted(r row) int {
	switch d := r.decision; {
	case d == nil:
	case d.Step != nil:
		return d.Step.To
	case d.To > 0:
		return d.To
	}
	return r.reading.Shards
}

// handSQL is what a person could type. It is only ever shown and copied.
func handSQL(queue string, from, to int) string {
	name := "'" + strings.ReplaceAll(strings.ReplaceAll(queue, "\x00", ""), "'", "''") + "'"
	return fmt.Sprintf(`-- By hand: nothing checks the lanes, the order of keys or the budgets, and nothing is logged.
-- The lanes up to the new count must exist before. It was %d when this was copied.
INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES (%s, %d)
ON CONFLICT (queue) DO UPDATE SET enqueue_shards = EXCLUDED.enqueue_shards;
`, from, name, to)
}

func asJSON(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // of a time beyond the year 9999
		return "{}"
	}
	return string(b) + "\n"
}

// savePage asks for the screen to be kept as text.
func (m *Model) savePage() Effect {
	lines := strings.Split(ansi.Strip(m.view), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	name := "shardpilot-" + m.opt.Now().UTC().Format("20060102T150405Z") + ".txt"
	return Effect{Save: &Page{Name: name, Data: []byte(strings.Join(lines, "\n") + "\n")}}
}

// Saved says what came of saving a page.
func (m *Model) Saved(name string, err error) {
	if err != nil {
		m.say(cut("not saved: "+safe(err.Error(), m.g.ascii), 100, m.g.dots))
	} else {
		m.say("saved " + name)
	}
	m.draw()
}
