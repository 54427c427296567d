package experiment

import "time"

// Machine is the server under the simulated queues. All times are for one
// single-row enqueue on an otherwise idle machine.
type Machine struct {
	Cores int // shared by all sessions: a task slows down when there are more tasks than cores

	Outside time.Duration // CPU before the lane: begin, the client, the previous answer
	Inside  time.Duration // CPU with the lane held: the insert
	Commit  time.Duration // CPU of the commit, with the lane held
	Flush   time.Duration // time the commit waits for its record to be on disk, with the lane held
	// Wake is how much later than Hold a client that worked inside its
	// transaction comes back.
	Wake time.Duration
	// Handoff is how long a lane, or NOTIFY, stays unused when it goes to a
	// session that slept in line.
	Handoff time.Duration
	// Scatter is the coefficient of variation of Outside, Inside, Commit and Flush.
	Scatter float64
}

// slowed is the machine when everything takes so many times as long.
func (m Machine) slowed(times float64) Machine {
	for _, d := range []*time.Duration{&m.Outside, &m.Inside, &m.Commit, &m.Flush, &m.Wake, &m.Handoff} {
		*d = time.Duration(float64(*d) * times)
	}
	return m
}

// DefaultMachine is two cores and a disk that acknowledges in about a
// millisecond. Its times were fitted to single-row enqueues measured on
// PostgreSQL 18 with the rehearsal's producers (see Measured).
func DefaultMachine() Machine {
	return Machine{
		Cores:   2,
		Outside: 450 * time.Microsecond, Inside: 350 * time.Microsecond, Commit: 300 * time.Microsecond,
		Flush: 600 * time.Microsecond, Wake: 480 * time.Microsecond, Handoff: 120 * time.Microsecond,
		Scatter: 0.4,
	}
}

// Measurement is a throughput measured on PostgreSQL and what the simulator
// makes of the same load.
type Measurement struct {
	Name      string
	Load      Load
	Shards    int
	JobsPerS  float64 // measured
	Simulated float64 // filled in by Calibrate
}

// Off is how far the simulator is from the measurement, as a part of it.
func (m Measurement) Off() float64 { return m.Simulated/m.JobsPerS - 1 }

// Measured are the figures that DefaultMachine was fitted to: one run each on a
// two-core machine with PostgreSQL 18, single-row enqueues through
// insert_job_compat, clients on the same cores. Neighbouring runs differed by
// up to a tenth.
func Measured() []Measurement {
	held := Load{Sessions: 16, Hold: 5 * time.Millisecond}
	bare := Load{Sessions: 32}
	quiet := Load{Sessions: 32, Quiet: true}
	return []Measurement{
		{Name: "16 × 5 ms", Load: held, Shards: 1, JobsPerS: 146},
		{Name: "16 × 5 ms", Load: held, Shards: 2, JobsPerS: 294},
		{Name: "16 × 5 ms", Load: held, Shards: 4, JobsPerS: 570},
		{Name: "16 × 5 ms", Load: held, Shards: 8, JobsPerS: 808},
		{Name: "32 × 0 ms", Load: bare, Shards: 1, JobsPerS: 737},
		{Name: "32 × 0 ms", Load: bare, Shards: 4, JobsPerS: 988},
		{Name: "32 × 0 ms", Load: bare, Shards: 16, JobsPerS: 838},
		{Name: "32 × 0 ms", Load: bare, Shards: 32, JobsPerS: 1064},
		{Name: "32 × 0 ms, no NOTIFY", Load: quiet, Shards: 1, JobsPerS: 737},
		{Name: "32 × 0 ms, no NOTIFY", Load: quiet, Shards: 4, JobsPerS: 1010},
		{Name: "32 × 0 ms, no NOTIFY", Load: quiet, Shards: 16, JobsPerS: 1758},
		{Name: "32 × 0 ms, no NOTIFY", Load: quiet, Shards: 32, JobsPerS: 1976},
	}
}

// Calibrate plays each measured load for so many seconds, event by event.
func Calibrate(m Machine, list []Measurement, seconds int, seed uint64) []Measurement {
	out := make([]Measurement, len(list))
	for i, one := range list {
		c := newCrowd(m, one.Load, one.Shards, seed)
		c.run(warmUp)
		before := c.enqueued
		c.run(warmUp + float64(seconds))
		one.Simulated = float64(c.enqueued-before) / float64(seconds)
		out[i] = one
	}
	return out
}
