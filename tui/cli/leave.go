package cli

import (
	"fmt"
	"strings"

	"shardpilot/control"
)

// namesSaid is how many queues a sentence names before it counts the rest.
const namesSaid = 5

// Leaving says what stops with a process that led place and acted on the
// enforced queues among decisions; "" when there are none.
func Leaving(place string, decisions []control.Decision) string {
	var names []string
	for _, d := range decisions {
		if d.Mode == control.ModeEnforced {
			names = append(names, fmt.Sprintf("%s (S = %d)", Safe(d.Queue), d.From))
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - namesSaid; more > 0 {
		names = append(names[:namesSaid], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("this process led %s and acted on %s: their counts stay as they are, and nobody acts until another shardpilot leads",
		Safe(place), strings.Join(names, ", "))
}
