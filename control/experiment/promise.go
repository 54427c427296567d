package experiment

import (
	"fmt"
	"time"

	"shardpilot/control"
)

// promises checks at every step what the controller promises, from its own
// memory of the changes and not the controller's.
type promises struct {
	p       control.Policy
	changes []stepTaken
	useless stepTaken // the newest step up that did not pay, or did harm
	needed  stepTaken // the newest step down that did harm
	broken  []string
}

type stepTaken struct {
	at       time.Time
	from, to int
	revert   bool
}

// mostListed bounds every list of sentences in a result.
const mostListed = 20

func (c *promises) check(in *control.Input, d *control.Decision, fx *control.Effects) {
	what := c.explained(d)
	if what == "" && fx.Step != nil {
		if what = c.bounds(in, fx.Step); what == "" {
			what = c.times(fx.Step, in.World.Now)
		}
		if what == "" && fx.Step.Entry.Reason != control.ReasonRevert {
			what = c.evidence(in, fx.Step)
		}
	}
	if what != "" && len(c.broken) < mostListed {
		c.broken = append(c.broken, fmt.Sprintf("%s: %s", in.World.Now.Format("02 15:04:05"), what))
	}
}

func (c *promises) explained(d *control.Decision) string {
	switch {
	case !d.Reason.Known() || d.Detail == "":
		return "a decision without reason or words"
	case d.Action == control.ActionHold && (len(d.Blockers) == 0 || d.To != d.From || d.Blockers[0].Rule != d.Reason):
		return "a hold that does not say what blocks first"
	case d.Action != control.ActionHold && d.To == d.From:
		return "a step to where it is"
	}
	return ""
}

func (c *promises) bounds(in *control.Input, x *control.Step) string {
	q := &in.Queue
	up, revert := x.To > x.From, x.Entry.Reason == control.ReasonRevert
	switch {
	case x.From != in.Signal.Shards:
		return "a step from a count that is not the configured one"
	case x.To < control.MinShards || up && x.To > q.Max:
		return fmt.Sprintf("a step to %d, outside 1 to %d", x.To, q.Max)
	case up && x.To > 2*x.From || !up && x.To != x.From/2:
		return fmt.Sprintf("more than one step, %d to %d", x.From, x.To)
	case !q.Auto || !q.Enforced || in.World.Process != control.ModeEnforced:
		return "a step of a queue that was not opted in"
	case up && !x.Provision || !up && !x.Drained && !revert: // harm is taken back at once
		return "a step without its lanes seen to"
	case in.World.Now.Sub(in.Signal.At) > time.Duration(c.p.StalePeriods*float64(c.p.Period)):
		return "a step from a stale reading"
	case in.World.Now.Before(in.World.WarmUntil):
		return "a step while warming up"
	case x.Hand || x.Force:
		return "the controller posed as a person"
	}
	return ""
}

// times are the cooldowns and budgets.
func (c *promises) times(x *control.Step, now time.Time) string {
	if x.Entry.Reason == control.ReasonRevert {
		return ""
	}
	up, day, reversals := x.To > x.From, 0, 0
	var before stepTaken // what the next change is held against; never a revert
	for _, old := range c.changes {
		ago := now.Sub(old.at)
		wasUp := old.to > old.from
		switch {
		case wasUp && up && ago < c.p.GrowCooldown, !wasUp && !up && ago < c.p.ShrinkCooldown:
			return fmt.Sprintf("a step %v after one in the same direction", ago)
		case wasUp != up && ago < c.p.ReverseCooldown:
			return fmt.Sprintf("a step %v after one in the opposite direction", ago)
		}
		if ago < c.p.QueueSpan {
			day++
		}
		if before.to != 0 && ago < c.p.ReversalSpan && wasUp != (before.to > before.from) {
			reversals++
		}
		if !old.revert {
			before = old
		}
	}
	held := func(old stepTaken) bool { return !old.at.IsZero() && now.Sub(old.at) < c.p.IneffectiveHold }
	switch {
	case up && held(c.useless) && x.To > c.useless.to:
		return fmt.Sprintf("a step up to %d after it did not pay", x.To)
	case !up && held(c.needed) && x.To < c.needed.from:
		return fmt.Sprintf("a step down to %d after it did harm", x.To)
	case day >= c.p.QueueChanges:
		return "a step beyond the queue's budget"
	case reversals >= c.p.Reversals:
		return fmt.Sprintf("a step after %d reversals within %v", reversals, c.p.ReversalSpan)
	}
	return ""
}

// evidence is what the readings must have said.
func (c *promises) evidence(in *control.Input, x *control.Step) string {
	s := &in.Signal
	if x.To < x.From {
		switch {
		case !s.DrainedOK || !s.Drained:
			return "shrunk before the upper lanes were drained"
		case s.Age < c.p.ShrinkWindow || s.Calm.High.Or(1) >= c.p.ShrinkShare:
			return "shrunk without the long calm"
		case s.RateOfLate.Or(0) < c.p.RateFloor*s.Rate.Or(0):
			return "shrunk on a slowdown"
		}
		return ""
	}
	slow := s.Age >= c.p.GrowWindow && s.Grow.Low.Or(0) > c.p.GrowShare && s.Waiters.Or(0) >= c.p.GrowWaiters
	fast := s.Age >= c.p.FastWindow && s.Fast.Low.Or(0) > c.p.FastShare && s.FastWaiters.Or(0) >= c.p.FastWaiters
	switch {
	case !slow && !fast:
		return "grown without contention"
	case s.Causes.Notify.Or(1) >= c.p.NotifyShare:
		return "grown while bound by NOTIFY"
	case s.Causes.Stuck.Or(1) >= c.p.StuckShare:
		return "grown for a stuck holder"
	case s.Stale > 0:
		return "grown with stale producers"
	}
	return ""
}

// judged remembers what a change was found to be.
func (c *promises) judged(e *control.LogEntry) {
	step := stepTaken{at: e.At, from: e.From, to: e.To}
	up := e.To > e.From
	switch {
	case up && e.Verdict == control.VerdictHarmful:
		step.to = e.From
		c.useless = step
	case up && e.Verdict == control.VerdictIneffective:
		c.useless = step
	case up && e.Reason == control.ReasonWeak:
		c.useless = stepTaken{} // another, shorter hold takes its place
	case !up && e.Verdict == control.VerdictHarmful:
		c.needed = step
	}
}

// applied remembers a change for as long as any rule looks back.
func (c *promises) applied(x *control.Step, at time.Time) {
	c.changes = append(c.changes, stepTaken{at: at, from: x.From, to: x.To, revert: x.Entry.Reason == control.ReasonRevert})
	for len(c.changes) > 1 && at.Sub(c.changes[1].at) > 8*24*time.Hour {
		c.changes = c.changes[1:]
	}
}
