package control

import (
	"fmt"
	"time"
)

// The bounds of a shard count in Awa, and of the maximum auto mode may have.
const (
	MinShards = 1
	MaxShards = 64
	MinMax    = 2
	MaxMax    = 64
	// WarnMax is the maximum above which an operator is warned: lanes are for
	// ever, and every claim looks at all of them.
	WarnMax = 8
)

// QueuePolicy is what operators allow for one queue. The zero value, and a
// queue without one, is manual: never touched.
type QueuePolicy struct {
	Queue    string `json:"queue"`    // physical name, raw
	Auto     bool   `json:"auto"`     // the controller may decide for this queue
	Enforced bool   `json:"enforced"` // and act, when the process runs enforced too
	Max      int    `json:"max"`      // highest count it may choose, 2..64; 0 when never set

	// Accepted records who accepted partitioned FIFO for this queue. Without
	// it nothing ever crosses from one shard to more.
	AcceptedBy string    `json:"accepted_by"` // "" when nobody has
	AcceptedAt time.Time `json:"accepted_at,omitzero"`

	Pin       *Pin   `json:"pin,omitempty"`        // nil when not pinned
	PauseUp   *Pause `json:"pause_up,omitempty"`   // nil when steps up are not paused
	PauseDown *Pause `json:"pause_down,omitempty"` // nil when steps down are not paused

	UpdatedBy string    `json:"updated_by"` // name@host
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// Generation counts the changes of this row, so that two operators cannot
	// overwrite each other unseen. 0 for a queue without a row.
	Generation int64 `json:"generation"`
}

// Pin keeps a queue at one count: nothing is written by itself while it lasts.
type Pin struct {
	Shards int       `json:"shards"`
	Until  time.Time `json:"until,omitzero"` // server clock; zero means until unpinned
	By     string    `json:"by"`             // name@host
	Why    string    `json:"why"`
}

// Pause stops steps in one direction until resumed.
type Pause struct {
	At  time.Time `json:"at"`
	By  string    `json:"by"` // name@host
	Why string    `json:"why"`
}

// Holds says whether the pin is in force at now.
func (p *Pin) Holds(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || now.Before(p.Until))
}

// Accepted says whether somebody accepted partitioned FIFO.
func (q QueuePolicy) Accepted() bool { return q.AcceptedBy != "" }

// Mode is the mode in force for the queue in a process that runs as process:
// enforced needs both to say so.
func (q QueuePolicy) Mode(process Mode) Mode {
	switch {
	case !q.Auto:
		return ModeManual
	case q.Enforced && process == ModeEnforced:
		return ModeEnforced
	}
	return ModeShadow
}

// Validate names what makes the row unfit, as a usage Fault; nil when nothing
// does.
func (q QueuePolicy) Validate() error {
	var bad BadFields
	if q.Queue == "" {
		bad = append(bad, "the queue has no name")
	}
	if q.Auto && (q.Max < MinMax || q.Max > MaxMax) {
		bad = append(bad, fmt.Sprintf("max is %d, must be %d to %d", q.Max, MinMax, MaxMax))
	}
	if q.Auto && !q.Accepted() {
		bad = append(bad, "auto needs somebody to accept partitioned FIFO")
	}
	if q.Enforced && !q.Auto {
		bad = append(bad, "enforced needs auto")
	}
	if q.Pin != nil && (q.Pin.Shards < MinShards || q.Pin.Shards > MaxShards) {
		bad = append(bad, fmt.Sprintf("pin is %d, must be %d to %d", q.Pin.Shards, MinShards, MaxShards))
	}
	if bad == nil {
		return nil
	}
	return &Fault{Kind: FaultUsage, What: "queue policy: " + bad.Error(), Err: bad}
}
