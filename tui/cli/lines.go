package cli

import (
	"context"
	"os"

	"shardpilot/control"
)

// Stream writes what happens to standard output, as text or JSON.
func (c Command) Stream() Stream {
	if c.JSON {
		return JSONStream(os.Stdout)
	}
	return TextStream(os.Stdout)
}

// Lines writes what comes until ctx ends, what has come by then too, and counts
// it for the summary.
func (c Command) Lines(ctx context.Context, events <-chan control.Event, sum *Summary) error {
	out := c.Stream()
	for {
		var e control.Event
		var open bool
		select {
		case e, open = <-events:
		default:
			select {
			case e, open = <-events:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if !open {
			return nil // the runner ended; it says why
		}
		sum.Count(e)
		if err := out.Event(e); err != nil {
			return err
		}
	}
}
