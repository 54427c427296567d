package tui

import (
	"fmt"
	"strings"
)

// helpPage is printed from the key table, and explains the signs.
func (m *Model) helpPage(w, h int) []line {
	if needle := strings.ToLower(m.filter()); needle != "" {
		return m.scroll(m.helpAbout(needle), h)
	}
	left := m.keyLines()
	right := m.signLines()
	if w < 90 {
		return m.scroll(append(append(left, line{}), right...), h)
	}
	return m.scroll(beside(left, right, w*52/100, 3, m.g.dots), h)
}

// helpAbout are the keys that have the text in their name or in what they do.
func (m *Model) helpAbout(needle string) []line {
	var lines []line
	for _, b := range m.bindings() {
		names := make([]string, 0, len(b.keys))
		for _, k := range b.keys {
			names = append(names, keyName(k))
		}
		all := strings.Join(names, " ")
		if !strings.Contains(strings.ToLower(all+" "+b.help+" "+b.short+" "+b.group), needle) {
			continue
		}
		var l line
		l.cell(roleAccent, "  "+all, 24, false, m.g.dots).add(roleText, " "+b.help).add(roleDim, "  "+b.group)
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return []line{{}, text(roleDim, "  no key does anything like \""+m.filter()+"\"; esc shows all")}
	}
	return lines
}

func (m *Model) keyLines() []line {
	var lines []line
	group := ""
	for _, b := range m.bindings() {
		if b.group != group {
			if group != "" {
				lines = append(lines, line{})
			}
			group = b.group
			lines = append(lines, text(roleTitle, group))
		}
		var l line
		l.cell(roleAccent, "  "+keyName(b.keys[0]), 13, false, "").add(roleText, b.help)
		lines = append(lines, l)
	}
	return lines
}

func keyName(k string) string {
	switch k {
	case " ":
		return "space"
	case "+", "-":
		return k
	}
	return strings.ReplaceAll(k, "+", "-")
}

func (m *Model) signLines() []line {
	g := m.g
	lines := []line{text(roleTitle, "Signs")}
	for _, s := range []struct {
		r          role
		sign, what string
	}{
		{roleWarn, g.pending, "a step waits for a hand"},
		{roleWarn, g.crowd, fmt.Sprintf("producers stand in line: %v or more, %s of the time", m.opt.Thresholds.Waiters, percentLabel(m.opt.Thresholds.Share))},
		{roleBad, g.bad, "one transaction keeps a lane for 2 s or longer"},
		{roleWarn, g.warn, "a producer is not on the configured count"},
	} {
		var l line
		l.add(s.r, "  "+s.sign+" ").add(roleText, s.what)
		lines = append(lines, l)
	}
	lines = append(lines, line{}, text(roleTitle, "What happened, on charts"))
	for _, s := range []struct {
		r          role
		sign, what string
	}{
		{roleWarn, g.change + " " + g.down2, "the count was raised, lowered"},
		{roleAccent, g.wish, "shadow mode would have changed it"},
		{roleAccent, g.pin + " " + g.act, "an operator pinned it, did something else"},
		{roleGood, g.kept, "a change brought what it should; " + g.warn + " when not"},
	} {
		var l line
		l.cell(s.r, "  "+s.sign, 6, false, "").add(roleText, s.what)
		lines = append(lines, l)
	}
	lines = append(lines, line{}, text(roleTitle, "What the waits are behind"))
	for _, c := range []struct {
		c    byte
		what string
	}{
		{causeLane, "lane: the holders work; more shards help"},
		{causeNotify, "notify: they wait to notify; more shards do not"},
		{causeStuck, "stuck: one transaction keeps the lane"},
		{causeUnknown, "hidden: our role may not see what they do"},
	} {
		var l line
		l.add(causeRole(c.c), "  "+g.causes[c.c]+" "+g.stack[c.c]+" ").add(roleText, c.what)
		lines = append(lines, l)
	}
	lines = append(lines, line{}, text(roleTitle, "Columns"))
	for _, s := range []string{
		"  WAIT     waiting for a lane, mean of a second;",
		"           sorted by that of 10 s, so that rows stay",
		"           dim: of up to 3 s ago, no sample since",
		"  SHARE    waiting of all inside the enqueue, 0..100%",
		"  S        enqueue shards, and the step that is wanted",
		"  MODE     enforced*: but this process runs shadow",
		"  APPLIED  producers known to be on that count, of all",
		"  DEPTH    ready jobs;  LAG  wait of the oldest",
		"  n/a      could not be read, which is not zero",
	} {
		lines = append(lines, text(roleText, s))
	}
	return lines
}
