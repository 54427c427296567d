package probe

import (
	"cmp"
	"slices"
	"time"

	"shardpilot/control"
)

// lane is one registered lane. Its address stays the same as long as it is
// registered; queue, key, priority and shard never change.
type lane struct {
	queue           *queue
	key             int64
	priority, shard int
	enqueue, claim  string // sequence names

	wait, busy float64   // sums over the samples of the period
	registered time.Time // our clock, no look sent before could see a lock on it
	lockedAt   time.Time // our clock, newest look that saw a lock on it, granted or not; zero when none did
	owner      who       // holder in the newest look that read pg_locks
	since      time.Time // our clock, first look in an unbroken row that saw this owner

	last   int64     // enqueue sequence, when lastAt is set
	lastAt time.Time // server clock
	rate   control.Value
	end    int64     // end of its newest segment, when endAt is set
	endAt  time.Time // our clock

	holder   *control.Holder // newest of the period with somebody behind it
	holderAt time.Time       // our clock, the look it comes from

	depth, lag control.Value
	// vouched is the newest look (our clock) that had read pg_locks when the
	// read behind depth began: no producer that had the lane before it and
	// committed can be missing from depth.
	vouched time.Time
	cursor  int64 // claim cursor last seen, 0 when none was; it only moves up
}

// vouchAge is how long an empty lane is believed to be empty while no look sees
// a lock on it.
const vouchAge = time.Minute

// empty says whether the lane held no ready job and no lock, known false when
// depth is absent, or when neither a look saw a lock on it nor one of the last
// minute, of those that could have seen one, vouches for it.
func (l *lane) empty(now time.Time) (empty, known bool) {
	d, ok := l.depth.Get()
	if !ok {
		return false, false
	}
	if d > 0 {
		return false, true
	}
	if l.vouched.IsZero() || now.Sub(l.vouched) > vouchAge {
		return false, false
	}
	if !l.lockedAt.Before(l.vouched) {
		return false, true
	}
	if !l.registered.Before(l.vouched) {
		return false, false
	}
	return true, true
}

// queue is one queue and what was seen of it.
type queue struct {
	name   string
	shards int // configured, 0 unknown
	known  int // configured when last read, kept over failures to notice a change
	prev   int // count before the newest change we saw, 0 when we saw none
	// changedAt (server clock) and changedSeen (ours) are when we first saw
	// shards as it is after having seen prev.
	changedAt, changedSeen time.Time
	lanes                  []*lane // by priority, then shard

	samples    int // of the period, like the sums
	wait, hold float64
	causes     causes

	window *control.Window
	trail  []moment
	levels []control.Level // reads of the lanes above the count, of the window
	active time.Time       // our clock, last sign of an enqueue
	groups map[groupKey]*group
}

// moment is what one Read found, kept for the window.
type moment struct {
	at      time.Time // our clock
	period  float64   // s
	samples int
	wait    float64
	causes  causes
	rate    control.Value
}

func (q *queue) restart() {
	q.window.Reset()
	q.trail, q.levels = nil, nil
}

func (q *queue) clearPeriod() {
	q.samples, q.wait, q.hold, q.causes = 0, 0, 0, causes{}
	for _, l := range q.lanes {
		l.wait, l.busy, l.holder = 0, 0, nil
	}
	for _, g := range q.groups {
		g.wait = 0
	}
}

// state is everything both goroutines leave for Read. Probe.mu guards it.
type state struct {
	fault    *control.Fault // why there is no sampler connection, nil when there is
	database control.Database
	awa      control.Installation
	problems map[string]control.Problem // by part

	queues   map[string]*queue
	byKey    map[int64]*lane // replaced, never changed: the sampler matches without the lock
	keys     []int64         // of byKey
	edition  int             // of byKey, one more whenever it is made anew
	queuesAt time.Time       // our clock, newest read of the configured counts
	laneAt   time.Time       // our clock, when the newest lane was registered

	instances []control.Instance
	reports   map[string][]report // by queue
	sessions  map[int32]session
	owned     map[*lane]bool
	fullAt    time.Time // our clock, newest look that read pg_locks and knew all lanes
	hurry     bool      // the slow reader wants a look that reads pg_locks

	skew     time.Duration
	skewTrip time.Duration // round trip behind skew
	meter    meter
	slowed   bool // of the slow reads
	hz       float64
	late     bool // the sampler is slowed down

	defect string // why looking ended before Close, with the stack; "" while it goes on
}

func newState() *state {
	return &state{
		problems: map[string]control.Problem{}, queues: map[string]*queue{}, byKey: map[int64]*lane{},
		sessions: map[int32]session{}, owned: map[*lane]bool{}, reports: map[string][]report{},
	}
}

// meter adds up what looking cost.
type meter struct {
	statements  int // since the last Read, like the others
	busy        time.Duration
	looks, read int
	share       average // of one backend's time, smoothed over about 30 s
	ours        average // part of a round trip that the server spends, 0..1
}

func (s *state) problem(p control.Problem) { s.problems[p.Part] = p }
func (s *state) mended(part string)        { delete(s.problems, part) }

// register replaces the lanes of the named queues (nil: of all) by found,
// keeping what was seen of lanes that stay.
func (s *state) register(names []string, found []lane, now time.Time) {
	type place struct {
		queue           string
		priority, shard int
	}
	old := map[place]*lane{}
	if names == nil {
		for name := range s.queues {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if q := s.queues[name]; q != nil {
			for _, l := range q.lanes {
				old[place{name, l.priority, l.shard}] = l
			}
			q.lanes = nil
		}
	}
	for _, f := range found {
		q := s.queues[f.queue.name]
		if q == nil {
			continue // registered before queue_lanes lists it: the next read does
		}
		l := old[place{q.name, f.priority, f.shard}]
		if l == nil || l.key != f.key || l.enqueue != f.enqueue || l.claim != f.claim {
			l = &lane{queue: q, key: f.key, priority: f.priority, shard: f.shard, enqueue: f.enqueue, claim: f.claim, registered: now}
			s.laneAt = now
		}
		q.lanes = append(q.lanes, l)
	}
	s.index()
}

// index makes the key map anew.
func (s *state) index() {
	s.edition++
	s.byKey = make(map[int64]*lane, len(s.byKey))
	s.keys = make([]int64, 0, len(s.byKey))
	for _, q := range s.queues {
		slices.SortFunc(q.lanes, func(a, b *lane) int {
			return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.shard, b.shard))
		})
		for _, l := range q.lanes {
			s.byKey[l.key] = l
			s.keys = append(s.keys, l.key)
		}
	}
}

// forgetLooks drops what only holds while looks follow one another: called
// when the sampler's connection was lost.
func (s *state) forgetLooks() {
	for _, q := range s.queues {
		q.clearPeriod()
		q.restart()
		for _, l := range q.lanes {
			l.owner, l.since = who{}, time.Time{}
		}
	}
	clear(s.owned)
	clear(s.sessions)
	s.fullAt = time.Time{}
	s.skewTrip = 0
}

// forgetReads makes everything the slow reader brings absent. Baselines go
// with it: a sequence may jump over a restart.
func (s *state) forgetReads() {
	for _, q := range s.queues {
		q.shards = 0
		for _, l := range q.lanes {
			l.rate, l.lastAt, l.endAt, l.cursor = control.None(), time.Time{}, time.Time{}, 0
			l.depth, l.lag, l.vouched = control.None(), control.None(), time.Time{}
		}
		q.levels = nil
	}
	s.instances, s.reports = nil, map[string][]report{}
	s.queuesAt = time.Time{}
}

// forgetAwa drops the queues: Awa is gone, or another schema took over.
func (s *state) forgetAwa() {
	s.queues, s.byKey, s.keys = map[string]*queue{}, map[int64]*lane{}, nil
	clear(s.owned)
	s.instances, s.reports = nil, map[string][]report{}
	for _, part := range []string{"queues", "lanes", "sequences", "depth", "depth age", "instances", "producers"} {
		s.mended(part)
	}
}
