package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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
	// Tape is a recording to show instead of Events; nothing can be done then.
	Tape Tape
	// Do carries out what an operator confirmed, and returns when its outcome is
	// known. Nil, or ReadOnly, takes the action keys away.
	Do       func(context.Context, control.Command) (control.Result, error)
	Actor    string        // who gives commands, a person's name; raw
	Host     string        // where they sit; raw
	Label    string        // environment label, shown first; raw
	ReadOnly bool          // said in the header
	Mouse    bool          // clicks choose and open; the terminal's own selection then needs shift
	Glyphs   string        // "auto" or "", "braille", "block", "ascii"
	Color    string        // "auto" or "", "truecolor", "256", "16", "none"
	Interval time.Duration // how often the picture advances; 0 means DefaultInterval
	// LabelColor is the ground of the environment label: red, orange, yellow,
	// green, blue, magenta, cyan, grey, or #rrggbb; "" means grey.
	LabelColor string
	// Theme is "auto" or "" (tones that can be read on black and on white),
	// "dark", "light", "contrast", or "mono", which has no colours but bold,
	// underlined and reversed text.
	Theme string
	// Columns are the overview's columns in their order, by the names of
	// ColumnNames; nil means all. The queue's name is always there. As ever
	// those of least importance fall away where there is no room.
	Columns []string
	// Thresholds say from where on a row is marked; zero fields mean the
	// defaults. They change colours and marks, never what the controller does.
	Thresholds Thresholds
	// Save keeps a picture of the screen as text under a name that has no
	// directory; it is called off the screen's own goroutine, one call at a
	// time. Nil takes the key away.
	Save func(name string, data []byte) error
	// Recorder can keep what is seen in a file. Nil takes the key away.
	Recorder Recorder
	Input    io.Reader           // keys; Run only
	Output   io.Writer           // the terminal; Run only
	LogFile  string              // where the log goes, shown on the health page; raw
	Reach    string              // how another terminal gets at the database, shown there too; raw
	Getenv   func(string) string // nil means os.Getenv
}

// Recorder keeps what is seen in a file, from a key press to the next.
type Recorder interface {
	// Toggle begins a recording in a file of its own, or ends the one that is
	// made, and says so in a sentence. It is called off the screen's own
	// goroutine, one call at a time.
	Toggle() (string, error)
	// Recording says whether one is being made, and why the last ended by itself,
	// nil when it did not. It answers at once.
	Recording() (on bool, failed error)
}

// Thresholds are what is drawn as trouble.
type Thresholds struct {
	Share   float64 // wait share 0..1 from which a queue is marked as contended; 0 means 0.25
	Heavy   float64 // wait share from which it is marked as bad, at least Share; 0 means 0.60
	Waiters float64 // sessions waiting below which a share means little; 0 means 1
}

func (t Thresholds) normal() Thresholds {
	if t.Share == 0 {
		t.Share = 0.25
	}
	if t.Heavy == 0 {
		t.Heavy = max(0.60, t.Share)
	}
	if t.Waiters == 0 {
		t.Waiters = 1
	}
	return t
}

// Validate names the first option that is not one of those allowed, as a usage
// Fault; nil when all are.
func (o Options) Validate() error {
	bad := func(what, hint string) error {
		return &control.Fault{Kind: control.FaultUsage, What: what, Hint: hint}
	}
	oneOf := func(name, value string, allowed ...string) error {
		if value == "" || slices.Contains(allowed, value) {
			return nil
		}
		return bad(fmt.Sprintf("%s is %q", name, value), "it may be "+strings.Join(allowed, ", "))
	}
	if _, ok := labelColor(o.LabelColor); !ok {
		return bad(fmt.Sprintf("the colour of the label is %q", o.LabelColor), "it may be "+strings.Join(labelColorNames(), ", ")+" or like #a02c2c")
	}
	for _, c := range o.Columns {
		if err := oneOf("a column", c, ColumnNames()...); err != nil || c == "" {
			return cmp.Or(err, bad("a column has no name", "it may be "+strings.Join(ColumnNames(), ", ")))
		}
	}
	t := o.Thresholds
	for _, v := range []float64{t.Share, t.Heavy} {
		if !(v >= 0 && v <= 1) {
			return bad(fmt.Sprintf("a threshold of the wait share is %v", v), "it must be 0 to 1")
		}
	}
	if n := t.normal(); n.Heavy < n.Share {
		return bad(fmt.Sprintf("the heavy threshold %v is below that of contention, %v", n.Heavy, n.Share), "raise it, or leave it out")
	}
	if !(t.Waiters >= 0 && t.Waiters <= 1e6) {
		return bad(fmt.Sprintf("the threshold of waiting sessions is %v", t.Waiters), "it must be 0 to a million")
	}
	return cmp.Or(oneOf("the theme", o.Theme, "auto", "dark", "light", "contrast", "mono"),
		oneOf("the set of glyphs", o.Glyphs, "auto", "braille", "block", "ascii"),
		oneOf("the colour", o.Color, "auto", "truecolor", "256", "16", "none"))
}

// normal fills in what was left out. What Validate would refuse counts as left
// out, for those who did not ask.
func (o Options) normal() Options {
	o.Thresholds = o.Thresholds.normal()
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
