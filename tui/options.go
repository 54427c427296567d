package tui

import (
	"context"
	"io"
	"os"
	"time"

	"shardpilot/control"
)

// The bounds and the default of Options.Interval.
const (
	MinInterval     = 250 * time.Millisecond
	MaxInterval     = 10 * time.Second
	DefaultInterval = time.Second
)

// Options are what the screen needs from main.
type Options struct {
	Events <-chan control.Event // ticks of the runner; may be nil in tests
	Now    func() time.Time     // our clock; required
	// Do carries out what an operator confirmed, and returns when its outcome is
	// known. Nil, or ReadOnly, takes the action keys away.
	Do       func(context.Context, control.Command) (control.Result, error)
	Actor    string              // who gives commands, a person's name; raw
	Host     string              // where they sit; raw
	Label    string              // environment label, shown first; raw
	ReadOnly bool                // said in the header
	Glyphs   string              // "auto" or "", "braille", "block", "ascii"
	Color    string              // "auto" or "", "truecolor", "256", "16", "none"
	Interval time.Duration       // how often the picture advances; 0 means DefaultInterval
	Input    io.Reader           // keys; Run only
	Output   io.Writer           // the terminal; Run only
	LogFile  string              // where the log goes, shown on the health page; raw
	Getenv   func(string) string // nil means os.Getenv
}

func (o Options) normal() Options {
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	o.Interval = min(max(o.Interval, MinInterval), MaxInterval)
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	return o
}

// intervals are the steps of the + and - keys.
var intervals = [...]time.Duration{
	MinInterval, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, MaxInterval,
}

// slower and faster give the next step from d, or d at the end.
func slower(d time.Duration) time.Duration {
	for _, s := range intervals {
		if s > d {
			return s
		}
	}
	return d
}

func faster(d time.Duration) time.Duration {
	for i := len(intervals) - 1; i >= 0; i-- {
		if intervals[i] < d {
			return intervals[i]
		}
	}
	return d
}
