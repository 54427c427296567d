package rehearsal

import (
	"fmt"
	"time"
)

// Spec is a load: which lanes exist at the start, who produces, who works, and
// who stands in the way.
type Spec struct {
	Queues    []Queue
	Producers []Producers
	Workers   []Workers
	Holders   []Holder
	// Seed makes arrivals and keys repeatable; sessions interleave as they like.
	Seed uint64
	// Keep leaves completed jobs and their ready rows in the database, to be
	// counted; without it they are removed in the background.
	Keep bool
	// OnError is told every error, from many goroutines; it must not block.
	// The errors are counted in Stats whether it is set or not.
	OnError func(Incident)
}

// Incident is one error of one session.
type Incident struct {
	Role        string // "producer", "worker", "holder", "heartbeat" or "janitor"
	Queue       string // physical name, raw; "" when no single queue is concerned
	Application string // application_name of the session
	Class       string // SQLSTATE, or "connection", "timeout", "stopped"
	Err         error
}

// Queue is what a queue starts with.
type Queue struct {
	Name       string // physical name, raw
	Shards     int    // count to set, 1..64; 0 leaves the configured one alone
	Lanes      int    // lanes to make for each priority, Shards when 0
	Priorities []int  // 1..4, priority 2 when empty
}

// Producers are Count sessions that enqueue into one queue.
type Producers struct {
	Queue       string
	Application string // application_name, "producer" when empty
	Count       int    // sessions, each a connection of its own
	Priorities  []int  // taken in turn, priority 2 when empty

	// Rate is the jobs/s that arrive for all sessions together, at random
	// (Poisson). 0 is a closed loop: each session enqueues again when it is
	// done, after Think.
	Rate  float64
	Think time.Duration // between transactions of a closed loop, 0 for none

	// Batch is how many jobs a transaction enqueues. 1 goes through
	// insert_job_compat as SQL producers do, unless CacheShards is set; more
	// reserves a block of lane numbers and writes one segment.
	Batch int
	Hold  time.Duration // inside the transaction, after the enqueue
	Keys  Keys
	// Payload is the size of a job's arguments in bytes of JSON, at least 2.
	Payload int
	Quiet   bool // does not notify

	// On and Off let all sessions work and rest in turn; no rest when Off is 0.
	On, Off time.Duration

	// Wave, when set, says what the sessions do so long after the start: how many
	// of them work, and, of an open loop (Rate above 0, which it replaces), how
	// many jobs/s arrive for all Count sessions together.
	Wave func(since time.Duration) Level

	// Spread, above 1, has the sessions connect again until the backend's pid
	// modulo it is their own number modulo it. A lane without a key follows from
	// the pid, so that at a count that divides it all lanes get as many sessions,
	// which chance alone would not do.
	Spread int

	// CacheShards reads the count once and keeps it until Running.Told, as
	// Awa's Rust store does until its restart.
	CacheShards bool
	// Report tells shardpilot.producer, where that exists, which count each
	// session works with: on a change and every two seconds.
	Report bool
}

// Level is how much producers do at a moment.
type Level struct {
	Sessions int     // that work, the first of them
	Rate     float64 // jobs/s, of an open loop; never 0 there
}

// Keys are the ordering keys of producers. The zero value is none: the lane
// then follows from the session or a rotor.
type Keys struct {
	N    int     // different keys, 0 for none
	Zipf float64 // exponent, above 1; 0 is uniform
}

// Workers are Count sessions of one worker process that serve queues in turn.
type Workers struct {
	Queues      []string
	Application string        // application_name, "worker" when empty
	Count       int           // sessions
	Batch       int           // most jobs a claim takes, 64 when 0
	PerJob      time.Duration // time each job of a batch takes, one after the other
	Leader      bool          // says that it is Awa's maintenance leader
}

// Holder is a session that takes a lane and keeps it, over and over.
type Holder struct {
	Queue       string
	Application string // application_name, "holder" when empty
	Priority    int    // priority 2 when 0
	Shard       int
	Hold        time.Duration // idle in transaction with the lane locked
	Rest        time.Duration // without a transaction, before each hold
}

// check says what is wrong with a spec, before anything is started.
func (s Spec) check() error {
	for _, q := range s.Queues {
		if q.Name == "" || q.Shards < 0 || q.Shards > 64 || q.Lanes < 0 || q.Lanes > 64 {
			return fmt.Errorf("queue %q: needs a name and 0..64 shards and lanes", q.Name)
		}
	}
	for _, p := range s.Producers {
		switch {
		case p.Queue == "" || p.Count < 1:
			return fmt.Errorf("producers %q: need a queue and at least one session", p.Application)
		case p.Rate < 0 || p.Batch < 0 || p.Hold < 0 || p.Think < 0 || p.Payload < 0 || p.Spread < 0:
			return fmt.Errorf("producers %q: rate, batch, payload and times cannot be negative", p.Application)
		case p.Keys.N < 0 || p.Keys.Zipf != 0 && p.Keys.Zipf <= 1:
			return fmt.Errorf("producers %q: a Zipf exponent is above 1", p.Application)
		case p.Wave != nil && p.Off > 0:
			return fmt.Errorf("producers %q: rest by a wave or by On and Off, not both", p.Application)
		case p.Off > 0 && p.On <= 0:
			return fmt.Errorf("producers %q: rest without work", p.Application)
		}
	}
	for _, w := range s.Workers {
		if len(w.Queues) == 0 || w.Count < 1 || w.Batch < 0 || w.PerJob < 0 {
			return fmt.Errorf("workers %q: need queues and at least one session", w.Application)
		}
	}
	for _, h := range s.Holders {
		if h.Queue == "" || h.Hold <= 0 || h.Rest < 0 {
			return fmt.Errorf("holder %q: needs a queue and a time to hold", h.Application)
		}
	}
	return nil
}
