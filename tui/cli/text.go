package cli

import "shardpilot/tui"

// Safe makes a name from the database fit for a terminal.
func Safe(s string) string { return tui.Safe(s) }

// fit is a name made safe and exactly w cells wide.
func fit(s string, w int) string { return tui.Fit(s, w) }
