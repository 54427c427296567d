package control

import "time"

// Verb is what an operator can ask for.
type Verb string

// The verbs.
const (
	VerbApprove  Verb = "approve"  // take the pending step
	VerbReject   Verb = "reject"   // do not take it
	VerbOverride Verb = "override" // set any count
	VerbPin      Verb = "pin"      // keep the queue at a count
	VerbUnpin    Verb = "unpin"
	VerbPause    Verb = "pause"  // no steps up, down, or both
	VerbResume   Verb = "resume" // ends pauses, and being held as oscillating
	VerbUndo     Verb = "undo"   // take the last change back
	VerbAuto     Verb = "auto"   // let the controller decide, up to Max
	VerbManual   Verb = "manual" // never touch the queue
)

// MaxWhy is the longest reason that an operator may give, in characters: it
// stands in each entry's row and on screens.
const MaxWhy = 200

// Command is one request of an operator.
type Command struct {
	Verb  Verb
	Queue string // physical name, raw
	Actor string // name of the person
	Host  string // where they sit
	Why   string // their reason, MaxWhy characters at most
	Force bool   // overrule rules that may be overruled; a separate, named action

	// Expect is the generation of the pending step the operator saw. Approve
	// and reject need it; with another one pending they are superseded.
	Expect int64
	// From is the count the operator saw; override, pin and undo are
	// superseded when it is another. 0 leaves that to the gate's compare-and-set.
	From int
	To   int           // override, pin: the count. 0 with pin means the present one. undo: the count it must come to, 0 for any
	For  time.Duration // pin: how long, 0 until unpinned
	Up   bool          // pause, resume: steps up; neither Up nor Down means both
	Down bool          // pause, resume: steps down

	Max      int  // auto: highest count; 0 keeps the one there is
	Enforced bool // auto: act as well as decide
	Accept   bool // auto, override, pin: partitioned FIFO is accepted
}

// By is the operator as the log names them, name@host.
func (c Command) By() string {
	if c.Host == "" {
		return c.Actor
	}
	return c.Actor + "@" + c.Host
}

// Result is what a command came to.
type Result struct {
	Change *Change     // the attempt to write a count, nil when there was none
	Policy QueuePolicy // as it is now
	Detail string      // one sentence
}
