package rehearsal

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// QueueStats count what happened to one queue, or to all of them.
type QueueStats struct {
	Enqueued  uint64 // jobs in transactions whose commit was confirmed
	Completed uint64 // jobs
	// LaneWaitS is the time producers spent waiting for a lane, in seconds,
	// summed over the sessions; ClientWaitS is the same by the producers' own
	// clock. See the package comment for how both are measured.
	LaneWaitS   float64
	ClientWaitS float64
	// LaneHeldS is the time producers held a lane, in seconds: from the end of
	// the wait to the confirmed commit, by the producers' clock, so that it holds
	// the way of the answers too.
	LaneHeldS float64
	// Shed is how many arrivals of an open loop were given up because the
	// session was more than five seconds behind.
	Shed uint64
	// Latency is the time from a job's arrival to its confirmed commit, with
	// the hold inside it. In a closed loop a job arrives when its transaction
	// begins; in an open loop when it was due, however late the session was.
	Latency Histogram
}

// Stats are sums since the start of a Running.
type Stats struct {
	QueueStats                       // of all queues
	Queues     map[string]QueueStats // by physical name
	// Errors count by SQLSTATE, or by "connection" (broken or refused),
	// "timeout" and "stopped" (cut off by the end of the run).
	Errors map[string]uint64
	// Uncertain is how many jobs were in a commit that broke off: they may
	// have been enqueued and are not in Enqueued.
	Uncertain uint64
	Elapsed   time.Duration // since the start
}

// Since is what happened after an earlier copy was taken.
func (s Stats) Since(earlier Stats) Stats {
	out := Stats{
		QueueStats: s.minus(earlier.QueueStats),
		Queues:     map[string]QueueStats{},
		Errors:     map[string]uint64{},
		Uncertain:  s.Uncertain - earlier.Uncertain,
		Elapsed:    s.Elapsed - earlier.Elapsed,
	}
	for name, q := range s.Queues {
		out.Queues[name] = q.minus(earlier.Queues[name])
	}
	for class, n := range s.Errors {
		if n > earlier.Errors[class] {
			out.Errors[class] = n - earlier.Errors[class]
		}
	}
	return out
}

func (q QueueStats) minus(o QueueStats) QueueStats {
	return QueueStats{
		Enqueued:    q.Enqueued - o.Enqueued,
		Completed:   q.Completed - o.Completed,
		LaneWaitS:   q.LaneWaitS - o.LaneWaitS,
		ClientWaitS: q.ClientWaitS - o.ClientWaitS,
		LaneHeldS:   q.LaneHeldS - o.LaneHeldS,
		Shed:        q.Shed - o.Shed,
		Latency:     q.Latency.minus(o.Latency),
	}
}

func (q QueueStats) plus(o QueueStats) QueueStats {
	return QueueStats{
		Enqueued:    q.Enqueued + o.Enqueued,
		Completed:   q.Completed + o.Completed,
		LaneWaitS:   q.LaneWaitS + o.LaneWaitS,
		ClientWaitS: q.ClientWaitS + o.ClientWaitS,
		LaneHeldS:   q.LaneHeldS + o.LaneHeldS,
		Shed:        q.Shed + o.Shed,
		Latency:     q.Latency.plus(o.Latency),
	}
}

// tally is where all sessions of a run count.
type tally struct {
	mu        sync.Mutex
	queues    map[string]*QueueStats
	errors    map[string]uint64
	uncertain uint64
	waiting   map[string][]*atomic.Int64 // by queue: when a session's wait began, unix ns
}

func newTally() *tally {
	return &tally{queues: map[string]*QueueStats{}, errors: map[string]uint64{}, waiting: map[string][]*atomic.Int64{}}
}

// watch adds a session whose present wait belongs to the sums of a queue.
func (t *tally) watch(queue string, since *atomic.Int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[queue] = append(t.waiting[queue], since)
	if t.queues[queue] == nil {
		t.queues[queue] = &QueueStats{}
	}
}

// unfinished is the time that sessions of a queue have spent so far in waits
// that have not ended, in seconds. The lock is held, so none ends meanwhile.
func (t *tally) unfinished(queue string, now time.Time) float64 {
	var sum time.Duration
	for _, w := range t.waiting[queue] {
		if since := w.Load(); since != 0 {
			sum += max(now.Sub(time.Unix(0, since)), 0)
		}
	}
	return sum.Seconds()
}

// count lets change alter the sums of one queue.
func (t *tally) count(queue string, change func(*QueueStats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[queue]
	if q == nil {
		q = &QueueStats{}
		t.queues[queue] = q
	}
	change(q)
}

func (t *tally) fail(class string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors[class]++
}

func (t *tally) unsure(jobs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uncertain += uint64(jobs)
}

func (t *tally) stats(now time.Time, elapsed time.Duration) Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Stats{
		Queues:    map[string]QueueStats{},
		Errors:    maps.Clone(t.errors),
		Uncertain: t.uncertain,
		Elapsed:   elapsed,
	}
	for name, q := range t.queues {
		sums := *q
		open := t.unfinished(name, now)
		sums.LaneWaitS += open
		sums.ClientWaitS += open
		s.Queues[name] = sums
		s.QueueStats = s.plus(sums)
	}
	return s
}
