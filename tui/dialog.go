package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

// field is one thing a dialog asks for.
type field struct {
	name    string
	value   string   // of a text field
	allow   string   // characters it takes, "" for any
	limit   int      // most characters
	choices []string // one of these instead of text
	at      int      // the chosen one
	check   bool     // a box instead of text
	on      bool     // ticked
	hint    string
}

// dialog asks before a command is given. It names what it is about by identity:
// what moves under the cursor meanwhile does not matter.
type dialog struct {
	verb   control.Verb
	queue  string // raw
	label  string
	from   int   // the count the operator saw
	expect int64 // generation of the step the operator saw
	to     int   // for commands whose count is given
	// accepted: somebody has accepted partitioned FIFO for the queue.
	accepted bool
	title    string
	yes      string   // what the button says that does it
	facts    []string // raw or safe, made safe again when drawn
	// good is until when what the last fact speaks of holds; zero when it does not end.
	good   time.Time
	fields []field
	// focus is a field, then No, then Yes. It begins at No or at a field that
	// must be filled in, never at Yes.
	focus   int
	problem string // why Yes did nothing
	working bool   // the command is on its way
	sent    control.Command
	// Of the text that is to be known: itself but for the time that is left, its
	// lines, the first that is shown, and how far it has been seen. Yes is taken at its end only.
	text      string
	lines     int
	top, seen int
	page      int // how many lines are shown at once
	over      []string
	overAs    role
}

func (d *dialog) no() int { return len(d.fields) }

func (d *dialog) get(name string) field {
	for _, f := range d.fields {
		if f.name == name {
			return f
		}
	}
	return field{}
}

// writing says whether a text is being written that an escape would throw away.
// There alt and a letter are the habit of those who know Emacs, and do nothing.
func (m *Model) writing() bool {
	d := m.dialog
	return d != nil && d.over == nil && !d.working && d.focus < d.no() && d.fields[d.focus].value != ""
}

// number is a text field as a count, 0 when it is empty.
func (d *dialog) number(name string) int {
	n, _ := strconv.Atoi(d.get(name).value)
	return n
}

// dialogKey handles a key while a dialog is open. Nothing but what is shown can
// be answered: while the window is too small for it, only esc does something.
func (m *Model) dialogKey(key string) Effect {
	d := m.dialog
	switch {
	case key == "esc":
		m.dialog = nil
		switch {
		case d.working:
			m.say("on its way; the outcome will be shown here")
		case d.over != nil:
			m.sayOutcome(d.over)
		}
		return Effect{}
	case !m.dialogFits() || d.working:
		return Effect{}
	case d.over != nil:
		if key == "enter" {
			m.sayOutcome(d.over)
			m.dialog = nil
		}
		return Effect{}
	}
	n := d.no() + 2
	switch key {
	case "pgdown", "ctrl+d", "ctrl+f":
		d.top, d.problem = d.top+max(d.page-1, 1), ""
	case "pgup", "ctrl+b":
		d.top = max(d.top-max(d.page-1, 1), 0)
	case "tab", "down":
		d.focus = (d.focus + 1) % n
	case "shift+tab", "up":
		d.focus = (d.focus + n - 1) % n
	case "enter":
		return m.dialogEnter()
	case "left", "right":
		d.sideways(key)
	default:
		d.typed(key)
	}
	return Effect{}
}

func (m *Model) dialogEnter() Effect {
	d := m.dialog
	switch {
	case d.focus < d.no():
		d.focus++
	case d.focus == d.no():
		m.dialog = nil
	case d.seen < d.lines:
		d.problem = "there is more to read first: page down"
	default:
		c, problem := m.command(d)
		if d.problem = problem; problem == "" {
			d.working, d.sent = true, c
			return Effect{Do: &c}
		}
	}
	return Effect{}
}

func (d *dialog) sideways(key string) {
	step := 1
	if key == "left" {
		step = -1
	}
	switch {
	case d.focus >= d.no():
		d.focus = d.no() + (d.focus-d.no()+1)%2
	case len(d.fields[d.focus].choices) > 0:
		f := &d.fields[d.focus]
		f.at = min(max(f.at+step, 0), len(f.choices)-1)
	}
}

func (d *dialog) typed(key string) {
	if d.focus >= d.no() {
		reason := slices.IndexFunc(d.fields, func(f field) bool { return f.name == "reason" })
		if len([]rune(key)) != 1 || key == " " || reason < 0 {
			return
		}
		d.focus = reason // text that is typed on a button is a reason, not lost
	}
	f := &d.fields[d.focus]
	switch {
	case f.check:
		f.on = f.on != (key == " ")
	case f.choices != nil:
	case key == "backspace" || key == "ctrl+h":
		rs := []rune(f.value)
		f.value = string(rs[:max(len(rs)-1, 0)])
	case key == "ctrl+u":
		f.value = ""
	case len([]rune(key)) == 1:
		f.add(key)
	}
}

// add types into a text field what it takes.
func (f *field) add(s string) {
	for _, r := range s {
		if f.allow != "" && !strings.ContainsRune(f.allow, r) || len([]rune(f.value)) >= f.limit || r < 0x20 {
			continue
		}
		f.value += string(r)
	}
}

// dialogPaste puts pasted text into the text field that has the focus.
func (m *Model) dialogPaste(s string) {
	d := m.dialog
	if d.over == nil && !d.working && d.focus < d.no() && !d.fields[d.focus].check && d.fields[d.focus].choices == nil {
		d.fields[d.focus].add(s)
		return
	}
	m.say("pasted text is not taken for keys")
}

// Done shows what a command came to. It belongs to the dialog that gave it, or
// is said in the footer when that has been closed.
func (m *Model) Done(c control.Command, res control.Result, err error) {
	said, as := m.outcome(c, res, err)
	if d := m.dialog; d != nil && d.working && d.sent == c {
		d.working, d.over, d.overAs = false, said, as
	} else {
		m.sayOutcome(said)
	}
	m.draw()
}

// sayOutcome puts an outcome into the footer: also one that stood in a dialog,
// which a key that was pressed before it came must not take away unread.
func (m *Model) sayOutcome(said []string) {
	m.say(cut(m.g.told(strings.Join(said, "; ")), 100, m.g.dots))
}
