package tui

import "strings"

// inDatabase is what an event says of its memory when the log is kept.
const inDatabase = "database"

// alone says whether the process watches only: what is set stays in memory,
// and no count is ever written.
func (m *Model) alone() bool {
	return strings.HasPrefix(m.live.Memory, "watch only") || strings.HasPrefix(m.live.Memory, "decisions are kept in memory")
}

// noCounts says in a sentence why no shard count can be written from here, ""
// when it can. What changes a policy only may be possible all the same.
func (m *Model) noCounts() string {
	if m.alone() {
		return "watch only: no shard count can be written; ! tells what is missing"
	}
	if why := m.unfit(); why != "" {
		return "read-only: " + why
	}
	return ""
}

// unfit is why Awa's tables must not be written to, safe; "" when they may be
// or nothing is known yet.
func (m *Model) unfit() string {
	if m.newest == nil || m.newest.Snapshot.Awa.MayWrite {
		return ""
	}
	awa := m.newest.Snapshot.Awa
	switch {
	case len(awa.Missing) > 0:
		return "missing " + m.g.told(strings.Join(awa.Missing, ", "))
	case awa.Sentence != "":
		return m.g.told(awa.Sentence)
	}
	return "Awa's state is " + safe(string(awa.State), m.g.ascii)
}

// noPolicy says why not even a policy can be changed, "" when it can.
func (m *Model) noPolicy() string {
	switch {
	case m.alone():
		return "" // it is kept in memory
	case m.newest != nil && m.newest.Snapshot.Database.ReadOnly:
		return "read-only: this server accepts no writes"
	case m.live.Memory != inDatabase && m.live.Memory != "":
		return "read-only: " + m.g.told(m.live.Memory)
	}
	return ""
}
