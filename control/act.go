package control

import (
	"fmt"
	"slices"
)

// Act is Decide for people: what a command amounts to, as effects. An error is
// a *Fault that says why not, and nothing is to be done; Superseded tells which
// of them belong in the log. A pending
// step that no longer holds comes back as a change with OutcomeSuperseded, and
// its effects end it and log that.
func Act(p Policy, s State, in Input, c Command) (Effects, Result, error) {
	res := Result{Policy: in.Queue}
	if c.Actor == "" {
		return Effects{}, res, usage("a command needs the name of who gives it")
	}
	if c.Queue != in.Queue.Queue || c.Queue == "" {
		return Effects{}, res, usage("no such queue: " + fmt.Sprintf("%q", c.Queue))
	}
	switch c.Verb {
	case VerbApprove:
		return approve(p, s, in, c)
	case VerbReject:
		return reject(s, in, c)
	case VerbOverride, VerbUndo:
		return override(p, s, in, c)
	case VerbPin:
		return pin(p, s, in, c)
	case VerbUnpin, VerbPause, VerbResume, VerbAuto, VerbManual:
		return settings(in, c)
	}
	return Effects{}, res, usage(fmt.Sprintf("no such command: %q", c.Verb))
}

func usage(what string) error { return &Fault{Kind: FaultUsage, What: what} }

func refused(what, hint string) error {
	return &Fault{Kind: FaultRefused, What: what, Hint: hint}
}

func (in *Input) act(c Command, reason Reason, detail string) LogEntry {
	e := in.entry(LogAct)
	e.Reason, e.Detail, e.Verb, e.Actor, e.Host, e.Why = reason, detail, c.Verb, c.By(), c.Host, c.Why
	return e
}

// handed is a step of a person.
func (in *Input) handed(to int, c Command, reason Reason) *Step {
	step := in.step(to, nil)
	step.Hand, step.Force, step.Actor = true, c.Force, c.By()
	step.Drained = step.Drained && !c.Force
	step.Entry.Actor, step.Entry.Host, step.Entry.Why, step.Entry.Verb = c.By(), c.Host, c.Why, c.Verb
	step.Entry.Reason, step.Entry.Detail = reason, arrow(step.From, to)+" by "+c.By()
	return step
}

// the step an operator means must be the one that is pending.
func (s *State) meant(in *Input, c Command) (*Pending, error) {
	n := s.Pending
	switch {
	case c.Expect != 0 && c.Expect == s.ended.generation && (n == nil || n.Generation != c.Expect):
		return nil, late("the step is over: "+s.ended.how+", by "+s.ended.by+" at "+s.ended.at.UTC().Format("15:04:05Z"), "")
	case n == nil && c.Expect == 0:
		return nil, refused("no step of this queue is pending", "")
	case n == nil:
		return nil, late("no step of this queue is pending", "It was taken, rejected or withdrawn; see the log")
	case c.Expect != n.Generation:
		return nil, late("the pending step is another one now, "+arrow(n.From, n.To), "Look at it, then decide again")
	}
	return n, nil
}

func approve(p Policy, s State, in Input, c Command) (Effects, Result, error) {
	res := Result{Policy: in.Queue}
	n, err := s.meant(&in, c)
	if err != nil {
		return Effects{}, res, err
	}
	reason, detail := s.over(&in)
	var aside []Blocker
	if reason == "" {
		if list := recheck(p, &s, &in, n, c.Force); len(list) > 0 {
			reason, detail = list[0].Rule, list[0].Detail
		} else if c.Force {
			aside = slices.DeleteFunc(recheck(p, &s, &in, n, false), func(b Blocker) bool { return b.Rule == ReasonNotDrained }) // the gate looks at that itself
		}
	}
	if reason != "" {
		e := in.entry(LogChange)
		e.From, e.To, e.Outcome, e.Pending = n.From, n.To, OutcomeSuperseded, n.Generation
		e.Reason, e.Detail = reason, reason.Words()+": "+detail
		e.Verb, e.Actor, e.Host, e.Why = c.Verb, c.By(), c.Host, c.Why
		res.Change = &Change{At: e.At, Queue: e.Queue, From: n.From, To: n.To, Actor: e.Actor, Outcome: e.Outcome, Detail: e.Detail}
		res.Detail = e.Detail
		return Effects{Entries: []LogEntry{e}, UseUp: n.Generation, Must: true}, res, nil
	}
	why := ReasonApproved
	if c.Force {
		why = ReasonForced
	}
	step := in.handed(n.To, c, why)
	step.Pending, step.Entry.Pending = n.Generation, n.Generation
	step.Entry.SetAside(aside...)
	if n.To > n.From {
		step.Entry.PredictedGain = n.PredictedGain
	}
	if n.Reason == ReasonRevert {
		step.Entry.Reason, step.Drained = ReasonRevert, false
	}
	return Effects{Step: step}, res, nil
}

// recheck lists what now speaks against a pending step. What took minutes to
// establish is not established again; the last half minute must not deny it.
// Force overrules evidence, warm-up and budgets; it never overrules a hard
// freeze, a pin, a pause, the mode, the maximum, or a change being written.
func recheck(p Policy, s *State, in *Input, n *Pending, force bool) []Blocker {
	list := hardFreeze(p, in, nil)
	list = standing(in, n.From, n.To, list)
	if force {
		if in.Budget.InFlight != "" {
			list = append(list, Blocker{Rule: ReasonInFlight, Detail: "a change is being written"})
		}
		return list
	}
	list = softFreeze(p, in, list, in.World.Now)
	g := &in.Signal
	switch {
	case n.Reason == ReasonRevert:
	case n.To > n.From:
		list = stillContended(p, g, n.To, list)
	default:
		if share, ok := g.Fast.Mean.Get(); !ok || share > p.SliceShare {
			list = append(list, Blocker{Rule: ReasonNotCalm, Detail: needs("share of late", g.Fast.Mean, "at most ", p.SliceShare)})
		}
		list = lanesLeft(p, g, n.To, list)
	}
	return timing(p, s, in, n.From, n.To, true, list)
}

func stillContended(p Policy, g *Signal, to int, list []Blocker) []Blocker {
	if !(g.Fast.Mean.Or(0) > p.GrowShare) {
		list = append(list, Blocker{Rule: ReasonShareLow, Detail: needs("share of late", g.Fast.Mean, "", p.GrowShare)})
	}
	if !(g.FastWaiters.Or(0) >= p.GrowWaiters) {
		list = append(list, Blocker{Rule: ReasonFewWaiters, Detail: needs("waiting of late", g.FastWaiters, "", p.GrowWaiters)})
	}
	if gain, ok := PredictedGain(g.Shards, to, g.FastInside).Get(); !ok || gain < 1+p.GrowGain {
		list = append(list, Blocker{Rule: ReasonSmallGain, Detail: needs("predicted gain", PredictedGain(g.Shards, to, g.FastInside), "", 1+p.GrowGain)})
	}
	return causes(p, g, list)
}

func reject(s State, in Input, c Command) (Effects, Result, error) {
	res := Result{Policy: in.Queue}
	n, err := s.meant(&in, c)
	if err != nil {
		return Effects{}, res, err
	}
	e := in.act(c, ReasonRejected, "the step "+arrow(n.From, n.To)+" was rejected")
	e.From, e.To, e.Pending = n.From, n.To, n.Generation
	res.Detail = e.Detail
	return Effects{Entries: []LogEntry{e}, UseUp: n.Generation, Must: true}, res, nil
}
