// Package metrics shows what shardpilot sees and does to Prometheus, says over
// HTTP whether the process is well, and serves both.
//
//	loop ── Event ──▶ Metrics.Observe ──▶ counters, newest event
//	           │                                │
//	           │                       Collect ─┴─▶ /metrics
//	           └────▶ Health.Observe ─────────────▶ /live, /ready
//
// A scrape is rendered from the newest event, so there is nothing to forget: a
// queue that vanished has no series at the next scrape, a value that was not
// measured has no sample, and no gauge outlives its reading by more than
// Options.StaleAfter.
//
// # Counters
//
// Counters add up in Observe and never go back while the process lives. Waiting
// is added as mean waiting sessions × length of the period; a period that was
// not measured adds nothing, so a gap shows as a flat line and never as a
// jump. A queue that vanishes and comes back goes on where it was.
//
// What came from the decision log (decisions, changes, verifications) is
// counted by every process that reads the log, whoever wrote it: replicas agree
// with the log and with one another. Take the maximum over replicas, not the
// sum.
//
// # How many series
//
// At most Options.TopQueues queues have series of their own. The rest is summed
// under queue="__other__", as far as it can be summed. Which queues those are is
// decided with hysteresis (choose.go), so that series do not come and go with
// every lull. Each second of waiting and each job is counted once: in the series
// of its queue, or in __other__ while the queue has none.
package metrics
