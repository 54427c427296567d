package control

import (
	"strconv"
	"time"
)

// DrainState is how the lanes that a lowered count left behind stand.
type DrainState string

// The states of a drain. The list is closed.
const (
	DrainDone      DrainState = "drained"   // no job, no lock: order holds per shard again
	DrainFalling   DrainState = "draining"  // they become fewer
	DrainMeasuring DrainState = "measuring" // jobs are left, how fast they go is not known yet
	DrainStanding  DrainState = "standing"  // claimed, and as many come in: somebody still uses the old count
	DrainUnclaimed DrainState = "unclaimed" // nothing claims from them
	DrainLocked    DrainState = "locked"    // no job, but a look saw a producer hold or await a lane there
	DrainUnknown   DrainState = "unknown"   // what is in them, or who has them, was not seen (yet)
)

// Drain is what is left in the lanes at or above the configured count: the
// lanes of an earlier, higher one, into which no job should come any more.
type Drain struct {
	From    int        `json:"from_shard"` // the first shard that the count does not have
	State   DrainState `json:"state"`
	Lanes   int        `json:"lanes"`    // of them, those with ready jobs
	Jobs    Value      `json:"jobs"`     // ready jobs left in them
	Rate    Value      `json:"net_rate"` // jobs/s by which they became fewer over WindowS, below 0 when more; absent until measured
	WindowS float64    `json:"window_s"` // seconds behind Rate
	LeftS   Value      `json:"left_s"`   // seconds until they are empty at that rate, absent unless they become fewer
}

// Level is what stood in the lanes above a count when they were read.
type Level struct {
	At      time.Time
	Jobs    float64
	Claimed int64 // sum of their claim cursors
}

// leastLevels is how many reads make a rate: a single batch that is claimed
// between two of them is none.
const leastLevels = 3

// DrainOf tells how the lanes above the reading's count drain, nil when it has
// none there. levels are earlier reads under the same count, oldest first; they
// count when they reach over least or longer.
func DrainOf(r Reading, levels []Level, least time.Duration) *Drain {
	if r.Shards < MinShards {
		return nil
	}
	d, above, unknown := Drain{From: r.Shards, State: DrainUnknown}, 0, 0
	jobs := 0.0
	for _, l := range r.Lanes {
		if l.Shard < r.Shards {
			continue
		}
		above++
		n, ok := l.Depth.Get()
		if !ok {
			unknown++
		}
		if n > 0 {
			d.Lanes++
		}
		jobs += max(n, 0)
	}
	if above == 0 {
		return nil
	}
	drained, known := r.DrainedAbove(r.Shards)
	if unknown == 0 {
		d.Jobs = Some(jobs)
	}
	switch {
	case known && drained:
		d.State = DrainDone
	case unknown > 0:
	case jobs > 0:
		d.measure(levels, least)
	case known:
		d.State = DrainLocked
	}
	return &d
}

func (d *Drain) measure(levels []Level, least time.Duration) {
	d.State = DrainMeasuring
	if len(levels) < leastLevels {
		return
	}
	first, last := levels[0], levels[len(levels)-1]
	span := last.At.Sub(first.At)
	if span < least || span <= 0 {
		return
	}
	d.WindowS = span.Seconds()
	rate := (first.Jobs - last.Jobs) / d.WindowS
	d.Rate = Some(rate)
	switch {
	case rate > 0:
		d.State, d.LeftS = DrainFalling, Some(d.Jobs.Or(0)/rate)
	case last.Claimed == first.Claimed:
		d.State = DrainUnclaimed
	default:
		d.State = DrainStanding
	}
}

// Active says whether the lanes above are not known to be empty, so that the
// order of a key may be broken.
func (d *Drain) Active() bool { return d != nil && d.State != DrainDone }

// DrainOrder is what a drain means for whoever relies on order.
const DrainOrder = "Until they are empty the order of each key is broken; from then on it holds within each shard again."

// Words is the drain in a sentence, with its figures.
func (d *Drain) Words() string {
	from := "from shard " + strconv.Itoa(d.From) + " up"
	left := d.count() + " left in " + Plural(d.Lanes, "lane") + " " + from
	over := " over " + span(seconds(d.WindowS))
	switch d.State {
	case DrainDone:
		return "the lanes " + from + " are drained"
	case DrainFalling:
		return left + ", " + two(d.Rate) + "/s fewer" + over + ": about " + span(seconds(d.LeftS.Or(0))) + " more"
	case DrainMeasuring:
		return left + "; how fast they drain is not known yet"
	case DrainStanding:
		return left + ", and they do not become fewer" + over + ": as many come in as are claimed, from producers or workers on an older count"
	case DrainUnclaimed:
		return left + "; nothing has claimed from them" + over + ": see whether a worker serves the queue"
	case DrainLocked:
		return "no job is left " + from + ", but a producer still holds or awaits a lane there"
	case DrainUnknown:
		if d.Jobs.OK() {
			return "no job is left " + from + "; whether a producer has a lane there is not known yet"
		}
	}
	return "what the lanes " + from + " hold is not known"
}

// Short is the drain in a few words, for a cell.
func (d *Drain) Short() string {
	switch d.State {
	case DrainDone:
		return "drained"
	case DrainFalling:
		return "DRAINING " + d.count() + ", " + span(seconds(d.LeftS.Or(0)))
	case DrainMeasuring:
		return "DRAINING " + d.count()
	case DrainStanding:
		return "DRAINING " + d.count() + ", not falling"
	case DrainUnclaimed:
		return "DRAINING " + d.count() + ", not claimed"
	case DrainLocked:
		return "DRAINING a lock"
	case DrainUnknown:
	}
	return "upper lanes unknown"
}

func (d *Drain) count() string {
	n, ok := d.Jobs.Get()
	if !ok {
		return "n/a jobs"
	}
	return Plural(int(n), "job")
}

// longestWait keeps an estimate that fell by next to nothing within a Duration.
const longestWait = 1000 * time.Hour

func seconds(s float64) time.Duration {
	if !(s < longestWait.Seconds()) {
		return longestWait
	}
	return time.Duration(max(s, 0) * float64(time.Second))
}
