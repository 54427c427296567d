// Package db connects to PostgreSQL, says what was found there, keeps
// shardpilot's own schema (policy, decision log, leadership), and is the only
// place from which anything is written.
//
// # Connecting
//
// A connection is described as libpq reads it. From strong to weak: a flag,
// the connection string (URL or keyword/value), the service file, PG*
// variables, defaults. pgx does most of the work; conninfo.go reads the string
// and config.go mends where pgx parts from libpq. Known differences that stay:
//
//   - A keyword that both the string and a flag give, with different values, is
//     refused. psql lets the string win, which surprises half of its users.
//   - With several hosts the passfile is asked for the first one only.
//   - sslmode=verify-full without a root certificate trusts the system's
//     authorities; libpq refuses.
//   - connect_timeout=0 does not mean for ever: it means our default of 5 s.
//   - Service files that point at LDAP are not followed.
//
// # Poolers
//
// Nothing here relies on a session: no named prepared statements, timeouts of
// writes are SET LOCAL, and a session-wide SET is only done when the backend
// that answers is the one that was announced, because behind a transaction
// pooler it would land on somebody else's next transaction.
//
// # What is kept
//
// Schema shardpilot holds policies, the decision log, pending steps, who leads,
// and what producers report. A policy changes on the condition of its
// generation, a pending step is deleted by the one who uses it, what the
// controller writes by itself carries the epoch of its leadership, and every
// change lands in the log in the same transaction. Writers of the log take
// turns, so its ids become visible in their order and a reader that asks for
// what is newer misses nothing. See Store and Leader.
//
// # Errors
//
// What an operator may see is a *control.Fault: what happened, then what to
// do. No error of this package holds a password; errors of pgx that carry a
// connection string are taken apart, never wrapped.
package db
