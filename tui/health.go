package tui

import (
	"fmt"

	"shardpilot/control"
)

// healthPage says what could not be read and what mends it, where decisions are
// kept, and what looking costs the database.
func (m *Model) healthPage(w, h int) []line {
	var lines []line
	say := func(r role, s string) {
		for _, part := range wrap(safe(s, m.g.ascii), w-4, 6, m.g.dots) {
			lines = append(lines, text(r, "  "+part))
		}
	}
	if m.newest == nil {
		lines = append(lines, line{})
		say(roleText, "No reading yet.")
		return lines
	}
	s := m.newest.Snapshot
	lines = append(lines, section("What could not be read", control.Plural(len(s.Problems), "problem"), w, m.g))
	if len(s.Problems) == 0 {
		say(roleGood, "everything could be read")
	}
	for _, p := range s.Problems {
		var l line
		l.add(roleWarn, m.g.warn+" "+safe(p.Part, m.g.ascii))
		lines = append(lines, l)
		say(roleText, p.Detail)
		say(roleAccent, p.Hint)
	}
	lines = append(lines, line{}, section("Awa", safe(string(s.Awa.State), m.g.ascii), w, m.g))
	say(roleText, s.Awa.Sentence)
	say(roleAccent, s.Awa.Hint)
	for _, missing := range s.Awa.Missing {
		say(roleWarn, "missing: "+missing)
	}
	lines = append(lines, line{}, section("Decisions", "", w, m.g))
	switch m.live.Memory {
	case "":
		say(roleDim, "where they are kept is not known yet")
	case "database":
		say(roleText, "kept in the database")
	default:
		say(roleWarn, m.live.Memory)
	}
	lines = append(lines, line{}, section("Cost of looking", "", w, m.g))
	c := s.Cost
	say(roleText, fmt.Sprintf("%s of one backend's time, %d statements since the last reading, %s looks a second, %s of them at the lock table",
		percent(control.Some(c.BusyShare)), c.Statements, count(control.Some(c.SampleHz)), percent(c.LocksReadShare)))
	say(roleDim, aimWords(c))
	if c.SlowedDown {
		say(roleWarn, slowedWords(c))
	}
	lines = append(lines, line{}, section("Clocks", "", w, m.g))
	say(roleText, "server minus ours "+skew(s.ClockSkew.Seconds())+"; ages are taken from the server's clock")
	say(roleText, "server started "+s.Database.StartedAt.In(m.opt.Now().Location()).Format("2006-01-02 15:04:05 MST"))
	if m.opt.Reach != "" {
		lines = append(lines, line{}, section("From another terminal", "", w, m.g))
		say(roleText, m.opt.Reach)
	}
	if m.opt.LogFile != "" {
		lines = append(lines, line{}, section("Log", "", w, m.g))
		say(roleText, m.opt.LogFile)
	}
	return m.scroll(lines, h)
}

// aimWords is what looking aims at. Waiting for a processor is in what was
// measured, and not in what can be aimed at.
func aimWords(c control.Cost) string {
	hz, share := count(control.Some(c.AimHz)), percent(control.Some(c.AimShare))
	switch {
	case c.AimHz == 0:
		return ""
	case c.Pace > 1:
		return fmt.Sprintf("a pace of %g asks for %s looks a second and allows up to %s of one backend's time, more than without it; waiting for a processor comes on top", c.Pace, hz, share)
	}
	return fmt.Sprintf("it aims at %s looks a second and at most %s of one backend's time; waiting for a processor comes on top", hz, share)
}

// slowedWords say which part of looking costs more than its share, and so is done
// less often.
func slowedWords(c control.Cost) string {
	switch {
	case c.AimHz == 0:
		return "looking holds itself back"
	case c.SampleHz < 0.96*c.AimHz:
		return "it looks less often than that: a look costs more than its share"
	}
	return "counts, depth or rates are read less often than they would be: reading them costs more than its share"
}

func skew(f float64) string {
	if f < 0 {
		return "-" + seconds(control.Some(-f))
	}
	return seconds(control.Some(f))
}
