package control

import "strconv"

// choice is the direction a tick speaks about: the step, what stands in its
// way, and what stands in the way of the opposite one.
type choice struct {
	action   Action
	to       int
	reason   Reason // of the step, if it may be taken
	fast     bool
	gain     Value
	blockers []Blocker // in order of precedence
	// evident is false when the signal is among the blockers.
	evident bool
	others  []Blocker // of the opposite direction
}

// choose weighs both directions. A revert comes first; then whichever step may
// be taken; then the direction for which the signal speaks; then up for a
// queue with waits and down for one without.
func (s *State) choose(p Policy, in *Input) choice {
	if c, ok := s.revert(p, in); ok {
		return c
	}
	frozen := freeze(p, in, make([]Blocker, 0, 10))
	up := s.up(p, in, frozen)
	if in.Signal.Shards <= MinShards {
		return up
	}
	down := s.down(p, in, append(make([]Blocker, 0, 10), frozen...))
	lead, other := up, down
	switch {
	case len(up.blockers) == 0:
	case len(down.blockers) == 0,
		!up.evident && down.evident,
		!up.evident && in.Signal.Grow.Mean.Or(0) <= p.GrowShare:
		lead, other = down, up
	}
	lead.others = other.blockers
	return lead
}

func (s *State) up(p Policy, in *Input, list []Blocker) choice {
	from := in.Signal.Shards
	to := 2 * from
	if in.Queue.Max > from && in.Queue.Max < to {
		to = in.Queue.Max
	}
	c, frozen := choice{action: ActionGrow, to: to}, len(list)
	list = standing(in, from, to, list)
	before := len(list)
	list, c.fast = growEvidence(p, &in.Signal, to, list)
	c.evident = len(list) == before
	c.reason = ReasonContended
	inside := in.Signal.Inside
	if c.fast {
		c.reason, inside = ReasonContendedFast, in.Signal.FastInside
	}
	c.gain = PredictedGain(from, to, inside)
	c.blockers = s.unknownCount(p, in, timing(p, s, in, from, to, false, list))
	c.sign(frozen)
	c.order(in, frozen, before)
	return c
}

func (s *State) down(p Policy, in *Input, list []Blocker) choice {
	from := in.Signal.Shards
	c, frozen := choice{action: ActionShrink, to: from / 2, reason: ReasonCalm}, len(list)
	list = standing(in, from, c.to, list)
	before := len(list)
	list = shrinkEvidence(p, &in.Signal, c.to, list)
	c.evident = len(list) == before
	c.gain = PredictedGain(from, c.to, in.Signal.Inside)
	c.blockers = s.unknownCount(p, in, timing(p, s, in, from, c.to, false, list))
	c.sign(frozen)
	c.order(in, frozen, before)
	return c
}

// order puts what operators set before a freeze where the queue is in manual
// mode: there is nothing to freeze, and whoever asks why nothing happens shall
// hear first what does not pass by itself.
func (c *choice) order(in *Input, frozen, set int) {
	if in.Queue.Auto || frozen == 0 {
		return
	}
	list := append(make([]Blocker, 0, len(c.blockers)), c.blockers[frozen:set]...) // freezes are shared by both directions
	list = append(list, c.blockers[:frozen]...)
	c.blockers = append(list, c.blockers[set:]...)
}

// sign says of each blocker that stands in the way of this direction only
// which one that is; the first ones, a freeze, stand in the way of both.
func (c *choice) sign(both int) {
	for i := both; i < len(c.blockers); i++ {
		switch b := &c.blockers[i]; b.Rule {
		case ReasonPinned, ReasonManual, ReasonInFlight, ReasonVerifying, ReasonOscillating, ReasonRetry,
			ReasonQueueBudget, ReasonDatabaseBudget, ReasonAdopted:
		default:
			b.For = c.action
		}
	}
}

// unknownCount holds until the log has caught up with a count that is not what
// it says.
func (s *State) unknownCount(p Policy, in *Input, list []Blocker) []Blocker {
	switch {
	case s.Shards == in.Signal.Shards || s.Shards == 0 || in.Signal.Shards == 0:
		return list
	case s.unread(p, in):
		return append(list, Blocker{Rule: ReasonUnknownSignal, Detail: "the count has not been read since it was set to " + strconv.Itoa(s.Shards)})
	}
	return append(list, Blocker{Rule: ReasonAdopted, Detail: arrow(s.Shards, in.Signal.Shards) + " was not written through this log"})
}

// revert is the step back from a change that did harm, once: any outcome of a
// write, an operator's no, or time ends the wish.
//
// It does not wait until the lanes it leaves are empty, as another step down
// does: where producers crowd at them, as they do at a queue that was grown,
// they hardly ever are, and harm would stay for good. What is in them drains,
// and until then the order of keys is broken as it is after a step up.
func (s *State) revert(p Policy, in *Input) (choice, bool) {
	from := in.Signal.Shards
	if s.RevertTo < MinShards || s.RevertTo > MaxShards || s.RevertTo == from || s.Shards != from || !in.World.Now.Before(s.RevertAt.Add(p.PendingLife)) {
		return choice{}, false
	}
	c := choice{action: ActionGrow, to: s.RevertTo, reason: ReasonRevert, evident: true}
	if c.to < from {
		c.action = ActionShrink
	}
	list := freeze(p, in, make([]Blocker, 0, 8))
	frozen := len(list)
	list = standing(in, from, c.to, list)
	c.gain = PredictedGain(from, c.to, in.Signal.Inside)
	c.blockers = timing(p, s, in, from, c.to, true, list)
	c.order(in, frozen, len(list))
	return c, true
}

// fill writes the choice into a decision that holds so far.
func (c *choice) fill(d *Decision, in *Input) {
	d.PredictedGain = c.gain
	d.Evidence = in.Signal.evidence(c.fast, c.gain)
	d.Blockers = c.blockers
	if len(c.blockers) == 0 {
		d.Action, d.To, d.Reason = c.action, c.to, c.reason
		d.Detail = c.words(in)
		return
	}
	d.Reason = c.blockers[0].Rule
	d.Detail = d.Reason.Words() + ": " + c.blockers[0].Detail
	defer func() { d.Next = d.notBefore() }() // of all, also those that follow
next:
	for _, o := range c.others {
		for _, b := range c.blockers {
			if b.Rule == o.Rule && b.For == o.For {
				continue next
			}
		}
		d.Blockers = append(d.Blockers, o)
	}
}

// words say why the step is wanted, with the figures.
func (c *choice) words(in *Input) string {
	s := &in.Signal
	d := arrow(s.Shards, c.to) + ": "
	iv, waiters := s.Grow, s.Waiters
	switch {
	case c.reason == ReasonRevert:
		return d + "the change did harm and is taken back"
	case c.action == ActionShrink:
		return d + "share " + two(s.Calm.Mean) + " (" + two(s.Calm.Low) + " to " + two(s.Calm.High) + ") over " +
			span(s.Age) + ", " + two(s.Busy) + " lanes busy"
	case c.fast:
		iv, waiters = s.Fast, s.FastWaiters
	}
	return d + "share " + two(iv.Mean) + " (" + two(iv.Low) + " to " + two(iv.High) + "), " +
		two(waiters) + " sessions wait, predicted ×" + two(c.gain)
}
