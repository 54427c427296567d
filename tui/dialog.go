package tui

import (
	"slices"
	"strconv"
	"strings"

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
	fields   []field
	// focus is a field, then No, then Yes. It begins at No or at a field that
	// must be filled in, never at Yes.
	focus   int
	problem string // why Yes did nothing
	working bool   // the command is on its way
	over    []string
	overAs  role
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
		if d.working {
			m.say("on its way; the outcome will be shown here")
		}
		return Effect{}
	case !m.dialogFits() || d.working:
		return Effect{}
	case d.over != nil:
		if key == "enter" { // a held key must not take the outcome away unread
			m.say(cut(m.g.told(strings.Join(d.over, "; ")), 100, m.g.dots))
			m.dialog = nil
		}
		return Effect{}
	}
	n := d.no() + 2
	switch key {
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
	case m.failure != nil:
		d.problem = "there is no fresh reading: nothing can be done until there is"
	default:
		c, problem := m.command(d)
		if d.problem = problem; problem == "" {
			d.working = true
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
	if d := m.dialog; d != nil && d.working && d.queue == c.Queue && d.verb == c.Verb {
		d.working, d.over, d.overAs = false, said, as
	} else {
		m.say(cut(m.g.told(strings.Join(said, "; ")), 100, m.g.dots))
	}
	m.draw()
}

// dialogLines draws the dialog over the full width, to stand above the footer.
func (m *Model) dialogLines(w int) []line {
	d := m.dialog
	lines := []line{m.dialogTitle(w)}
	say := func(r role, s string) {
		for _, part := range wrap(m.g.told(s), w-4, 3, m.g.dots) {
			lines = append(lines, text(r, "  "+part))
		}
	}
	if d.over != nil {
		for _, s := range d.over {
			say(d.overAs, s)
		}
		return append(lines, text(roleDim, "  enter closes"))
	}
	say(roleStrong, m.sentence(d))
	for _, s := range append(d.facts, m.price(d)...) {
		say(roleText, s)
	}
	for i, f := range d.fields {
		lines = append(lines, m.fieldLine(f, i == d.focus))
	}
	if d.problem != "" {
		say(roleBad, m.g.bad+" "+d.problem)
	}
	if d.working {
		return append(lines, text(roleWarn, "  on its way"+m.g.dots))
	}
	var l line
	l.add(roleText, "  ")
	for i, name := range []string{"No", d.yes} {
		if d.focus == d.no()+i {
			l.add(roleAccent, "["+name+"] ")
		} else {
			l.add(roleDim, " "+name+"  ")
		}
	}
	l.add(roleFaint, "  tab and arrows choose, enter takes, esc leaves")
	return append(lines, l)
}

func (m *Model) fieldLine(f field, focused bool) line {
	l := m.listLine(false, line{})
	mark := " "
	if focused {
		mark = m.g.cursor
	}
	l.add(roleAccent, mark+" ").cell(roleDim, f.name, 12, false, "")
	switch {
	case f.check && f.on:
		l.add(roleStrong, "[x] ")
	case f.check:
		l.add(roleText, "[ ] ")
	case f.choices != nil:
		for i, c := range f.choices {
			if i == f.at {
				l.add(roleAccent, "["+c+"] ")
			} else {
				l.add(roleDim, " "+c+"  ")
			}
		}
	default:
		l.add(roleStrong, safe(f.value, m.g.ascii))
		if focused {
			l.add(roleAccent, "_")
		}
		l.add(roleText, " ")
	}
	l.add(roleFaint, f.hint)
	l.selected = focused
	return l
}

// dialogFits says whether the whole dialog can be shown: what cannot be read
// cannot be answered.
func (m *Model) dialogFits() bool {
	return m.dialog != nil && m.w >= 60 && m.h >= needH && len(m.dialogLines(m.w)) <= m.bodyHeight()
}

// place is where a command would act.
func (m *Model) place() string {
	if m.newest == nil {
		return ""
	}
	db := m.newest.Snapshot.Database
	s := safe(db.Host+":"+strconv.Itoa(db.Port)+"/"+db.Name, m.g.ascii)
	return cut(s, max(m.w/2, 0), m.g.dots)
}

// dialogTitle says what is asked and where it would act: the environment in its
// own colour.
func (m *Model) dialogTitle(w int) line {
	var where line
	label := m.opt.Label
	if label == "" && m.newest != nil {
		label = m.newest.Snapshot.Database.Label
	}
	if label != "" {
		where.add(roleText, " ").join(badge(roleLabel, cut(safe(label, m.g.ascii), 24, m.g.dots)))
	}
	where.add(roleText, " ").add(roleStrong, m.place())
	l := section(m.g.warn+" "+m.dialog.title, "", max(w-where.w, 0), m.g)
	return *l.join(where)
}
