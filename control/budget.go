package control

import "time"

const (
	historySize = 16 // changes remembered for each queue
	budgetSize  = 64 // changes remembered for the database
)

// Budget is what all queues share: the changes of the whole database within a
// span, and the one that is being written.
type Budget struct {
	InFlight string            // queue whose count is being written, "" when none is
	times    [budgetSize]int64 // unix nanoseconds
	count    int               // of times, the newest are kept; oldest first
}

// RebuildBudget counts the changes in a log of all queues.
func RebuildBudget(entries []LogEntry, now time.Time) Budget {
	var b Budget
	for _, e := range entries {
		b.Learn(e, now)
	}
	return b
}

// Learn counts a change that was applied. Entries from the future, as a clock
// that stepped leaves them, count as of now.
func (b *Budget) Learn(e LogEntry, now time.Time) {
	if e.Kind != LogChange || e.Outcome != OutcomeApplied {
		return
	}
	if b.count == budgetSize {
		copy(b.times[:], b.times[1:])
		b.count--
	}
	b.times[b.count] = earlier(e.At, now).UnixNano()
	b.count++
}

// Step moves the changes along with a step of the clock, as State.Step does.
func (b *Budget) Step(d time.Duration, now time.Time) {
	for i := range b.count {
		b.times[i] = moved(time.Unix(0, b.times[i]), d, now).UnixNano()
	}
}

// Spent is the number of changes within span, and when the oldest of the last
// limit leaves it.
func (b *Budget) Spent(span time.Duration, limit int, now time.Time) (n int, until time.Time) {
	for i := b.count - 1; i >= 0; i-- {
		at := time.Unix(0, b.times[i]).In(now.Location())
		if now.Sub(at) >= span {
			break
		}
		if n++; n == limit {
			until = at.Add(span)
		}
	}
	return n, until
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
