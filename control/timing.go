package control

import "strconv"

// standing lists what an operator's settings say against a step: pin, pause,
// mode, and the bounds. Precedence is the order of the list.
func standing(in *Input, from, to int, list []Blocker) []Blocker {
	q, now := &in.Queue, in.World.Now
	if q.Pin.Holds(now) {
		d := "at " + strconv.Itoa(q.Pin.Shards) + " by " + q.Pin.By
		if q.Pin.Why != "" {
			d += ": " + q.Pin.Why
		}
		b := Blocker{Rule: ReasonPinned, Detail: d, Until: q.Pin.Until}
		if !q.Pin.Until.IsZero() {
			b.Detail += ", another " + span(q.Pin.Until.Sub(now))
		}
		list = append(list, b)
	}
	pause, rule := q.PauseUp, ReasonPausedUp
	if to < from {
		pause, rule = q.PauseDown, ReasonPausedDown
	}
	if pause != nil {
		d := "by " + pause.By
		if pause.Why != "" {
			d += ": " + pause.Why
		}
		list = append(list, Blocker{Rule: rule, Detail: d})
	}
	if !q.Auto {
		return append(list, Blocker{Rule: ReasonManual, Detail: "never touched"})
	}
	if to > from && from == MinShards && !q.Accepted() {
		list = append(list, Blocker{Rule: ReasonNotAccepted, Detail: "nobody has for this queue"})
	}
	if to > q.Max && to > from {
		list = append(list, Blocker{Rule: ReasonAtMax, Detail: strconv.Itoa(from) + " shards, may have " + strconv.Itoa(q.Max)})
	}
	return list
}

// timing lists what the past says against a step: rule 7 of both directions.
// A revert is bound by less: it is the end of a change, not a new one.
func timing(p Policy, s *State, in *Input, from, to int, revert bool, list []Blocker) []Blocker {
	now := in.World.Now
	if in.Budget.InFlight != "" {
		d := "of another queue"
		if in.Budget.InFlight == in.Queue.Queue {
			d = "of this queue"
		}
		list = append(list, Blocker{Rule: ReasonInFlight, Detail: "a change " + d + " is being written"})
	}
	if !revert {
		list = restraint(p, s, in, from, to, list)
	}
	if s.Oscillating {
		list = append(list, Blocker{Rule: ReasonOscillating, Detail: strconv.Itoa(p.Reversals) + " reversals in " + span(p.ReversalSpan) + ", resume by hand"})
	}
	if until := s.FailedAt.Add(p.RetryHold); !s.FailedAt.IsZero() && now.Before(until) {
		list = append(list, wait(ReasonRetry, "not tried again yet", until, now))
	}
	if n, until := s.spent(p.QueueSpan, p.QueueChanges, now); n >= p.QueueChanges {
		list = append(list, wait(ReasonQueueBudget, strconv.Itoa(n)+" changes in "+span(p.QueueSpan)+", may have "+strconv.Itoa(p.QueueChanges), until, now))
	}
	if n, until := in.Budget.Spent(p.DatabaseSpan, p.DatabaseChanges, now); n >= p.DatabaseChanges {
		list = append(list, wait(ReasonDatabaseBudget, strconv.Itoa(n)+" changes of the database in "+span(p.DatabaseSpan)+", may have "+strconv.Itoa(p.DatabaseChanges), until, now))
	}
	return list
}

// restraint is the part of timing that keeps steps apart.
func restraint(p Policy, s *State, in *Input, from, to int, list []Blocker) []Blocker {
	now, up := in.World.Now, to > from
	if s.Trial != nil {
		list = append(list, Blocker{Rule: ReasonVerifying, Detail: arrow(s.Trial.From, s.Trial.To) + " is on trial"})
	}
	var grew, shrank mark
	for i := range s.marked {
		if m := s.marks[i]; m.up() {
			grew = m
		} else {
			shrank = m
		}
	}
	last, other := grew, shrank
	cooldown := p.GrowCooldown
	if !up {
		last, other, cooldown = shrank, grew, p.ShrinkCooldown
	}
	if until := last.at.Add(cooldown); !last.at.IsZero() && now.Before(until) {
		list = append(list, wait(ReasonCooldown, "after "+arrow(last.from, last.to), until, now))
	}
	if until := other.at.Add(p.ReverseCooldown); !other.at.IsZero() && now.Before(until) {
		list = append(list, wait(ReasonReverse, "after "+arrow(other.from, other.to), until, now))
	}
	if until := s.Lock.At.Add(s.Lock.Hold); up && s.Lock.Shards > 0 && to > s.Lock.Shards && now.Before(until) {
		list = append(list, wait(s.Lock.Why, s.Lock.What, until, now))
	}
	if until := s.Floor.At.Add(s.Floor.Hold); to < s.Floor.Shards && !up && now.Before(until) {
		list = append(list, wait(s.Floor.Why, s.Floor.What, until, now))
	}
	if until := s.AdoptedAt.Add(p.AdoptHold); !s.AdoptedAt.IsZero() && now.Before(until) {
		list = append(list, wait(ReasonAdopted, "to "+strconv.Itoa(s.Shards), until, now))
	}
	rejected := s.RejectedUp
	if !up {
		rejected = s.RejectedDn
	}
	if until := rejected.Add(p.RejectHold); !rejected.IsZero() && now.Before(until) {
		list = append(list, wait(ReasonRejected, "not proposed again yet", until, now))
	}
	return list
}
