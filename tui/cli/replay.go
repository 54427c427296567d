package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"shardpilot/control/record"
	"shardpilot/tui"
)

// Replay shows the recording that the command names: on a screen, or as the
// lines that a run would have printed where there is no terminal.
func Replay(ctx context.Context, c Command, now func() time.Time) error {
	lines := c.JSON || !HasTerminal()
	if !lines {
		if err := WantsTerminal("add --json"); err != nil {
			return err
		}
	}
	rec, err := record.Open(c.Record.File)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }() // it was only read
	tape := rec.Tape()
	if lines {
		return replayLines(ctx, os.Stdout, os.Stderr, tape, c.JSON)
	}
	o := c.Screen.Options()
	o.Tape, o.Now, o.Input, o.Output = tape, now, os.Stdin, os.Stdout
	return tui.Run(ctx, o)
}

func replayLines(ctx context.Context, w, notes io.Writer, tape *record.Tape, asJSON bool) error {
	out := TextStream(w)
	if asJSON {
		out = JSONStream(w)
	}
	if n := tape.Note(); n != "" {
		_, _ = fmt.Fprintln(notes, "shardpilot: "+n)
	}
	for ctx.Err() == nil {
		ev, _, err := tape.Next()
		if errors.Is(err, io.EOF) {
			if n := tape.Bad(); n > 0 {
				_, _ = fmt.Fprintf(notes, "shardpilot: %s of the recording, %.0f s, could not be read; what happened there is missing\n",
					stretches(n), tape.Lost().Seconds())
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.Event(ev); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
