package control

import "strconv"

// shrinkEvidence lists what the signal says against a step down to the given
// count, in the order of the rules.
func shrinkEvidence(p Policy, s *Signal, to int, list []Blocker) []Blocker {
	if s.Age < p.ShrinkWindow {
		list = append(list, Blocker{Rule: ReasonNotCalmYet, Detail: "window " + span(s.Age) + " of " + span(p.ShrinkWindow), Until: s.At.Add(p.ShrinkWindow - s.Age)})
	}
	if !(s.CalmCoverage.Or(0) >= p.Coverage) {
		list = append(list, Blocker{Rule: ReasonFewSamples, Detail: "has " + percent(s.CalmCoverage.Or(0)) + " over " + span(min(s.Age, p.ShrinkWindow)) + ", needs " + percent(p.Coverage)})
	}
	switch high, ok := s.Calm.High.Get(); {
	case s.Calm.Mean.Or(0) >= p.ShrinkShare:
		list = append(list, Blocker{Rule: ReasonNotCalm, Detail: needs("share", s.Calm.Mean, "below ", p.ShrinkShare)})
	case !ok:
		list = append(list, Blocker{Rule: ReasonUnknownSignal, Detail: strconv.Itoa(s.Calm.Batches) + " of " + strconv.Itoa(minBatches) + " batches have samples"})
	case high >= p.ShrinkShare:
		list = append(list, Blocker{Rule: ReasonNotCalm, Detail: needs("share "+two(s.Calm.Mean)+", perhaps", s.Calm.High, "below ", p.ShrinkShare)})
	}
	if v, ok := s.WorstSlice.Get(); !ok || v > p.SliceShare {
		list = append(list, Blocker{Rule: ReasonBusySlice, Detail: needs("worst "+span(p.ShrinkSlice), s.WorstSlice, "at most ", p.SliceShare)})
	}
	rate, ok1 := s.Rate.Get()
	late, ok2 := s.RateOfLate.Get()
	switch {
	case !ok1 || !ok2:
		list = append(list, Blocker{Rule: ReasonUnknownSignal, Detail: "the enqueue rate is not known"})
	case late < p.RateFloor*rate:
		list = append(list, Blocker{Rule: ReasonRateFalling, Detail: two(s.RateOfLate) + " jobs/s of late against " + two(s.Rate) + ", needs " + percent(p.RateFloor)})
	}
	return lanesLeft(p, s, to, list)
}

// lanesLeft is rules 2 and 3: what remains must do, and what goes must be
// empty.
func lanesLeft(p Policy, s *Signal, to int, list []Blocker) []Blocker {
	busy, ok := s.Busy.Get()
	switch {
	case !ok:
		list = append(list, Blocker{Rule: ReasonUnknownSignal, Detail: "how busy the lanes are is not known"})
	case busy/float64(to) >= p.ShrinkBusy:
		list = append(list, Blocker{Rule: ReasonLanesBusy, Detail: needs(Plural(to, "lane")+" would be busy", Some(busy/float64(to)), "below ", p.ShrinkBusy)})
	}
	switch {
	case !s.DrainedOK:
		list = append(list, Blocker{Rule: ReasonNotDrained, Detail: "whether lanes from " + strconv.Itoa(to) + " up are empty is not known"})
	case !s.Drained:
		list = append(list, Blocker{Rule: ReasonNotDrained, Detail: "lanes from " + strconv.Itoa(to) + " up hold jobs or locks"})
	}
	return list
}
