package record

import (
	"time"

	"shardpilot/control"
)

// Format is the version of the format that is written, and the newest that is
// read.
const Format = 1

const magic = "recording" // of Header.Shardpilot

// The words that lines begin with.
const (
	wordHeader = `{"shardpilot":`
	wordBefore = `{"before":`
	wordPoint  = `{"point":`
	wordPast   = `{"past":`
	wordNames  = `{"names":`
	wordGone   = `{"gone":`
	wordMore   = `{"more":`
	wordEntry  = `{"entry":`
	wordFail   = `{"fail":`
)

// Header is the first line.
type Header struct {
	Shardpilot string           `json:"shardpilot"` // "recording"
	Format     int              `json:"format"`
	Program    string           `json:"program"` // version that wrote it
	ID         string           `json:"id"`      // the same in each part of one recording
	Part       int              `json:"part"`    // from 1, rising with each rotation
	Started    time.Time        `json:"started"` // clock of the machine that recorded
	Process    control.Mode     `json:"process"`
	Pace       float64          `json:"pace"` // by which Policy's durations were divided
	Hashed     bool             `json:"hashed"`
	Server     control.Database `json:"server"`
	Policy     control.Policy   `json:"policy"` // in force, pace included; durations in nanoseconds
}

// point is where reading can begin.
type point struct {
	N    int        `json:"n"`    // from 1 in each file
	T    int64      `json:"t"`    // of the event that follows: our clock, nanoseconds, made to rise
	At   int64      `json:"at"`   // the same by the server's clock, as far as known
	Prev int64      `json:"prev"` // offset of the point before, 0 for none
	Log  [][3]int64 `json:"log"`  // entries since then: offset, t, 1 for one that is a mark
	From int64      `json:"from"` // t of the point before, also of another file
	Book int        `json:"book"` // of the names that numbers stand for
}

// names are strings that later lines name by their place in a book: all of it
// after a point, what is new otherwise. A book only grows, until there is
// another.
type names struct {
	Book int      `json:"book"`
	From int      `json:"from"` // place of the first
	List []string `json:"list"`
}

// more is everything of an event that is not numbers, as far as it changed.
type more struct {
	Still     []int                 `json:"still,omitempty"` // queues about which nothing is decided any more
	Database  *control.Database     `json:"database,omitempty"`
	Awa       *control.Installation `json:"awa,omitempty"`
	Problems  *[]control.Problem    `json:"problems,omitempty"`
	Instances *[]control.Instance   `json:"instances,omitempty"`
	Cost      *control.Cost         `json:"cost,omitempty"`
	World     *world                `json:"world,omitempty"`
	Decisions []decision            `json:"decisions,omitempty"`
	Producers []producers           `json:"producers,omitempty"`

	// Of this event alone.
	Changes       []control.Change       `json:"changes,omitempty"`
	Verifications []control.Verification `json:"verifications,omitempty"`
}

// world is what an event says of the process that made it.
type world struct {
	Process  control.Mode `json:"process"`
	Leader   string       `json:"leader"` // as in control.Event
	Memory   string       `json:"memory"`
	Dropped  int          `json:"dropped,omitempty"`
	InFlight string       `json:"in_flight,omitempty"`

	Alone     bool      `json:"alone,omitempty"`
	Store     string    `json:"store,omitempty"`
	Leading   bool      `json:"leading,omitempty"`
	Epoch     int64     `json:"epoch,omitempty"`
	Name      string    `json:"name,omitempty"`
	Refused   string    `json:"refused,omitempty"`
	WarmUntil time.Time `json:"warm_until,omitzero"`
	WarmWhy   string    `json:"warm_why,omitempty"`
	StepUntil time.Time `json:"step_until,omitzero"`
}

// decision is a control.Decision of the queue with number Q; its time is that
// of the event.
type decision struct {
	Q        int                  `json:"q"`
	Mode     control.Mode         `json:"mode"`
	Action   control.Action       `json:"action"`
	From     int                  `json:"from"`
	To       int                  `json:"to"`
	Reason   control.Reason       `json:"reason"`
	Detail   string               `json:"detail"`
	Blockers []control.Blocker    `json:"blockers,omitempty"`
	Gain     control.Value        `json:"gain,omitzero"`
	Pending  bool                 `json:"pending,omitempty"`
	Evidence []control.Value      `json:"evidence"` // see evidenceFields
	Next     time.Time            `json:"next,omitzero"`
	Step     *control.Pending     `json:"step,omitempty"`
	Policy   *control.QueuePolicy `json:"policy,omitempty"` // nil for the zero one
}

// producers are the producers of the queue with number Q.
type producers struct {
	Q    int                `json:"q"`
	List []control.Producer `json:"list"`
}

// fail is a tick that produced nothing.
type fail struct {
	T     int64           `json:"t"`
	At    int64           `json:"at"`    // our clock
	Now   int64           `json:"now"`   // server clock as far as known, 0 for never
	Error control.Failure `json:"error"` // its names are Go's
}

// The places of a tick: head, then a row for each queue that changed.
const (
	headT        = iota // our clock, nanoseconds, made to rise
	headAt              // our clock, nanoseconds
	headServer          // server clock of the snapshot
	headSkew            // nanoseconds
	headPeriod          // seconds, as most readings of the tick have it
	headExpected        // looks, likewise
	headSamples         // looks, likewise
	headWindow          // seconds, likewise
)

// The places of a row. A period, number of looks or window that is the head's
// is null.
const (
	rowQueue = iota
	rowShards
	rowWaiters
	rowShare
	rowLow
	rowHigh
	rowRate
	rowDepth
	rowLag
	rowBottleneck
	rowLane
	rowNotify
	rowStuck
	rowUnknown
	rowPeriod // up to here a row of a past goes
	rowExpected
	rowSamples
	rowWindow
	rowWaitSum
	rowHoldSum
	rowHolders
	rowInside
	rowWaitEach
	rowApplied
	rowProducers
	rowStale
	rowHighest
	rowDrained // from which lane on all are empty, null when not known
	rowAt      // nanoseconds after the snapshot's
	rowLanes   // how many follow, then laneFields numbers each; then the holders, and the drain
	rowFixed
)

const (
	laneFields   = 7  // priority, shard, waiters, busy, depth, lag, rate
	holderFields = 12 // see encoder.holder
	drainFields  = 7  // see encoder.drain
)

var bottlenecks = [...]control.Bottleneck{"", control.BottleneckNone, control.BottleneckLane, control.BottleneckNotify,
	control.BottleneckStuck, control.BottleneckUnknown}

func bottleneckNumber(b control.Bottleneck) int64 {
	for i, known := range bottlenecks {
		if b == known {
			return int64(i)
		}
	}
	return 0
}

// evidenceFields are the figures of an evidence, in the order they are kept in.
func evidenceFields(e *control.Evidence) []*control.Value {
	return []*control.Value{&e.Share, &e.ShareLow, &e.ShareHigh, &e.Waiters, &e.Inside, &e.EnqueueRate, &e.WaitPerEnqS, &e.Depth,
		&e.Causes.Lane, &e.Causes.Notify, &e.Causes.Stuck, &e.Causes.Unknown, &e.TopLaneShare, &e.Applied, &e.Producers, &e.PredictedGain}
}

// marks says whether an entry is one that people look for.
func marks(e *control.LogEntry) bool { return e.Kind != control.LogDecision }
