// Package control is the pure core of shardpilot: what was seen (Reading),
// what an operator wants (Policy), what is remembered (State), and one
// function that turns the three into a Decision with its reasons.
//
// It uses the standard library only, reads no clock and does no I/O: time
// comes in as an argument, effects leave as values, and the same input gives
// the same output. Everybody may import it; it imports nobody.
//
// # Words
//
// The words are Awa's and PostgreSQL's own. A lane is one ordered stream
// (queue, priority, enqueue shard). Producers take a transaction-level advisory
// lock on the enqueue head of their lane and hold it until they commit; a
// producer that waits for that lock is a waiter, one that has it is a holder.
//
// # Absent values
//
// What could not be measured is absent, never zero: a Value carries whether it
// holds, prints as "n/a" and leaves as JSON null. An absent value blocks the
// rule that needs it.
//
// # One tick
//
//	Reading ──▶ Track.Observe          rolling windows, bounded memory, forgotten
//	               │                   whenever the configured count changes
//	               ▼
//	            Signal                 every number a rule looks at
//	               │
//	Policy ──▶  Decide ◀── World       thresholds; server, Awa, leader, clock
//	            ▲  │   ◀── QueuePolicy what operators allow
//	       State│  │   ◀── Budget      what the other queues used up
//	            │  ▼
//	            │  Decision, Effects   why, and what is to be done about it
//	            │     │
//	            └─────┘ Learn          only what came back from the log
//
// Decide returns effects as values and assumes nothing about them. A State is a
// fold over the decision log (RebuildState), one entry at a time (Learn): until
// an entry is back from the store the state is what it was, and the next tick
// asks for the same thing again. A lost answer, a failed write and a new process
// are thus one case, not three. Commands of people go the same way, through
// Act.
//
// # A queue, as the controller sees it
//
//	             contended, every rule                  enforced
//	  ┌────────▶ or calm, every rule ──┬───────────────────────────▶ gate
//	  │                                │ shadow, or only stale          │
//	  │                                ▼ producers in the way           │
//	hold ◀──────────────────────── pending ── approve, evidence ──────▶ │
//	 ▲ ▲    expired, rejected,       │        looked at again           │
//	 │ │    ground gone              └─ approve, evidence gone:         │
//	 │ │                                superseded ──▶ hold             │
//	 │ └──────────────── refused, failed: 2 min ◀───────────────────────┤
//	 │                                                          applied │
//	 │        kept: cooldown                                            ▼
//	 ├───────────────────────────────────────────────────────────── on trial
//	 │        little gained: no growth for 6 h                          │
//	 ├──────────────────────────────────────────────────────────────────┤
//	 │        ineffective: no growth beyond it for 24 h                 │
//	 ├──────────────────────────────────────────────────────────────────┤
//	 │        inconclusive                                              │
//	 └──────────────────────────────────────────────────────────────────┤
//	          harmful: back once, by itself or as a pending step        │
//	  revert ◀──────────────────────────────────────────────────────────┘
//
// # Decisions on record
//
// Evidence is about one count. Windows start anew when the configured count
// changes, so a step up is never justified by what was seen before the last.
//
// One step at a time includes its verdict: while a change is on trial no other
// step is taken. With a minute to settle and a minute to compare this costs
// nothing beyond the cooldown, and every prediction meets its outcome.
//
// Shadow has no imagined history. A step that was not carried out starts no
// cooldown and spends no budget; the proposal stands until a hand takes it, it
// expires (and is made anew), or its ground goes. What is shown is the step from
// where the queue really is.
//
// A pending step outlives lulls. Only its end of life, another count, a pin, a
// pause, the mode or the maximum ends it; evidence is looked at again when
// somebody approves it. Otherwise proposals would come and go with every pause
// of a producer, and the log with them.
//
// A fall of the rate is harm only if each enqueue takes longer, and by more than
// the rate scatters; producers that simply have less to do are not harmed.
//
// People act on their own judgement: an override is bound by what makes the
// write unsafe (a stale reading, a standby, Awa in transition, a pin, a change
// being written, partitioned FIFO nobody accepted), not by evidence, warm-up,
// cooldowns or budgets. Their changes count towards all of those afterwards,
// but not as oscillation, and harm they do is reported, not taken back.
//
// The server's clock is the only one. When it moves against ours by more than
// ClockStep, windows are forgotten, nothing is written for a warm-up, and every
// remembered time moves so that no wait gets shorter.
package control
