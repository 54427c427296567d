package tui

import "strings"

// Safe makes a name from the database fit for a terminal or a log line:
// control characters, escapes and direction overrides are shown, never
// interpreted.
func Safe(s string) string { return safe(s, false) }

// Fit is s made safe and cut or padded to exactly w cells.
func Fit(s string, w int) string {
	s = cut(safe(s, false), w, "…")
	return s + strings.Repeat(" ", max(0, w-width(s)))
}
