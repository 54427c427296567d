package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// InDatabase is what an event says of its memory when that outlives us.
const InDatabase = "database"

// Place is the database of an event as questions name it: label, server, name.
func Place(e control.Event) string {
	d := e.Snapshot.Database
	return strings.TrimPrefix(fmt.Sprintf("%s %s:%d/%s", d.Label, d.Host, d.Port, d.Name), " ")
}

// Unwatchable is why nothing can be said of any queue, nil when something can.
func Unwatchable(e control.Event) error {
	if awa := e.Snapshot.Awa; !awa.MayWatch {
		return &control.Fault{Kind: control.FaultRefused, What: awa.Sentence, Hint: awa.Hint}
	}
	return nil
}

// Sampled says whether every queue's waiters were looked at, which takes longer
// where looking is dear.
func Sampled(e control.Event) bool {
	return !slices.ContainsFunc(e.Snapshot.Readings, func(r control.Reading) bool { return !r.Share.OK() })
}

// NoQueue refuses a queue that has no lanes.
func NoQueue(name string) error {
	return &control.Fault{Kind: control.FaultRefused, What: fmt.Sprintf("there is no queue %q with lanes here", name),
		Hint: "shardpilot show lists them; names are the physical ones of Awa's tables"}
}

// ApproveLooks is how many seconds an approval looks at a queue before it asks.
// A step that is approved on too little evidence would be superseded, and used
// up, for no fault of its own.
const ApproveLooks = 12

// CanJudge says whether this process has seen enough of a queue to tell
// whether a pending step still holds, or that there is none.
func CanJudge(d control.Decision, looks int) bool {
	few := slices.ContainsFunc(d.Blockers, func(b control.Blocker) bool { return b.Rule == control.ReasonFewSamples })
	return looks >= ApproveLooks && !few || d.Step == nil && looks > 3
}

// SetLooks is how many seconds a change by hand looks at a queue before it asks:
// what comes of the change is compared with what was seen.
const SetLooks = 5

// CanCompare says whether enough of a queue was seen for a change of its count
// to be judged by. Nothing is waited for when it is forced, or will be refused.
func (a Act) CanCompare(d control.Decision, looks int) bool {
	if a.Force || !a.changes(d) || a.Pin > 0 && d.Policy.Max > 0 && a.Pin > d.Policy.Max {
		return true
	}
	return looks >= SetLooks && d.Evidence.EnqueueRate.OK() || looks >= 2*SetLooks
}

// given is the count that a asks for, 0 for none.
func (a Act) given() int { return max(a.Manual, a.Pin, a.Override) }

// changes says whether a writes another count than the queue has.
func (a Act) changes(d control.Decision) bool {
	return a.Undo && d.Undo.From != 0 || a.given() > 0 && a.given() != d.From
}

// TooLittle refuses to go by what was seen of a queue within a time, because
// samples were missed all along.
func TooLittle(queue string, within time.Duration) error {
	return &control.Fault{Kind: control.FaultRefused, What: fmt.Sprintf("too little of %q could be sampled within %s to tell whether the evidence still holds", queue, within),
		Hint: "the database or this machine is busy; try again, or --force to go ahead without"}
}
