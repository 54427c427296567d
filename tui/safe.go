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

// SafeLines is s made safe line by line: its line ends stay.
func SafeLines(s string) string {
	parts := strings.Split(s, "\n")
	for i, p := range parts {
		parts[i] = safe(p, false)
	}
	return strings.Join(parts, "\n")
}
