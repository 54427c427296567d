package cli

import (
	"errors"
	"os"
	"strings"

	"shardpilot/tui"
)

// Safe makes a name from the database fit for a terminal.
func Safe(s string) string { return tui.Safe(s) }

// Called is a database as questions name it: with the label of its environment.
func (c Command) Called(database string) string {
	return Safe(strings.TrimPrefix(c.Screen.Label+" "+database, " "))
}

// fit is a name made safe and exactly w cells wide.
func fit(s string, w int) string { return tui.Fit(s, w) }

// Options is the screen as asked for, without what only main has.
func (s Screen) Options() tui.Options {
	return tui.Options{Label: s.Label, LabelColor: s.LabelColor, ReadOnly: s.ReadOnly, Mouse: s.Mouse, Glyphs: s.Glyphs, Color: s.Color,
		Theme: s.Theme, Columns: s.Columns, Thresholds: s.Thresholds, Interval: s.Interval, Reach: s.Reach, LogFile: s.LogFile, Save: save}
}

// save keeps a picture in the working directory, and overwrites nothing.
func save(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
