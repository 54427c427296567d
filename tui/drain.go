package tui

import "shardpilot/control"

// drainPane says what is left above a lowered count, until nothing is.
func (m *Model) drainPane(r row, w int) []line {
	d := drains(r)
	if d == nil {
		return nil
	}
	title := " Draining"
	if d.State == control.DrainUnknown {
		title = " Upper lanes"
	}
	lines := []line{section(m.g.down2+title, "above S = "+shardCount(d.From), w, m.g)}
	for _, s := range wrap(m.g.told(d.Words()), w, 3, m.g.dots) {
		lines = append(lines, text(drainRole(d), s))
	}
	if d.State == control.DrainUnknown {
		return lines
	}
	for _, s := range wrap(control.DrainOrder, w, 3, m.g.dots) {
		lines = append(lines, text(roleDim, s))
	}
	return lines
}

// drains is what a row drains, nil when nothing is left above its count.
func drains(r row) *control.Drain {
	if d := r.reading.Drain; d.Active() && !r.past {
		return d
	}
	return nil
}

// drainRole warns harder of what does not end by itself.
func drainRole(d *control.Drain) role {
	switch d.State {
	case control.DrainStanding, control.DrainUnclaimed:
		return roleBad
	case control.DrainDone, control.DrainFalling, control.DrainMeasuring, control.DrainLocked, control.DrainUnknown:
	}
	return roleWarn
}

// lanesFact counts the lanes, and those above the count.
func (m *Model) lanesFact(r row) string {
	fact := control.Plural(len(r.reading.Lanes), "lane")
	d := r.reading.Drain
	if d == nil || r.past {
		return fact
	}
	fact += ", " + m.g.down2 + " from shard " + shardCount(d.From) + " up"
	switch {
	case d.Active() && d.State == control.DrainUnknown:
		return fact + " not known"
	case d.Active():
		return fact + " draining"
	}
	return fact + " drained"
}
