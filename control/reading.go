package control

import "time"

// Bottleneck names what the producers of a queue wait for, as seen from the
// holders of its lanes. The list is closed.
type Bottleneck string

// The bottlenecks a reading can name.
const (
	// BottleneckNone: nobody waits for a lane.
	BottleneckNone Bottleneck = "none"
	// BottleneckLane: the holders work (or wait for ordinary things) inside
	// their transactions; more lanes would let more of them work at once.
	BottleneckLane Bottleneck = "lane"
	// BottleneckNotify: the holders wait for the cluster-wide lock under which
	// notifying transactions commit; more lanes would only move the queue.
	BottleneckNotify Bottleneck = "notify"
	// BottleneckStuck: one transaction has kept the lane for 2 s or longer.
	BottleneckStuck Bottleneck = "stuck"
	// BottleneckUnknown: what the holders do is hidden from this role.
	BottleneckUnknown Bottleneck = "unknown"
)

// Causes are the shares, 0..1 and summing to 1 when present, of the waiting in
// front of holders of each class. All are absent when nobody waited.
type Causes struct {
	Lane    Value `json:"lane"`
	Notify  Value `json:"notify"`
	Stuck   Value `json:"stuck"`
	Unknown Value `json:"unknown"`
}

// Holder describes the session that has a lane's enqueue lock, at the newest
// sample in which somebody stood behind it.
type Holder struct {
	PID         int        `json:"pid"`              // PostgreSQL backend
	Application string     `json:"application"`      // application_name, raw: make it safe before showing it
	User        string     `json:"user"`             // role name, raw
	Client      string     `json:"client"`           // address, "local" for a socket, "" when hidden
	State       string     `json:"state"`            // pg_stat_activity.state, "" when hidden
	WaitEvent   string     `json:"wait_event"`       // "Type:event", "" when none or hidden
	XactAgeS    Value      `json:"xact_age_s"`       // seconds since its transaction began, absent when hidden
	Waiters     int        `json:"waiters"`          // sessions behind it at that sample
	Class       Bottleneck `json:"class"`            // lane, notify, stuck or unknown
	Priority    int        `json:"priority"`         // the lane it holds
	Shard       int        `json:"shard"`            // the lane it holds
	Hidden      bool       `json:"hidden,omitempty"` // its activity is hidden from our role
}

// LaneReading is one lane (priority, shard) of a queue over one reading.
type LaneReading struct {
	Priority int   `json:"priority"` // 1..4, as Awa numbers them
	Shard    int   `json:"shard"`    // 0..63
	Waiters  Value `json:"waiters"`  // mean sessions waiting for the lane
	Busy     Value `json:"busy"`     // share of samples in which the lane is held, 0..1
	Depth    Value `json:"depth"`    // ready jobs not yet claimed
	LagS     Value `json:"lag_s"`    // seconds since the oldest ready job could run
	Rate     Value `json:"rate"`     // jobs/s that the enqueue sequence advanced
	// Holder has the lane, at the newest look in which somebody stood behind it;
	// nil when nobody did in this period.
	Holder *Holder `json:"holder,omitempty"`
}

// AppliedState says how a producer stands to the configured shard count.
type AppliedState string

// The applied states. Silence is unknown, never stale.
const (
	AppliedOn      AppliedState = "on"
	AppliedStale   AppliedState = "stale"
	AppliedUnknown AppliedState = "unknown"
)

// Producer is one producer of a queue: an instance that reports, or otherwise
// the group of sessions of one client address and application name.
type Producer struct {
	ID string `json:"id"` // instance id, or "address application"; raw
	// Application and Client are of an inferred one: application_name and
	// address ("local" for a socket, "" when hidden), raw.
	Application string       `json:"application,omitempty"`
	Client      string       `json:"client,omitempty"`
	Queue       string       `json:"queue"`    // physical queue name, raw
	Sessions    Value        `json:"sessions"` // most sessions seen at once in the window, absent when it only reports
	Shards      Value        `json:"shards"`   // count it works with: reported, or the proven lower bound
	State       AppliedState `json:"state"`
	How         string       `json:"how"`     // HowReported or HowInferred
	Detail      string       `json:"detail"`  // why the state is what it is, one sentence
	SeenAgoS    Value        `json:"seen_s"`  // seconds since last seen
	Waiting     Value        `json:"waiting"` // mean sessions of it that wait for a lane
}

// Reading is what was seen of one queue in one period (normally one second,
// about four samples of pg_locks).
//
// Waiters, Holders, Inside and the lanes' values are means over that period,
// so Waiters × PeriodS summed over readings is lock-wait seconds. Share, its
// interval, WaitPerEnqueueS, Bottleneck and Causes need more than a second and
// are taken over the last WindowS seconds.
type Reading struct {
	At      time.Time `json:"at"`       // server clock at the end of the period
	Queue   string    `json:"queue"`    // physical name, raw: make it safe before showing it
	Shards  int       `json:"shards"`   // configured enqueue_shards, 0 when unknown
	PeriodS float64   `json:"period_s"` // length of the period in seconds
	WindowS float64   `json:"window_s"` // seconds behind Share and its fellows

	Samples  int     `json:"samples"`  // samples taken of this queue in the period
	Expected float64 `json:"expected"` // samples the sampler meant to take in the period
	WaitSum  float64 `json:"wait_sum"` // Σw over the samples
	HoldSum  float64 `json:"hold_sum"` // Σh over the samples

	Waiters   Value `json:"waiters"` // W: mean sessions waiting for a lane
	Holders   Value `json:"holders"` // mean sessions holding one
	Share     Value `json:"share"`   // Σw / Σ(w+h) over the window, 0..1
	ShareLow  Value `json:"share_low"`
	ShareHigh Value `json:"share_high"` // 95% interval of Share from batch means

	Bottleneck Bottleneck `json:"bottleneck"`
	Causes     Causes     `json:"causes"`
	Inside     Value      `json:"inside"` // N = W + Σ busy, sessions

	EnqueueRate     Value `json:"enqueue_rate"`       // λ, jobs/s over the period
	WaitPerEnqueueS Value `json:"wait_per_enqueue_s"` // W/λ over the window, seconds
	Depth           Value `json:"depth"`              // ready jobs, all lanes
	LagS            Value `json:"lag_s"`              // worst lane, seconds
	Applied         Value `json:"applied"`            // producers proven or reported on the configured count
	Producers       Value `json:"producers"`          // producers known
	Stale           int   `json:"stale"`              // producers with proof that they are not

	// HighestShard is the highest lane that exists, +1: Shards or more when
	// lanes above the count remain from an earlier one.
	HighestShard int    `json:"highest_shard"`
	Drained      []bool `json:"-"` // Drained[n]: every lane >= n is empty and unlocked; nil when unknown
	// Drain is what is left in lanes at or above Shards, nil when there are none.
	Drain *Drain `json:"drain"`

	// Holder is the one of the lanes' holders that the waits are behind: of the
	// kind that Bottleneck names, with most sessions behind it; nil when nobody
	// waited in this period.
	Holder *Holder       `json:"holder,omitempty"`
	Lanes  []LaneReading `json:"lanes"` // by priority, then shard

	// ProducerList is the detail behind Applied and Producers.
	ProducerList []Producer `json:"-"`
}

// DrainedAbove says whether every lane at or above n held no ready job and no
// lane lock when the reading was taken; ok is false when that is not known.
func (r Reading) DrainedAbove(n int) (drained, ok bool) {
	if r.Drained == nil || n < 0 {
		return false, false
	}
	if n >= len(r.Drained) {
		return true, true
	}
	return r.Drained[n], true
}
