package metrics

import (
	"cmp"
	"slices"
	"time"
)

// Hysteresis of who has series of its own: a queue keeps them for a while,
// and loses them only to one that clearly deserves them more.
const (
	leastStay  = time.Minute      // however loud the other is
	usualStay  = 10 * time.Minute // unless the other is much louder
	clearly    = 2                // times the standing
	clearlyBy  = 0.05             // and this much more
	muchLouder = 10               // times the standing
	muchBy     = 0.5              // and this much more
)

// choose gives series to at most limit of the queues that are there: those
// that have them keep them, free places go to the highest standing, and a
// queue that clearly outranks the lowest takes its place. Queues whose label
// is taken stay among the others.
func choose(there []*queue, limit int, now time.Time) {
	var in, out []*queue
	taken := map[string]bool{}
	for _, q := range there {
		if q.own {
			in = append(in, q)
			taken[q.label] = true
		} else {
			out = append(out, q)
		}
	}
	if len(in) >= limit { // only who could displace the lowest need be put in order
		lowest := slices.MinFunc(in, rank).standing
		out = slices.DeleteFunc(out, func(q *queue) bool { return q.standing <= clearly*lowest+clearlyBy })
	}
	if len(out) == 0 {
		return
	}
	slices.SortFunc(out, func(a, b *queue) int { return -rank(a, b) })
	slices.SortFunc(in, rank)
	for _, q := range out {
		if taken[q.label] {
			continue
		}
		if len(taken) < limit {
			taken[q.label] = true
			q.give(true, now)
			continue
		}
		i := slices.IndexFunc(in, func(x *queue) bool { return q.displaces(x, now) })
		if i < 0 {
			return // and nobody after it does
		}
		delete(taken, in[i].label)
		taken[q.label] = true
		in[i].give(false, now)
		q.give(true, now)
		in = slices.Delete(in, i, i+1)
	}
}

// rank orders by standing, the name decides between equals.
func rank(a, b *queue) int {
	return cmp.Or(cmp.Compare(a.standing, b.standing), -cmp.Compare(a.name, b.name))
}

func (q *queue) give(own bool, now time.Time) { q.own, q.since = own, now }

// displaces says whether q takes the place of in.
func (q *queue) displaces(in *queue, now time.Time) bool {
	stayed := now.Sub(in.since)
	switch {
	case stayed >= usualStay && q.standing > clearly*in.standing+clearlyBy:
		return true
	case stayed >= leastStay && q.standing > muchLouder*in.standing+muchBy:
		return true
	}
	return false
}
