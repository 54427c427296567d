package control

import "time"

// Mode is what the controller may do with a queue.
type Mode string

// The modes. Manual queues are never touched; shadow decides and writes
// nothing; enforced acts when the process runs enforced too.
const (
	ModeManual   Mode = "manual"
	ModeShadow   Mode = "shadow"
	ModeEnforced Mode = "enforced"
)

// Action is what a decision wants done.
type Action string

// The actions.
const (
	ActionHold   Action = "hold"
	ActionGrow   Action = "grow"
	ActionShrink Action = "shrink"
)

// Reason is why a decision came out as it did: a code from the closed list in
// reasons.go. Blockers name their rule with the same codes.
type Reason string

// Blocker is one rule that stands in the way of a step.
type Blocker struct {
	Rule   Reason `json:"rule"`
	Detail string `json:"detail"` // how far it is from giving way, e.g. "share 0.19, needs 0.25"
	// For is the direction the rule stands in the way of, "" for both.
	For Action `json:"for,omitempty"`
	// Until is when the rule gives way by itself, zero when that depends on
	// what will be measured.
	Until time.Time `json:"until,omitzero"`
}

// Evidence is what a decision rests on, kept with it in the log.
type Evidence struct {
	Share         Value   `json:"share"`
	ShareLow      Value   `json:"share_low"`
	ShareHigh     Value   `json:"share_high"`
	WindowS       float64 `json:"window_s"` // seconds behind Share
	Waiters       Value   `json:"waiters"`
	Inside        Value   `json:"inside"`
	EnqueueRate   Value   `json:"enqueue_rate"`
	WaitPerEnqS   Value   `json:"wait_per_enqueue_s"`
	Depth         Value   `json:"depth"`
	Causes        Causes  `json:"causes"`
	TopLaneShare  Value   `json:"top_lane_share"` // share of the waits in the worst lane, 0..1
	Applied       Value   `json:"applied"`
	Producers     Value   `json:"producers"`
	PredictedGain Value   `json:"predicted_gain"` // throughput ratio S' to S by the model
}

// Decision is what the controller wants for one queue at one tick, and why.
type Decision struct {
	At            time.Time `json:"at"`
	Queue         string    `json:"queue"`
	Mode          Mode      `json:"mode"`
	Action        Action    `json:"action"`
	From          int       `json:"from"`
	To            int       `json:"to"` // equal to From on hold
	Reason        Reason    `json:"reason"`
	Detail        string    `json:"detail"` // the reason in words, with its figures
	Blockers      []Blocker `json:"blockers"`
	PredictedGain Value     `json:"predicted_gain"`
	Pending       bool      `json:"pending"` // every rule allows it, a hand is needed
	Evidence      Evidence  `json:"evidence"`
	Next          time.Time `json:"next,omitzero"` // earliest time of the next step, zero when not known
	// Step is the queue's pending step, nil when none waits. It may outlive the
	// evidence: Pending says whether the rules allow it at this very tick.
	Step *Pending `json:"step,omitempty"`
	// Policy is what operators allow for the queue, as it was at this tick.
	Policy QueuePolicy `json:"-"`
	// Undo is what taking the newest change back would do at this tick.
	Undo Undo `json:"-"`
}

// Outcome is how a write of a shard count ended.
type Outcome string

// The outcomes of the gate.
const (
	OutcomeApplied    Outcome = "applied"
	OutcomeSuperseded Outcome = "superseded"
	OutcomeRefused    Outcome = "refused"
	OutcomeFailed     Outcome = "failed"
)

// Change is one attempt to write a shard count, by us or seen from elsewhere.
type Change struct {
	At      time.Time `json:"at"`
	Queue   string    `json:"queue"`
	From    int       `json:"from"`
	To      int       `json:"to"`
	Actor   string    `json:"actor"` // "controller" or name@host; "elsewhere" when not ours
	Outcome Outcome   `json:"outcome"`
	Detail  string    `json:"detail"`
}

// Verdict is what came of a change.
type Verdict string

// The verdicts of a verification.
const (
	VerdictKept         Verdict = "kept"
	VerdictIneffective  Verdict = "ineffective"
	VerdictHarmful      Verdict = "harmful"
	VerdictInconclusive Verdict = "inconclusive"
)

// Verification compares equal windows before and after a change.
type Verification struct {
	At            time.Time `json:"at"`
	Queue         string    `json:"queue"`
	From          int       `json:"from"`
	To            int       `json:"to"`
	Result        Verdict   `json:"result"`
	Gain          Value     `json:"gain"` // enqueue rate after / before
	PredictedGain Value     `json:"predicted_gain"`
	Detail        string    `json:"detail"`
}

// Event is what one tick produced, self-contained: whoever draws it needs
// nothing else. Exactly one of Snapshot and Err is set for a tick; decisions,
// changes and verifications come with the snapshot they were made from.
type Event struct {
	At            time.Time // our clock, when the tick ended
	Snapshot      *Snapshot
	Decisions     []Decision     // the current one of every queue, by queue name
	Changes       []Change       // new since the last event
	Verifications []Verification // new since the last event
	Entries       []LogEntry     // of the decision log, learned since the last event; its tail at first
	Err           *Failure
	Dropped       int    // events that a slow receiver missed so far
	ProcessMode   Mode   // shadow or enforced, of this process
	Leader        string // "" unknown or watch-only, "self", or who leads
	Memory        string // where decisions are kept: "database", or a sentence why only in memory
	World         World  // what the decisions were made under
	InFlight      string // queue whose count was being written meanwhile, "" for none
}

// Failure is a tick that produced nothing.
type Failure struct {
	What    string    // what happened, one sentence, no secrets
	Hint    string    // what to do
	Since   time.Time // our clock, of the first failure in this row
	RetryIn time.Duration
	Fatal   bool // retrying will not help (wrong password, no such database)
	// Waiting: nothing was tried at this tick, the pause after the newest failure
	// goes on.
	Waiting bool
}
