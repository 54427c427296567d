// Package experiment is how the controller is proved: a simulator that plays
// days of load against it in seconds, and the gate that holds measured runs
// against the margins of its promise.
//
// # The simulator
//
// Three layers, each the input of the next:
//
//	Machine, Load, count ──▶ crowd   every enqueue, as discrete events: sessions
//	                           │     take CPU, stand in line for a lane, hold it,
//	                           │     stand in line for NOTIFY, commit
//	                           ▼
//	                          tape   what four looks a second saw of a stretch
//	                           │     of that, second by second
//	                           ▼
//	Shape, seed ──────────▶ stage    days of load: blocks of the tapes that fit
//	                           │     the hour and the present count
//	                           ▼
//	                          Play   control.Track, Decide and Learn, a gate, and
//	                                 every promise checked at every step
//
// A load is a stretch of time in which nothing about the producers changes. Its
// tape is played event by event once for each count and then cut into blocks of
// half a minute that are strung together at random (a block bootstrap): within
// a block every correlation between seconds, lanes, causes and rates is that of
// the events, and a day costs as much as 86,400 readings, not as fifty million
// enqueues. A test plays the same hours both ways and compares.
//
// Left out: claims (they take no enqueue lane), the autovacuum, checkpoints,
// the network, and the cost of looking. The jump when a load changes is left
// out too: the queue in front of a lane is as long as it was in the tape at
// once, where in life it takes milliseconds (closed loops) to seconds.
//
// # The gate
//
// A Bench runs one Job (a shape under one setting) and returns a Result. Run
// plays a whole Plan on it, settings in turn; Judge holds the results against
// Margins; Report renders them. The simulator is a Bench; PostgreSQL is another,
// made elsewhere.
package experiment
