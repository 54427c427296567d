package tui

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"shardpilot/control"
)

// part is a piece of the header that falls away when there is no room.
type part struct {
	line line
	prio int // the highest go first
}

// fitParts joins the parts that fit w, in their order.
func fitParts(parts []part, w int, sep string) line {
	limit := 0
	for _, p := range parts {
		limit = max(limit, p.prio)
	}
	for ; ; limit-- {
		var l line
		for _, p := range parts {
			if p.prio > limit || p.line.w == 0 {
				continue
			}
			if l.w > 0 {
				l.add(roleText, sep)
			}
			l.join(p.line)
		}
		if l.w <= w || limit == 0 {
			return l
		}
	}
}

func badge(r role, s string) line { return text(r, " "+s+" ") }

// header says where we are. It is made from the newest tick, also when the
// picture is paused; only what is counted of the queues is the picture's.
func (m *Model) header(w int) []line {
	lines := []line{m.whereLine(w), m.whoLine(w)}
	if m.h >= 15 {
		lines = append(lines, m.tabLine(w))
	}
	return lines
}

func (m *Model) whereLine(w int) line {
	right := m.ageLine()
	left := fitParts(m.whereParts(), w-right.w-1, " ")
	left = left.clip(max(w-right.w-1, 0), m.g.dots)
	left.pad(w - right.w)
	left.join(right)
	return left
}

func (m *Model) whereParts() []part {
	var parts []part
	label := m.opt.Label
	if m.newest == nil {
		if label != "" {
			parts = append(parts, part{badge(roleLabel, safe(label, m.g.ascii)), 0})
		}
		return append(parts, part{text(roleStrong, "shardpilot"), 1}, part{text(roleDim, "no reading yet"), 1})
	}
	db, awa := m.newest.Snapshot.Database, m.newest.Snapshot.Awa
	if label == "" {
		label = db.Label
	}
	if label != "" {
		parts = append(parts, part{badge(roleLabel, cut(safe(label, m.g.ascii), 24, m.g.dots)), 1})
	}
	place := safe(db.Host, m.g.ascii)
	if db.Port > 0 {
		place = net.JoinHostPort(place, strconv.Itoa(db.Port))
	}
	parts = append(parts, part{text(roleStrong, place+"/"+safe(db.Name, m.g.ascii)), 0})
	switch {
	case db.Standby:
		parts = append(parts, part{text(roleBad, m.g.bad+" STANDBY"), 0})
	case db.ReadOnly:
		parts = append(parts, part{text(roleWarn, m.g.warn+" READ-ONLY SERVER"), 0})
	default:
		parts = append(parts, part{text(roleGood, "primary"), 2})
	}
	r := roleDim
	if !awa.MayWrite {
		r = roleWarn
	}
	sep := m.g.sep + " "
	awaText := sep + "Awa"
	if awa.Version > 0 {
		awaText += " " + strconv.Itoa(awa.Version)
	}
	return append(parts,
		part{text(roleDim, sep+"PostgreSQL "+safe(db.Version, m.g.ascii)), 5},
		part{text(r, awaText+" "+safe(string(awa.State), m.g.ascii)), 4},
		part{text(roleDim, sep+safe(db.User, m.g.ascii)), 6})
}

func (m *Model) ageLine() line {
	if m.newest == nil {
		return line{}
	}
	now := m.opt.Now()
	s := m.newest.Snapshot
	var l line
	if m.w >= 76 {
		l.add(roleDim, s.At.In(now.Location()).Format("15:04:05 MST")+"  ")
	}
	r := roleDim
	if m.stale() {
		r = roleBad
	}
	l.add(r, "age "+age(ageOf(*m.newest, now)))
	return l
}

// whoLine says what this process may do and who decides.
func (m *Model) whoLine(w int) line {
	parts := append(m.whenParts(), m.recParts()...)
	switch m.live.ProcessMode {
	case control.ModeEnforced:
		parts = append(parts, part{badge(roleEnforce, "ENFORCED"), 0})
	case control.ModeShadow:
		parts = append(parts, part{badge(roleShadow, "SHADOW"), 0})
	default:
		parts = append(parts, part{badge(roleBadge, "WATCHING"), 0})
	}
	unfit := m.unfit()
	if m.opt.ReadOnly || unfit != "" || m.noPolicy() != "" {
		parts = append(parts, part{text(roleWarn, "read-only"), 1})
	}
	if unfit != "" {
		parts = append(parts, part{text(roleWarn, m.g.sep+" "+unfit), 4})
	}
	mem := safe(m.live.Memory, m.g.ascii)
	short, long, _ := strings.Cut(mem, ": ")
	if mem != "" && mem != "database" {
		parts = append(parts, part{text(roleWarn, short), 1})
	}
	switch m.live.Leader {
	case "":
		if short == "watch only" || m.noPolicy() != "" {
			break // nobody could lead
		}
		parts = append(parts, part{text(roleDim, "no leader known"), 2})
	case "self":
		parts = append(parts, part{text(roleGood, "leading"), 2})
	default:
		parts = append(parts, part{text(roleText, "following "+safe(m.live.Leader, m.g.ascii)), 2})
	}
	if mem == "database" {
		parts = append(parts, part{text(roleDim, m.g.sep+" decisions kept in the database"), 7})
	} else if long != "" {
		parts = append(parts, part{text(roleWarn, m.g.sep+" "+long), 3})
	}
	if m.live.Dropped > 0 {
		parts = append(parts, part{text(roleWarn, fmt.Sprintf("%s %d readings not drawn", m.g.sep, m.live.Dropped)), 6})
	}
	first := 0
	for _, p := range parts {
		if p.prio == 0 {
			first += p.line.w + 1
		}
	}
	right := m.totals(w, w-first)
	left := fitParts(parts, w-right.w-1, " ").clip(max(w-right.w-1, 0), m.g.dots)
	left.pad(w - right.w)
	return *left.join(right)
}

// totals counts the queues, and those that want a look: these come before what
// else the line has to say, if they fit into room columns of its w.
func (m *Model) totals(w, room int) line {
	var l line
	if m.picture == nil {
		return l
	}
	crowded, pending := 0, 0
	for _, r := range m.picture.rows {
		if m.crowded(r) {
			crowded++
		}
		if awaits(r) {
			pending++
		}
	}
	if pending > 0 {
		l.add(roleWarn, fmt.Sprintf("%s %d pending  ", m.g.pending, pending))
	}
	if crowded > 0 {
		l.add(roleWarn, fmt.Sprintf("%s %d contended  ", m.g.crowd, crowded))
	}
	queues := control.Plural(len(m.picture.rows), "queue")
	switch {
	case l.w+width(queues) <= w/2:
		l.add(roleDim, queues)
	case l.w > room:
		return line{}
	}
	return l
}

func (m *Model) tabLine(w int) line {
	var l line
	for _, s := range m.tabs() {
		name := screenNames[s]
		if s == screenHealth && m.newest != nil && len(m.newest.Snapshot.Problems) > 0 {
			name += " " + m.g.warn
		}
		if s == m.tab() {
			l.add(roleAccent, "["+name+"]")
		} else {
			l.add(roleDim, " "+name+" ")
		}
	}
	right := text(roleDim, fmt.Sprintf("every %s", m.opt.Interval))
	if l.w+right.w+2 > w {
		return l
	}
	return *l.pad(w - right.w).join(right)
}

// banner says that ticks fail: what happened, what to do, when the next try is.
func (m *Model) banner(w int) []line {
	if m.failure == nil {
		return nil
	}
	f, now := m.failure, m.opt.Now()
	first := " " + m.g.bad + " " + safe(f.What, m.g.ascii)
	if !f.Since.IsZero() {
		first += " (for " + age(now.Sub(f.Since)) + ")"
	}
	second := "   "
	if hint := safe(f.Hint, m.g.ascii); hint != "" {
		second += hint + " " + m.g.sep + " "
	}
	switch left := f.RetryIn - max(now.Sub(m.failed), 0); {
	case f.Fatal:
		second += "retrying will not help"
	case left > 0:
		second += "next try in " + age(left+999999999)
	default:
		second += "trying again"
	}
	var a, b line
	a.cell(roleBanner, first, w, false, m.g.dots)
	b.cell(roleBanner, second, w, false, m.g.dots)
	for _, l := range []*line{&a, &b} { // the ground reaches to the edge
		for i := range l.segs {
			l.segs[i].r = roleBanner
		}
	}
	return []line{a, b}
}

// problemLine is the first thing that could not be read, with what mends it.
func (m *Model) problemLine(w int) []line {
	if m.newest == nil || len(m.newest.Snapshot.Problems) == 0 || m.screen == screenHealth {
		return nil
	}
	all := m.newest.Snapshot.Problems
	p := all[0]
	var l line
	l.add(roleWarn, m.g.warn+" "+safe(p.Part, m.g.ascii)+": ").add(roleText, safe(p.Detail, m.g.ascii))
	if p.Hint != "" {
		l.add(roleDim, " "+m.g.sep+" ").add(roleText, safe(p.Hint, m.g.ascii))
	}
	more := text(roleAccent, "  ! ")
	if len(all) > 1 {
		more.add(roleDim, fmt.Sprintf("%d more", len(all)-1))
	} else {
		more.add(roleDim, "details")
	}
	l = l.clip(max(w-more.w, 0), m.g.dots)
	l.pad(w - more.w)
	return []line{*l.join(more)}
}
