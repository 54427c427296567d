package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"shardpilot/control"
	"shardpilot/control/record"
)

// Recording tells a person on standard error how a recording goes, until ctx ends
// or the recording does, which is its error then.
func Recording(ctx context.Context, r *record.Recorder, events <-chan control.Event) error {
	p := progress{w: os.Stderr, terminal: term.IsTerminal(os.Stderr.Fd())}
	defer p.end()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case ev, ok := <-events:
			if !ok {
				return nil
			}
			s := r.Status()
			if !s.On {
				return s.Err
			}
			p.tell(s, ev)
		}
	}
}

// progress is a line that is written over on a terminal, and a line now and
// then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	told     time.Time
}

func (p *progress) tell(s record.Status, ev control.Event) {
	every, end, begin := time.Minute, "\n", ""
	if p.terminal {
		every, end, begin = time.Second, "", "\r\x1b[K"
	}
	if !p.told.IsZero() && ev.At.Sub(p.told) < every {
		return
	}
	p.told = ev.At
	words := "recording " + recordingWords(s, ev.At)
	if ev.Err != nil {
		words += "; no reading at the moment: " + Safe(ev.Err.What)
	}
	_, _ = fmt.Fprint(p.w, begin+words+end) // progress is worth no failure
}

func (p *progress) end() {
	if p.terminal && !p.told.IsZero() {
		_, _ = fmt.Fprintln(p.w)
	}
}

func recordingWords(s record.Status, now time.Time) string {
	words := fmt.Sprintf("%s: %d ticks of %d queues, %s", max(now.Sub(s.Since), 0).Round(time.Second), s.Ticks, s.Queues, Size(s.Bytes))
	if s.Missed > 0 {
		words += fmt.Sprintf(", %d ticks missed", s.Missed)
	}
	return words
}

// Recorded prints what a recording came to.
func Recorded(w io.Writer, s record.Status, now time.Time, asJSON bool) error {
	if asJSON {
		return Object(w, map[string]any{"file": s.File, "seconds": max(now.Sub(s.Since), 0).Seconds(), "ticks": s.Ticks, "queues": s.Queues,
			"bytes": s.Bytes, "missed": s.Missed})
	}
	_, err := fmt.Fprintf(w, "recorded %s to %s\n", recordingWords(s, now), Safe(s.File))
	return err
}
