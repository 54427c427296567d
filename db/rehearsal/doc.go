// Package rehearsal is a stand-in for an Awa installation and the programs
// around it: a schema of our own that looks and locks like Awa's, and
// producers and workers with connections of their own. `shardpilot demo`, the
// tests and the experiment run on it.
//
// # The schema
//
// What shardpilot looks at has Awa's names, types and constraints: the
// transition state, queue_meta, runtime_instances, the lanes and their heads,
// segments, tombstones, reserve_enqueue_seq and insert_job_compat. A producer
// locks its lane with Awa's key until its transaction ends, a head's insert
// trigger takes the same key for a moment even when the insert ends in a
// conflict, every enqueue notifies, and a lane that two producers race to make
// fails with a duplicate key. Everything called rehearsal_… is ours alone.
// Scheduled jobs, retries, unique claims and the rotation of storage are left
// out: the tables are plain and finished rows are deleted in the background.
//
// # Exactly once
//
// A claim moves a lane's cursor in the claim head, in the same transaction
// that records the leases; the claim sequence that the world reads follows
// inside the claim and is set again by the next one when that aborted. A
// worker that lost its connection asks the database what it holds before it
// claims again. So each committed job ends as one row of rehearsal_done, which
// is counted on its lane when it is pruned.
//
// # The stop-watch
//
// Two clocks measure the time spent in a lane's queue. Both are kept, so that
// one can be held against the other:
//
//   - LaneWaitS, from the schema: reserve_enqueue_seq and the head's trigger
//     read the server's clock before and after they take the lane's lock and
//     add the difference to a setting of the transaction, which the producer
//     reads in the statement that enqueued. It contains the lock wait, the
//     waking of the backend and nothing else.
//   - ClientWaitS, from the producer: the time from before the reserving
//     statement until it returned, minus the round trip of an empty statement
//     measured at connect (the fastest of nine), never below zero. For producers
//     that reserve by a statement of their own that is the lock wait and a few
//     tenths of a millisecond; for insert_job_compat it holds the writing of
//     the row as well.
//
// LaneWaitS falls back to the producer's clock where the schema has none (a
// real Awa). Waits of statements that failed count in both, by the producer's
// clock, and so do waits that end with the connection.
package rehearsal
