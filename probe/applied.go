package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"shardpilot/control"
)

// Producers, and whether they work with the configured count.
//
// Where instances report (table shardpilot.producer), their word counts. Other
// producers are groups of sessions with one client address and application name,
// and only what they do can be seen: the lanes they pick.
//
//   - A lane at or above the count, in a transaction younger than the count, is
//     proof of a stale one.
//   - After a raise from S' to S a producer on S picks a lane below S' with
//     chance S'/S. When k sessions picked only such lanes, it is on S with
//     chance (S'/S)^k; below 1% it counts as stale. One pick at S' or above
//     shows that it is on.
//   - After a lowering from S' to S a producer still on S' would pick below S
//     with chance S/S'. k sessions that did show at (S/S')^k < 1% that it is on.
//   - When no change was seen, one step of two is assumed (S' = S/2, and 2 for
//     S = 1).
//
// Each session counts as one pick at most: SQL producers choose by backend pid,
// so one session always comes back to the same lane. Producers that only use
// one lane (a single ordering key, batches that start a new rotor each time)
// come out as stale, and rightly block growth: more lanes would do nothing for
// them.

const (
	proof       = 0.01
	maxPicks    = 1024 // sessions remembered of a group
	maxGroups   = 256  // groups remembered of a queue
	reportFresh = 2 * time.Minute
)

type groupKey struct {
	client, app string
	hidden      bool
}

// group is the producers of one client address and application name.
type group struct {
	key     groupKey
	picks   map[int32]bool // backends seen since the count changed
	highest int            // highest shard picked since, -1 when none
	proved  time.Time      // our clock, when it last picked one that the count does not have
	below   int            // highest shard picked since proved
	most    int            // most sessions at once
	wait    float64        // Σ waiting sessions over the samples of the period
	seenAt  time.Time      // our clock
}

// group finds or makes the group of a session; nil when there are too many.
func (q *queue) group(one session) *group {
	key := groupKey{one.client, one.app, one.hidden}
	g := q.groups[key]
	if g == nil && len(q.groups) < maxGroups {
		g = &group{key: key, picks: map[int32]bool{}, highest: -1, below: -1}
		q.groups[key] = g
	}
	return g
}

func (g *group) see(at time.Time, waits bool) {
	g.seenAt = at
	if waits {
		g.wait++
	}
}

// pick notes the lane of a session while the queue has count shards.
func (g *group) pick(pid int32, shard, count int, at time.Time) {
	if count > 0 && shard >= count {
		clear(g.picks) // whatever else it picked before is no word against this
		g.proved, g.below, g.highest = at, -1, max(g.highest, shard)
		return
	}
	if len(g.picks) < maxPicks {
		g.picks[pid] = true
	}
	g.below = max(g.below, shard)
	if count > 0 && g.highest >= count {
		if math.Pow(float64(count)/float64(g.highest+1), float64(len(g.picks))) < proof {
			g.highest = g.below
		}
		return
	}
	g.highest = max(g.highest, shard)
}

func (g *group) forgetPicks() {
	clear(g.picks)
	g.highest, g.below = -1, -1
}

// judge says how a producer of which k sessions picked lanes up to highest
// (-1: none) stands to the configured count; prev is the count before, 0 when
// no change was seen.
func judge(count, prev, highest, k int) (control.AppliedState, string) {
	if count < 1 {
		return control.AppliedUnknown, "the configured count is not known"
	}
	if highest >= count {
		return control.AppliedStale, fmt.Sprintf("uses shard %d, which a count of %d does not have", highest, count)
	}
	if k == 0 {
		return control.AppliedUnknown, "no lane seen since the count is what it is"
	}
	from := prev
	if from == 0 || from == count {
		from = count / 2
		if count == 1 {
			from = 2
		}
	}
	if from > count {
		p := math.Pow(float64(count)/float64(from), float64(k))
		if p < proof {
			return control.AppliedOn, fmt.Sprintf("%s below shard %d and none above; on %d that had a chance of %.2g%%", control.Plural(k, "session"), count, from, 100*p)
		}
		return control.AppliedUnknown, fmt.Sprintf("%s below shard %d and none above, too few to tell from %d", control.Plural(k, "session"), count, from)
	}
	if highest >= from {
		return control.AppliedOn, fmt.Sprintf("uses shard %d", highest)
	}
	p := math.Pow(float64(from)/float64(count), float64(k))
	if p < proof {
		return control.AppliedStale, fmt.Sprintf("%s never met shard %d or above; on %d that had a chance of %.2g%%", control.Plural(k, "session"), from, count, 100*p)
	}
	return control.AppliedUnknown, fmt.Sprintf("%s, none at shard %d yet: too few to tell", control.Plural(k, "session"), from)
}

// report is what an instance says of itself.
type report struct {
	instance string
	shards   int
	ago      float64   // s
	at       time.Time // server clock
}

// producers lists the producers of a queue that were heard of or seen within
// window.
func (q *queue) producers(reports []report, now time.Time, window time.Duration) []control.Producer {
	var out []control.Producer
	stale := false
	for _, r := range reports {
		p := q.reported(r)
		stale = stale || p.State == control.AppliedStale
		out = append(out, p)
	}
	for key, g := range q.groups {
		if now.Sub(g.seenAt) > window {
			delete(q.groups, key)
			continue
		}
		if q.shards > 0 && g.highest >= q.shards && now.Sub(g.proved) > window {
			g.forgetPicks()
		}
		p := q.inferred(g, now)
		// Next to instances that report, a group would count the same
		// producers twice, unless it proves what none of them admits.
		if len(reports) > 0 && (stale || g.highest < q.shards || q.shards == 0) {
			continue
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b control.Producer) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (q *queue) reported(r report) control.Producer {
	p := control.Producer{ID: r.instance, Queue: q.name, Shards: control.Some(float64(r.shards)),
		How: control.HowReported, SeenAgoS: control.Some(r.ago)}
	switch {
	case q.shards == 0:
		p.State, p.Detail = control.AppliedUnknown, "the configured count is not known"
	case r.shards == q.shards:
		p.State, p.Detail = control.AppliedOn, fmt.Sprintf("reports %d", r.shards)
	case !q.changedAt.IsZero() && !r.at.After(q.changedAt):
		p.State, p.Detail = control.AppliedUnknown, fmt.Sprintf("reported %d, before the count changed", r.shards)
	default:
		p.State, p.Detail = control.AppliedStale, fmt.Sprintf("reports %d, %d is configured", r.shards, q.shards)
	}
	return p
}

func (q *queue) inferred(g *group, now time.Time) control.Producer {
	p := control.Producer{Queue: q.name, How: control.HowInferred, Sessions: control.Some(float64(g.most)),
		Application: g.key.app, Client: g.key.client,
		SeenAgoS: control.Some(max(now.Sub(g.seenAt), 0).Seconds()),
		Waiting:  control.Some(g.wait / float64(q.samples))}
	p.ID = g.key.client + " " + g.key.app
	if g.key.hidden {
		p.ID = "(address hidden) " + g.key.app
	}
	if g.highest >= 0 {
		p.Shards = control.Some(float64(g.highest + 1))
	}
	p.State, p.Detail = judge(q.shards, q.prev, g.highest, len(g.picks))
	return p
}
