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
// holds, prints as "n/a" and leaves as JSON null.
package control
