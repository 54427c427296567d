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

// slowDisk is a machine on which a flush takes a tenth of a second, so that what
// else its cores have to do hardly matters: PostgreSQL with a commit_delay of
// 100 ms, in the company of a dozen other busy processes.
func slowDisk() Machine {
	return Machine{
		Cores:   2,
		Outside: time.Millisecond, Inside: 2 * time.Millisecond, Commit: time.Millisecond,
		Flush: 104 * time.Millisecond, Wake: 8 * time.Millisecond, Handoff: 3 * time.Millisecond,
		Scatter: 0.05,
	}
}
