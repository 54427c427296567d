// Package probe looks: it turns what PostgreSQL shows of Awa's lanes into
// control.Reading, once a second, and never writes.
//
// # What runs
//
// Two goroutines with a connection each, both in autocommit (inside a
// transaction pg_stat_activity is a frozen copy) and free of session state, so
// that a transaction pooler may stand in between. The sampler takes looks. The
// slow reader takes everything that may take longer: configured counts, the
// lane register, sequences, depth, instances, producers' reports. Read takes no
// I/O: it adds up what both left behind since the call before.
//
//	sampler  look → fold into queues, lanes, holders ─┐
//	                                                  ├─ state ── Read → Snapshot
//	slow     queues, lanes, sequences, depth, … ──────┘
//
// Every statement has a deadline. A failed one makes its numbers absent and
// leaves a Problem that names it; nothing that was true before is repeated as
// new. A lost connection is opened again, with a growing delay when none lasts
// (giving up a statement takes its connection along), and a slow read in which it
// was lost twice running is held back, so that the others are read. What depends
// on continuity (windows, sequence baselines, claim cursors) starts anew.
//
// # One look
//
// A look is one statement and one copy of the lock table: the waiting and
// granted rows of our database's int8 advisory locks, matched against the
// registered lanes by their full key, and the lock under which notifying
// transactions commit. Matching is done here by map, so that a statement does
// not carry tens of thousands of keys; where other advisory locks abound (the
// receipts of large completions) the keys go along instead.
//
// A session that waits counts once in w; a session that holds lanes of a queue
// counts once in h, however many it holds; one that holds a lane and waits for
// another is in both. Lane busy counts lanes, not sessions.
//
// What the holders do is asked right after, of pg_stat_activity, and only when
// somebody stands behind them or a session is seen for the first time. A join
// inside the look would pay for that table each time; what a late answer
// could get wrong (the holder has moved on meanwhile) is never a holder that has
// been there for two seconds, and the NOTIFY queue comes from the look itself.
//
// # The gate, and samples of different weight
//
// While a look costs little, every look reads pg_locks: nothing needs to be
// estimated. When the lock table is large, looks first ask the gate, whether
// any backend waits for an advisory lock at all, in the same statement, and
// read pg_locks only then. A look behind a closed gate knows w = 0 exactly, but
// not h, which the denominator of the share and lane busy need as well. So a
// fraction of looks, chosen before the gate is asked and therefore regardless
// of what it would say, reads pg_locks anyway. Those of them that found the
// gate closed are a random subset of all closed ones, and each closed look
// that did not read takes the holders of the latest of them: every calm look
// stands for itself and for the unread ones that follow it. Sums over a window
// are then unbiased, at the price of more scatter. A holder never stands for an
// open look, nor an open look for a closed one.
//
// Gate and lock table are read in one statement because time between them
// would lose exactly the waits that begin in it, a bias that falls on short
// waits. For the same reason looks are spread by up to a tenth of the interval:
// a load that beats at the sampling rate would otherwise be seen at one phase.
//
// # Holding back
//
// Each statement returns the time the server spent on it, parsing and planning
// included. The sampler may use half of MaxCost and lengthens its interval when
// the average look costs more; the slow reads divide the rest among themselves
// in the same way. Expected follows that plan: what is left out on purpose is
// thin data, which the interval shows by its width, and not missing data, from
// which the core would freeze for as long as the lock table is large.
//
// # Large installations
//
// Up to 300 lanes, depth and sequences are one statement each. Beyond that (no
// statement may hold more than some 300 sequences, or the shared lock table
// runs out for everybody) a pass over the ready segments first tells which lanes
// can hold anything, and claim sequences are read for those alone, in chunks.
// Enqueue sequences are then read for active queues only, those with a lock or a
// new segment in the last 30 s; the others' rates come from the ends of their
// segments, which only committed enqueues move.
//
// # What stands behind a wait
//
// The waiters of a lane are counted under the class of its holder: notify when
// it stands in the NOTIFY queue itself, stuck when it has kept the lane for 2 s,
// notify too when it commits at the head of that queue with others behind it (a
// commit that nobody stands behind is the lane's own: another lane's could run),
// unknown when its activity is hidden, lane otherwise. Kept means that looks 2 s
// apart saw the same transaction with the lane, or that it has been idle in
// transaction for as long. The age of the transaction alone would not do: where
// producers stand in line for 2 s, each of them brings that age to the lane it
// then holds for a millisecond, and the most contended queues would look stuck.
//
// The bottleneck of a queue is none while fewer than 0.05 sessions wait on
// average over the window, stuck when more than half of the waiting was behind
// stuck holders, then notify and unknown from half on, and lane otherwise.
package probe
