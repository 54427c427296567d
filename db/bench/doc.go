// Package bench plays the gate's loads on a real PostgreSQL: it implements
// experiment.Bench with rehearsal's producers and workers, under a fixed count
// or under a controller that the caller brings along. On a private server it
// can be a real Awa: its own schema, insert_job_compat and worker.
//
// # A run
//
//	reset ──▶ lanes, count, policy ──▶ controller ready ──▶ load ──▶ bins ──▶ stop ──▶ log
//	schemas   as at the start of         leads, warm, has     t = 0     a second
//	made anew the shape                  seen the queue                 each
//
// Each run begins with schemas made anew, a vacuum and a checkpoint, so that
// none inherits rows, bloat or dirty pages from the one before. The controller
// is whole and real: probe, leader, gate and log work as in production, with a
// connection of their own each; it is up before the load begins, and with a
// fixed count there is none. What it did is read from its log.
//
// # Time
//
// The controller's durations are divided by the pace, and so is what happens in
// a shape while it has to look: bursts, rests, a stuck transaction. A shape that
// moves over a day goes through it once in a run, however long that is. What a
// producer does in a transaction takes as long as it takes.
package bench
