package tui

import (
	"strconv"
	"strings"
	"time"
)

// dialogText is what a dialog says, in three parts: what is asked, what is to be
// known before it is answered, and how to answer.
func (m *Model) dialogText(w int) (head, know, answer []line) {
	d := m.dialog
	head = []line{m.dialogTitle(w)}
	say := func(to []line, r role, s string, most int) []line {
		for _, part := range wrap(m.g.told(s), w-4, most, m.g.dots) {
			to = append(to, text(r, "  "+part))
		}
		return to
	}
	if d.over != nil {
		for _, s := range d.over {
			head = say(head, d.overAs, s, 3)
		}
		return append(head, text(roleDim, "  enter closes")), nil, nil
	}
	head = say(head, roleStrong, m.sentence(d), 3)
	for i, s := range d.facts {
		if i == len(d.facts)-1 && !d.good.IsZero() {
			s += ", " + m.goodUntil(d.good)
		}
		know = say(know, roleText, s, 3)
	}
	for _, s := range m.price(d) {
		know = say(know, roleText, s, 6)
	}
	for i, f := range d.fields {
		answer = append(answer, m.fieldLine(f, i == d.focus))
	}
	if d.problem != "" {
		answer = say(answer, roleBad, m.g.bad+" "+d.problem, 3)
	}
	if d.working {
		return head, know, append(answer, text(roleWarn, "  on its way"+m.g.dots))
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
	return head, know, append(answer, l)
}

// leastKnown is how many lines of what is to be known are shown at once at the
// least, with one more that says there is more.
const leastKnown = 2

// dialogLines draws the dialog over the full width in the room there is. What
// is to be known and does not fit scrolls, and has to be seen to its end before
// Yes is taken; nil when not even that can be shown.
func (m *Model) dialogLines(w int) []line {
	d := m.dialog
	head, know, answer := m.dialogText(w)
	room := m.bodyHeight() - len(head) - len(answer)
	if d.reading(strings.Join(append(m.price(d), d.facts...), "\n")+"\n"+strconv.Itoa(w), len(know)) {
		d.top, d.seen = 0, 0
	}
	if len(know) > room {
		if room--; room < leastKnown {
			return nil
		}
		d.page = room
		d.top = max(min(d.top, len(know)-room), 0)
		d.seen = max(d.seen, d.top+room)
		below, more := len(know)-d.top-room, text(roleAccent, "  "+m.g.up+" all read; page up goes back")
		if below > 0 {
			more = text(roleWarn, "  "+m.g.down+" "+strconv.Itoa(below)+" more to read before "+d.yes+": page down")
		}
		know = append(know[d.top:d.top+room:d.top+room], more)
	} else {
		d.top, d.seen = 0, len(know)
	}
	return append(append(head, know...), answer...)
}

// reading notes what there is to be known and in how many lines, and says
// whether it is another text than before: what was seen of the old one is not
// known of the new.
func (d *dialog) reading(know string, lines int) bool {
	other := know != d.text || lines != d.lines
	d.text, d.lines = know, lines
	return other
}

// goodUntil says how long something holds, or that it is over.
func (m *Model) goodUntil(t time.Time) string {
	if t.After(m.clock()) {
		return "good until " + m.until(t)
	}
	return "was good until " + m.until(t)
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

// dialogFits says whether the whole question can be shown: what cannot be read
// cannot be answered.
func (m *Model) dialogFits() bool {
	return m.dialog != nil && m.w >= 60 && m.h >= needH && m.dialogLines(m.w) != nil
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
