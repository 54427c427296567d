package control

import "time"

// tidy ends a pending step whose time is over or whose ground is gone: the
// count, the mode, the maximum, a pin or a pause. Evidence alone does not end
// it, or a proposal would come and go with every lull; an approval looks again.
func (s *State) tidy(p Policy, in *Input, fx *Effects) {
	if s.Pending == nil || fx.UseUp != 0 {
		return
	}
	reason, detail := s.over(in)
	if reason == "" {
		return
	}
	e := in.entry(LogWithdrawn)
	e.From, e.To, e.Reason, e.Detail, e.Pending = s.Pending.From, s.Pending.To, reason, detail, s.Pending.Generation
	fx.UseUp = s.Pending.Generation
	fx.Entries = append(fx.Entries, e)
}

// over says why the pending step is over, "" while it is not.
func (s *State) over(in *Input) (Reason, string) {
	now, p := in.World.Now, s.Pending
	switch {
	case !now.Before(p.Until):
		return ReasonExpired, "nobody took it in " + span(p.Until.Sub(p.At))
	case in.Signal.Shards != 0 && in.Signal.Shards != p.From:
		return ReasonSuperseded, "the count is no longer " + arrow(p.From, in.Signal.Shards)
	}
	if list := standing(in, p.From, p.To, nil); len(list) > 0 {
		return list[0].Rule, list[0].Detail
	}
	return "", ""
}

// live is the pending step if it can still be taken.
func (s *State) live(in *Input) *Pending {
	if s.Pending == nil {
		return nil
	}
	if reason, _ := s.over(in); reason != "" {
		return nil
	}
	return s.Pending
}

// carry turns a step that may be taken into what the mode makes of it: a step
// for the gate, or a proposal.
//
// In shadow mode nothing is carried out, so nothing else follows either: no
// cooldown begins, no budget is spent, the count stays what it is. The proposal
// stands, is made anew when it expires, and is what the controller would do
// from where the queue really is, not the end of an imagined history.
func (s *State) carry(p Policy, in *Input, d *Decision, c *choice, fx *Effects) {
	d.Step = s.live(in)
	byHand := len(c.blockers) == 1 && c.blockers[0].Rule == ReasonStaleProducers
	if len(c.blockers) > 0 && !byHand || d.Mode == ModeManual {
		return
	}
	if d.Mode == ModeEnforced && !byHand {
		step := in.step(c.to, d)
		if s.Pending != nil && s.Pending.To == c.to && fx.UseUp == 0 {
			step.Pending = s.Pending.Generation
			step.Entry.Pending = step.Pending
		}
		if len(fx.Entries) == 0 {
			fx.Step = step
		}
		return
	}
	d.Pending = true
	if byHand { // every rule but the one a hand may overrule
		d.Action, d.To, d.Reason, d.Detail = c.action, c.to, c.reason, c.words(in)+", but "+c.blockers[0].Detail
	}
	if d.Step != nil && d.Step.To == c.to && d.Step.From == d.From || len(fx.Entries) > 0 {
		return
	}
	s.propose(p, in, d, fx)
}

func (s *State) propose(p Policy, in *Input, d *Decision, fx *Effects) {
	now := in.World.Now
	n := &Pending{
		Queue: d.Queue, From: d.From, To: d.To, Generation: max(now.UnixMicro(), s.lastGen+1),
		At: now, Until: now.Add(p.PendingLife), Reason: d.Reason, Detail: d.Detail,
		Evidence: d.Evidence, PredictedGain: d.PredictedGain,
	}
	if s.Pending != nil { // of the other direction, or to another count
		e := in.entry(LogWithdrawn)
		e.From, e.To, e.Reason, e.Pending = s.Pending.From, s.Pending.To, ReasonSuperseded, s.Pending.Generation
		e.Detail = "the step is " + arrow(n.From, n.To) + " now"
		fx.UseUp = s.Pending.Generation
		fx.Entries = append(fx.Entries, e)
	}
	e := in.entry(LogProposed)
	e.Action, e.From, e.To, e.Reason, e.Detail = d.Action, n.From, n.To, n.Reason, n.Detail
	e.Pending, e.Until, e.Evidence, e.PredictedGain, e.Blockers = n.Generation, n.Until, n.Evidence, n.PredictedGain, d.Blockers
	fx.Entries = append(fx.Entries, e)
	fx.Propose = n
}

// step is the write of a count as the gate gets it. Raising needs every lane
// first, lowering needs the upper ones empty unless it takes harm back.
func (in *Input) step(to int, d *Decision) *Step {
	from := in.Signal.Shards
	e := in.entry(LogChange)
	e.Action, e.From, e.To = ActionGrow, from, to
	if to < from {
		e.Action = ActionShrink
	}
	if d != nil {
		e.Reason, e.Detail, e.Evidence, e.PredictedGain = d.Reason, d.Detail, d.Evidence, d.PredictedGain
	} else {
		if to > from {
			e.PredictedGain = PredictedGain(from, to, in.Signal.Inside)
		}
		e.Evidence = in.Signal.evidence(false, e.PredictedGain)
	}
	if to < from { // fewer lanes are no gain
		e.PredictedGain = None()
	}
	e.Before = in.Signal.Figures
	return &Step{
		Queue: in.Queue.Queue, From: from, To: to, Actor: "controller", Mode: in.mode(),
		Provision: to > from, Drained: to < from && e.Reason != ReasonRevert, Policy: in.Queue, Entry: e,
	}
}

// Left is how long the pending step still waits, 0 when its time is over.
func (p Pending) Left(now time.Time) time.Duration { return max(p.Until.Sub(now), 0) }
