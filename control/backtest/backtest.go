// Package backtest asks of a recording what the controller would have decided
// with other thresholds.
//
// The readings and the log are the recorded ones, and stay so: what the other
// thresholds would have done to the queues is not imagined. At each tick the
// question is what they would have wanted from where the queue really was. So a
// step that they would have taken earlier shows as a stretch in which they want
// it and the recorded ones do not, up to the tick in which those did.
//
// Two controllers decide at every tick, one by the recorded thresholds and one by
// the others; and for each of several changed thresholds a third that keeps this
// one as it was: where that one agrees with the record, the threshold was
// decisive.
//
// By the recorded thresholds the controller must come to the recorded decisions.
// How far it does is part of the report: what a recording does not hold (ticks
// that were missed, what was measured before it began) shows there.
package backtest

import (
	"errors"
	"io"
	"time"

	"shardpilot/control"
)

// Options are what is asked.
type Options struct {
	Policy  control.Policy // the recorded one
	Changes []Change
	Queue   string             // "" for all
	Before  []control.LogEntry // of the log, from before the recording
}

// Report is the answer.
type Report struct {
	From    time.Time `json:"from"` // server clock
	To      time.Time `json:"to"`
	Ticks   int       `json:"ticks"`
	Missed  int       `json:"missed"`  // ticks that the recording lacks
	Damaged int       `json:"damaged"` // stretches of it that cannot be read
	LostS   float64   `json:"lost_s"`  // seconds that they take
	Torn    bool      `json:"torn"`    // the last line is not whole
	Changes []Change  `json:"changes"`
	Check   Check     `json:"check"`
	// Steps are what the log says was done or proposed from From on; Earlier is how
	// many it begins with that are older.
	Steps   []Step `json:"steps"`
	Earlier int    `json:"earlier"`
	// Differences are the stretches in which another step was wanted, by time.
	Differences []Difference `json:"differences"`
	// Reasons is how many decisions to hold had another reason only.
	Reasons int `json:"reasons"`
}

// Check is how far the recorded thresholds lead to what was recorded.
type Check struct {
	Decisions int `json:"decisions"` // by a process that led, or was alone
	Same      int `json:"same"`
	Entries   int `json:"entries"` // of the log, the controller's own
	Explained int `json:"explained"`
	// Odd are the first decisions and entries that came out otherwise.
	Odd []Odd `json:"odd"`
}

// Holds says whether everything came out as recorded.
func (c Check) Holds() bool { return c.Same == c.Decisions && c.Explained == c.Entries }

// Odd is a decision or entry that the recorded thresholds do not lead to.
type Odd struct {
	At       time.Time `json:"at"`
	Queue    string    `json:"queue"`
	Recorded string    `json:"recorded"`
	Computed string    `json:"computed"`
}

// Step is a change or a proposal of the log.
type Step struct {
	At      time.Time       `json:"at"`
	Queue   string          `json:"queue"`
	From    int             `json:"from"`
	To      int             `json:"to"`
	Kind    control.LogKind `json:"kind"` // proposed, change or adopted
	Outcome control.Outcome `json:"outcome"`
	Reason  control.Reason  `json:"reason"`
	Actor   string          `json:"actor"`
}

// Wish is what a controller wanted.
type Wish struct {
	Action  control.Action `json:"action"`
	From    int            `json:"from"`
	To      int            `json:"to"`
	Reason  control.Reason `json:"reason"`
	Detail  string         `json:"detail"`
	Pending bool           `json:"pending"`
}

// Difference is a stretch in which the changed thresholds wanted another step of
// a queue than the recorded ones.
type Difference struct {
	Queue    string    `json:"queue"`
	From     time.Time `json:"from"` // first and last tick
	To       time.Time `json:"to"`
	Recorded Wish      `json:"recorded"`
	Other    Wish      `json:"other"`
	// Decisive are the changed thresholds without any one of which the recorded
	// decision would have come out. Empty when it takes several.
	Decisive []string `json:"decisive"`
}

// mostOdd and mostDifferences bound a report.
const (
	mostOdd         = 20
	mostDifferences = 10_000
)

// Run reads events from next until io.EOF. It refuses a queue that none of them
// knows.
func Run(o Options, next func() (control.Event, error)) (Report, error) {
	r := newRun(o)
	for {
		ev, err := next()
		if errors.Is(err, io.EOF) {
			return r.end(), r.known()
		}
		if err != nil {
			return Report{}, err
		}
		r.take(&ev)
	}
}
