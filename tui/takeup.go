package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// takeUpLines say how many producers are on the count, and how that is known.
func (m *Model) takeUpLines(r row, w int) []line {
	lines := []line{section("Producers", ofTotal(r.reading.Applied, r.reading.Producers)+" on S = "+shardCount(r.reading.Shards), w, m.g)}
	t := control.TakeUpOf(r.reading.ProducerList)
	if t.How() == "" {
		return append(lines, text(roleFaint, "none seen yet"))
	}
	s := t.How()
	if t.Stale > 0 || t.Unknown > 0 {
		s += fmt.Sprintf(" %s %d stale, %d unknown", m.g.sep, t.Stale, t.Unknown)
	}
	return append(lines, text(roleDim, cut(s, w, m.g.dots)))
}

// remedyLines name the producers that are stale, those with the same way out
// together, and say what makes each kind see a change.
func (m *Model) remedyLines(list []control.Producer, shards, w int) []line {
	names := map[string][]string{}
	var remedies []string
	for _, p := range list {
		if p.State != control.AppliedStale {
			continue
		}
		what := p.Remedy(shards)
		if names[what] == nil {
			remedies = append(remedies, what)
		}
		names[what] = append(names[what], safe(p.Name(), m.g.ascii))
	}
	if len(remedies) == 0 {
		return nil
	}
	var lines []line
	say := func(r role, s string, most int) {
		for _, part := range wrap(s, max(w-2, 1), most, m.g.dots) {
			lines = append(lines, text(r, "  "+part))
		}
	}
	for _, what := range remedies {
		say(roleWarn, m.g.warn+" "+strings.Join(names[what], "; "), 3)
		say(roleText, what, 5)
	}
	for _, s := range control.SeesChange {
		say(roleDim, s, 3)
	}
	return lines
}

// producerDetail says of the thing under the cursor why its state is what it is,
// and what changes that.
func (m *Model) producerDetail(it producerItem, w, most int) []line {
	lines := []line{section("Detail", "", w, m.g)}
	say := func(r role, s string) {
		for _, part := range wrap(s, w-2, 3, m.g.dots) {
			lines = append(lines, text(r, "  "+part))
		}
	}
	switch p, i := it.producer, it.instance; {
	case p != nil:
		say(roleStrong, safe(p.Name()+", "+p.How, m.g.ascii))
		say(roleText, m.g.told(p.Detail))
		say(roleText, p.Remedy(it.configed))
	case i != nil:
		names := make([]string, 0, len(i.Queues))
		for _, q := range i.Queues {
			names = append(names, safe(q, m.g.ascii))
		}
		say(roleText, "serves "+strings.Join(names, ", "))
		if older := m.olderThanCount(i); len(older) > 0 {
			say(roleWarn, "It started before the count of "+strings.Join(older, ", ")+" changed: what it promotes, retries and ages goes by the old one until it is restarted.")
		}
	}
	for len(lines) < most {
		lines = append(lines, line{})
	}
	return lines[:most]
}

// olderThanCount are the queues that an instance serves and whose count has
// changed since it started, as far as that is known here.
func (m *Model) olderThanCount(i *control.Instance) []string {
	up, ok := i.UptimeS.Get()
	if !ok || m.picture == nil {
		return nil
	}
	started := m.picture.event.Snapshot.At.Add(-time.Duration(up * float64(time.Second)))
	var older []string
	for _, r := range m.picture.rows {
		if r.changed != nil && r.changed.At.After(started) && slices.Contains(i.Queues, r.name) {
			older = append(older, r.label)
		}
	}
	return older
}
