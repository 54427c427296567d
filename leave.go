package main

import (
	"fmt"
	"strings"

	"shardpilot/control"
	"shardpilot/tui"
)

// namesSaid is how many queues a sentence names before it counts the rest.
const namesSaid = 5

// leaves says what stops with a process that led and acted, "" when nothing
// does. It is asked while the process still leads.
func leaves(s *station, process control.Mode) string {
	if s.leader == nil || process != control.ModeEnforced || !s.leader.Leadership().Leading {
		return ""
	}
	e, ok := s.runner.Newest()
	if !ok || e.Snapshot == nil {
		return ""
	}
	var names []string
	for _, d := range e.Decisions {
		if d.Mode == control.ModeEnforced {
			names = append(names, fmt.Sprintf("%s (S = %d)", tui.Safe(d.Queue), d.From))
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - namesSaid; more > 0 {
		names = append(names[:namesSaid], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("this process led %s and acted on %s: their counts stay as they are, and nobody acts until another shardpilot leads",
		tui.Safe(place(e)), strings.Join(names, ", "))
}
