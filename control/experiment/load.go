package experiment

import "time"

// HoldKind is how the work inside a transaction scatters.
type HoldKind int

// The kinds: all of the same mean.
const (
	HoldConstant HoldKind = iota
	HoldExponential
	HoldLognormal // with a coefficient of variation of 1.5
)

// Load is what producers do while nothing about them changes. It is a value
// and can be compared: equal loads have equal tapes.
type Load struct {
	Sessions int           // each enqueues one job at a time
	Rate     float64       // jobs/s that arrive for all sessions together (Poisson); 0 is a closed loop
	Think    time.Duration // between transactions of a closed loop
	Hold     time.Duration // work inside the transaction, after the enqueue
	Kind     HoldKind      // of Hold

	// Keys ordering keys with Zipf's exponent, above 1, or uniform at 0. With
	// keys the lane follows from the key, otherwise from the session: its
	// backend's pid modulo the count.
	Keys int
	Zipf float64

	Quiet bool // enqueues do not notify
	Stuck bool // one transaction keeps lane 0 all the time

	// Slow times as long does everything take, as while others keep the machine
	// busy, at every count from SlowFrom to SlowTo; 0 is as fast as ever.
	Slow             float64
	SlowFrom, SlowTo int

	// Cached of the sessions go by CachedShards instead of the configured count.
	Cached, CachedShards int
}

// Workers that serve the queue: sessions that claim up to a batch, take a time
// a job, and look again after a pause when there was nothing.
const (
	workerSessions = 2
	workerBatch    = 64
	workerPerJob   = 200e-6 // s
	workerPoll     = 25e-3  // s
)

// tooLate is how far a session of an open loop may fall behind, in seconds,
// before it gives arrivals up, as the rehearsal's producers do.
const tooLate = 5.0

// slow is how many times as long everything takes at a count.
func (l Load) slow(shards int) float64 {
	if l.Slow == 0 || shards < l.SlowFrom || shards > l.SlowTo {
		return 1
	}
	return l.Slow
}

// lanesUsed is how many lanes a load can touch at a count.
func (l Load) lanesUsed(shards int) int {
	if l.Cached > 0 {
		return max(shards, l.CachedShards)
	}
	return shards
}
