package control

import "time"

// LogKind sorts the entries of the decision log.
type LogKind string

// The kinds of entry.
const (
	LogDecision  LogKind = "decision"  // the controller's mind changed
	LogProposed  LogKind = "proposed"  // a step became pending
	LogWithdrawn LogKind = "withdrawn" // a pending step ended without effect
	LogChange    LogKind = "change"    // an attempt to write a count, with its outcome
	LogAdopted   LogKind = "adopted"   // the count was changed from elsewhere
	LogVerdict   LogKind = "verdict"   // what came of a change
	LogAct       LogKind = "act"       // an operator changed a policy or rejected a step
)

// LogKinds is the closed list.
func LogKinds() []LogKind {
	return []LogKind{LogDecision, LogProposed, LogWithdrawn, LogChange, LogAdopted, LogVerdict, LogAct}
}

// LogEntry is one line of the decision log. The log is what survives the
// process: State is a fold over it (RebuildState), so whatever later decisions
// depend on is in here.
type LogEntry struct {
	ID     int64     `json:"id"` // ascending, given by the store; 0 before
	At     time.Time `json:"at"` // server clock
	Kind   LogKind   `json:"kind"`
	Queue  string    `json:"queue"`
	Mode   Mode      `json:"mode"`
	Action Action    `json:"action"`
	From   int       `json:"from"`
	To     int       `json:"to"`
	Reason Reason    `json:"reason"`
	Detail string    `json:"detail"`

	Actor string `json:"actor"` // "controller", name@host, or "elsewhere"
	Host  string `json:"host"`  // where the actor sat, "" when not known
	Why   string `json:"why"`   // what an operator gave as reason
	Verb  Verb   `json:"verb"`  // the operator's command, "" for the controller
	Role  string `json:"role"`  // database role that wrote it, given by the store; "" before
	// Forced: a person set rules aside that stood in the way, those in Blockers.
	Forced bool `json:"forced"`

	Outcome       Outcome   `json:"outcome"`         // of a change
	Verdict       Verdict   `json:"verdict"`         // of a verification
	Gain          Value     `json:"gain"`            // of a verification: enqueue rate after / before
	PredictedGain Value     `json:"predicted_gain"`  //
	Until         time.Time `json:"until,omitzero"`  // when what this entry began ends, zero when it does not
	Pending       int64     `json:"pending"`         // generation of the pending step concerned, 0 for none
	Blockers      []Blocker `json:"blockers"`        //
	Evidence      Evidence  `json:"evidence"`        //
	Before        Figures   `json:"before,omitzero"` // of a change: what it will be compared with
}

// MadeAnew says whether entries that came together, ascending, are of another log
// than one of which last was the newest entry, at the time at: the schema was
// dropped and made again, or a backup restored, and its numbers begin anew.
func MadeAnew(entries []LogEntry, last int64, at time.Time) bool {
	if len(entries) == 0 {
		return false
	}
	newest := &entries[len(entries)-1]
	return newest.ID != 0 && newest.ID < last && newest.At.After(at)
}

// SetAside adds rules that a person sets aside with what the entry is about.
func (e *LogEntry) SetAside(aside ...Blocker) {
	e.Blockers = append(e.Blockers, aside...)
	e.Forced = e.Forced || len(aside) > 0
}

// Moment is a point of time: At, or when that is zero Ago before the server's
// now. Zero is none.
type Moment struct {
	At  time.Time
	Ago time.Duration
}

// Figures are what a verification compares, over one window.
type Figures struct {
	Rate       Value `json:"rate"`               // jobs/s
	RateErr    Value `json:"rate_err"`           // standard error of Rate from batches
	WaitPerS   Value `json:"wait_per_enqueue_s"` // seconds of waiting per enqueue
	LatencyS   Value `json:"latency_s"`          // seconds an enqueue spends waiting and holding, N/λ
	LatencyErr Value `json:"latency_err"`        // standard error of LatencyS from batches
	Waiters    Value `json:"waiters"`            // sessions
	Producers  Value `json:"producers"`          // producers known
}

// Pending is a step that every rule allows and that waits for a hand: bound to
// queue, counts, generation and evidence, single use, with an end.
type Pending struct {
	Queue string `json:"queue"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	// Generation tells this proposal from every earlier one of the queue: the
	// time it was made, in microseconds since the epoch, never repeated.
	Generation    int64     `json:"generation"`
	At            time.Time `json:"at"`    // server clock
	Until         time.Time `json:"until"` // server clock; of no use from then on
	Reason        Reason    `json:"reason"`
	Detail        string    `json:"detail"`
	Evidence      Evidence  `json:"evidence"`
	PredictedGain Value     `json:"predicted_gain"`
}

// Step is one write of a shard count, handed to the gate. The gate checks
// everything again in its own transaction, carries it out and writes Entry,
// with the outcome, to the log in that same transaction.
type Step struct {
	Queue string
	From  int // compare-and-set: superseded when the count is another
	To    int
	Actor string // "controller" or name@host
	// Hand: a person asked for it. Without it the gate must find leadership,
	// process and queue enforced, or refuse.
	Hand  bool
	Force bool // the person overrules what may be overruled
	Mode  Mode // in force for the queue when the step was made
	// Pending is the generation of the pending step that this one uses up, 0
	// for none. The gate deletes that row; when it is gone the step is
	// superseded, and the detail says who used it and when.
	Pending int64
	// Provision: every lane below To must be on both heads before the flip.
	Provision bool
	// Drained: every lane at or above To must be empty and unlocked at the
	// moment of the change.
	Drained bool
	// Policy is the row the step was made under; the gate refuses when its
	// generation moved. With a step of a person it is also what to store, when
	// Save is set (a pin, an acceptance).
	Policy QueuePolicy
	Save   bool
	Entry  LogEntry // to be written with At and Outcome filled in
}
