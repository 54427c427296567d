// Package loop is the runner around the pure core: tick, read, decide, record
// or apply, emit. See Runner.
package loop

import (
	"context"

	"shardpilot/control"
)

// Store keeps policies, the decision log and pending steps. All methods may be
// called from one goroutine at a time only, and may fail: the runner keeps
// what it has and tries again.
//
// The runner never assumes what a write did: after each successful Save or
// Gate.Apply it calls Load and learns from the log, its own entries included.
type Store interface {
	// Load returns what is newer than the log entry with ID after, which is 0
	// at first: then policies, pending steps, the log of the last 7 days and
	// older changes, verdicts and acts, as far back as they are kept. When there
	// is nothing newer, Saved.Last equals after and the rest is ignored. A log
	// that ends before after is not the one that was read before: all of it is
	// returned, as at first.
	//
	// Every change of a policy or a pending step must come with a log entry,
	// so that this is enough to notice it.
	Load(ctx context.Context, after int64) (Saved, error)

	// Save writes a batch in one transaction. The entries come without ID; the
	// store stamps At where it is zero. It fails with a *control.Fault of kind
	// FaultRefused, and writes nothing, when
	//   - a policy's Generation is not that of the row it replaces (the store
	//     adds one to it when it writes), or
	//   - a used-up pending step is gone; the fault says who used it, and when.
	Save(ctx context.Context, b Batch) error
}

// Saved is what a Store holds.
type Saved struct {
	Last     int64                 // ID of the newest log entry, 0 for an empty log
	Entries  []control.LogEntry    // newer than asked for, ascending by ID
	Policies []control.QueuePolicy // all rows
	Pending  []control.Pending     // all rows
}

// Batch is what one transaction writes.
type Batch struct {
	Entries  []control.LogEntry
	Propose  []control.Pending     // put; replaces the queue's pending step
	UseUp    []Used                // delete
	Policies []control.QueuePolicy // put, on the condition of their Generation
}

// Used names a pending step that ends without a change.
type Used struct {
	Queue      string
	Generation int64
	// Must: the batch fails when the row is gone already (an operator rejects
	// it). Otherwise a missing row is none of its business (it expired).
	Must bool
}

// Leader tells who leads. It is asked at every tick and must answer at once,
// from memory.
type Leader interface {
	Leadership() control.Leadership
}

// Gate carries out steps. Apply does everything in one transaction: leadership
// or a human's name, re-check, provisioned lanes, compare-and-set, log row. An
// applied change ends whatever step of the queue is pending, be it the one in
// Step.Pending or another. A change that was refused or superseded comes back
// as an Outcome with a detail, not as an error; it is logged too. An error means
// that it is not known what happened, and that nothing was logged.
type Gate interface {
	Apply(ctx context.Context, s control.Step) (control.Change, error)
}
