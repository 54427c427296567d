package control

import "strconv"

// growEvidence lists what the signal says against a step up to the given
// count, in the order of the rules, and says which window speaks for it.
func growEvidence(p Policy, s *Signal, to int, list []Blocker) (blockers []Blocker, fast bool) {
	fast = s.Age >= p.FastWindow && s.Fast.Low.Or(0) > p.FastShare && s.FastWaiters.Or(0) >= p.FastWaiters
	waiters, inside := s.Waiters, s.Inside
	before := len(list)
	list = contention(p, s, list)
	if fast && len(list) > before {
		list = list[:before]
		waiters, inside = s.FastWaiters, s.FastInside
	} else {
		fast = false
	}
	gain := PredictedGain(s.Shards, to, inside)
	switch g, ok := gain.Get(); {
	case !ok:
		list = append(list, Blocker{Rule: ReasonUnknownSignal, Detail: "the sessions inside are not known"})
	case to > s.Shards && g < 1+p.GrowGain:
		list = append(list, Blocker{Rule: ReasonSmallGain, Detail: "predicted gain " + percent(g-1) + ", needs " + percent(p.GrowGain)})
	}
	if waiters.Or(0) > 0 {
		list = causes(p, s, list)
	}
	if s.Shards >= 2 && inside.Or(0) >= p.SkewInside && s.TopLane.Or(0) > p.SkewShare {
		list = append(list, Blocker{Rule: ReasonSkewed, Detail: percent(s.TopLane.Or(0)) + " of the waits are in one lane, may be " + percent(p.SkewShare)})
	}
	if s.Stale > 0 {
		list = append(list, Blocker{Rule: ReasonStaleProducers, Detail: Plural(s.Stale, "producer") + " not on " + strconv.Itoa(s.Shards)})
	}
	return list, fast
}

// contention is rules 1 and 2 over the growth window.
func contention(p Policy, s *Signal, list []Blocker) []Blocker {
	low, ok := s.Grow.Low.Get()
	switch {
	case s.Age < p.GrowWindow:
		list = append(list, Blocker{Rule: ReasonGathering, Detail: "window " + span(s.Age) + " of " + span(p.GrowWindow), Until: s.At.Add(p.GrowWindow - s.Age)})
	case !ok:
		list = append(list, Blocker{Rule: ReasonUnknownSignal, Detail: strconv.Itoa(s.Grow.Batches) + " of " + strconv.Itoa(minBatches) + " batches have samples"})
	}
	if s.Age >= p.GrowWindow {
		list = burst(p, s, list)
	}
	if !(low > p.GrowShare) && s.Grow.Mean.OK() {
		if mean := s.Grow.Mean.Or(0); ok && mean > p.GrowShare {
			list = append(list, Blocker{Rule: ReasonShareLow, Detail: needs("share "+two(s.Grow.Mean)+", surely", s.Grow.Low, "", p.GrowShare)})
		} else if mean <= p.GrowShare {
			list = append(list, Blocker{Rule: ReasonShareLow, Detail: needs("share", s.Grow.Mean, "", p.GrowShare)})
		}
	}
	if !(s.Waiters.Or(0) >= p.GrowWaiters) {
		list = append(list, Blocker{Rule: ReasonFewWaiters, Detail: needs("waiting", s.Waiters, "", p.GrowWaiters)})
	}
	return list
}

func burst(p Policy, s *Signal, list []Blocker) []Blocker {
	if s.Grow.Mean.Or(0) <= p.GrowShare {
		return list
	}
	for i, third := range s.Thirds {
		if !(third.Or(0) > p.GrowShare) {
			name := [...]string{"first", "second", "last"}[i]
			return append(list, Blocker{Rule: ReasonBurst, Detail: needs("share of the "+name+" third", third, "", p.GrowShare)})
		}
	}
	return list
}

// causes is rule 4: what stands in front of the waiters must be a lane.
func causes(p Policy, s *Signal, list []Blocker) []Blocker {
	c := s.Causes
	notify, stuck, hidden := c.Notify.Or(0), c.Stuck.Or(0), c.Unknown.Or(0)
	switch {
	case !c.Lane.OK() && !c.Notify.OK() && !c.Stuck.OK() && !c.Unknown.OK():
		return append(list, Blocker{Rule: ReasonUnknownSignal, Detail: "what the holders do is not known"})
	case notify >= p.NotifyShare:
		list = append(list, Blocker{Rule: ReasonNotifyBound, Detail: percent(notify) + " of the waits are behind NOTIFY, needs below " + percent(p.NotifyShare)})
	}
	switch {
	case stuck >= p.StuckShare:
		list = append(list, Blocker{Rule: ReasonStuckHolder, Detail: percent(stuck) + " of the waits are behind a stuck holder, needs below " + percent(p.StuckShare)})
	case stuck+hidden >= p.StuckShare && hidden > 0: // the NOTIFY queue is seen by every role
		list = append(list, Blocker{Rule: ReasonHoldersHidden, Detail: percent(hidden) + " of the waits are behind holders hidden from this role, a stuck one cannot be ruled out"})
	}
	return list
}
