package control

import "time"

// Input is what Decide is told about one queue at one tick.
type Input struct {
	World  World
	Queue  QueuePolicy
	Signal Signal
	Budget Budget
}

// Effects are what a decision or a command wants done, as values. Nothing of
// it has happened yet, and the state behaves as if it never will until the
// entries come back from the log; until then the same tick asks again.
type Effects struct {
	Entries []LogEntry
	Propose *Pending     // put as the queue's pending step
	UseUp   int64        // generation of the pending step that ends, 0 for none
	Must    bool         // UseUp must still be there, or nothing may happen
	Policy  *QueuePolicy // put as the queue's policy
	Step    *Step        // to hand to the gate
}

// Empty says whether there is nothing to do.
func (e Effects) Empty() bool {
	return len(e.Entries) == 0 && e.Propose == nil && e.UseUp == 0 && e.Policy == nil && e.Step == nil
}

// Decide is the controller: what is remembered of a queue and what is seen of
// it, turned into a decision. It is total (any input gives a decision with a
// reason), pure (the same input gives the same output, nothing is kept), and
// does nothing itself. The returned state differs from the given one only in
// how long things have lasted; it moves by Learn.
func Decide(p Policy, s State, in Input) (State, Decision, Effects) {
	var fx Effects
	from, now := in.Signal.Shards, in.World.Now
	d := Decision{At: now, Queue: in.Queue.Queue, Mode: in.mode(), Action: ActionHold, From: from, To: from, Policy: in.Queue, Undo: s.undo()}
	fresh := from > 0 && now.Sub(in.Signal.At) <= staleAfter(p, in.Signal.Period)
	if fresh && s.Shards == 0 {
		s.Shards = from
	}
	if fresh {
		s.watch(p, &in, &fx)
	}
	s.tidy(p, &in, &fx)
	c := s.choose(p, &in)
	c.fill(&d, &in)
	s.carry(p, &in, &d, &c, &fx)
	s.transition(p, &in, &d, &fx)
	if !in.World.Writes() {
		fx = Effects{}
	}
	return s, d, fx
}

// mode is the mode in force; alone, nothing can be enforced.
func (in *Input) mode() Mode {
	if in.World.Alone {
		return in.Queue.Mode(ModeShadow)
	}
	return in.Queue.Mode(in.World.Process)
}

func (in *Input) entry(kind LogKind) LogEntry {
	n := in.Signal.Shards
	return LogEntry{At: in.World.Now, Kind: kind, Queue: in.Queue.Queue, Mode: in.mode(), Action: ActionHold, From: n, To: n, Actor: "controller"}
}

// watch notices what happened since the last tick: a count that is not ours,
// and a trial that has ended.
func (s *State) watch(p Policy, in *Input, fx *Effects) {
	from := in.Signal.Shards
	if s.Shards != from {
		if in.Budget.InFlight == in.Queue.Queue {
			return // our own, about to be confirmed
		}
		if s.unread(p, in) {
			return // the count of before it, perhaps
		}
		e := in.entry(LogAdopted)
		e.From, e.To, e.Reason, e.Actor = s.Shards, from, ReasonAdopted, "elsewhere"
		e.Detail = arrow(s.Shards, from) + " was not written through this log"
		if now := in.World.Now; !s.FailedAt.IsZero() && now.Sub(s.FailedAt) < p.RetryHold {
			e.Detail += "; a write of ours failed shortly before, and may have done it"
		}
		e.Until = in.World.Now.Add(p.AdoptHold)
		if s.Pending != nil {
			fx.UseUp = s.Pending.Generation
			e.Pending = fx.UseUp
		}
		fx.Entries = append(fx.Entries, e)
		return
	}
	if s.Trial == nil {
		return
	}
	t, j := s.Trial.try(p, &in.Signal, in.World.Now)
	if in.World.Anew.After(t.At) { // another machine, or one with cold caches
		j = &judgement{VerdictInconclusive, ReasonVerified, in.World.AnewWhy + " after the change", None()}
	}
	if t != *s.Trial {
		s.Trial = &t
	}
	if j == nil {
		return
	}
	e := in.entry(LogVerdict)
	e.From, e.To, e.Reason, e.Detail = t.From, t.To, j.reason, j.detail
	e.Verdict, e.Gain, e.PredictedGain, e.Before = j.verdict, j.gain, t.Predicted, t.Before
	if j.verdict == VerdictIneffective {
		e.Detail += movedTo(in.Signal.Causes)
	}
	e.Evidence = in.Signal.evidence(false, t.Predicted)
	fx.Entries = append(fx.Entries, e)
}

// unread says whether the count of the newest reading may be from before the
// newest change: counts are read beside the looks, and the probe goes by one for
// up to five periods when the next is late.
func (s *State) unread(p Policy, in *Input) bool {
	m, ok := s.last()
	return ok && in.World.Now.Sub(m.at) < 2*staleAfter(p, in.Signal.Period)
}

// transition logs a decision that differs from the newest in the log and has
// lasted. Steps and proposals have entries of their own, queues in manual mode
// have none: nothing is decided for them.
func (s *State) transition(p Policy, in *Input, d *Decision, fx *Effects) {
	now := mind{d.Action, d.Reason, d.Pending}
	if now != s.seen {
		s.seen, s.seenAt = now, in.World.Now
	}
	if now == s.logged || d.Mode == ModeManual || !fx.Empty() || in.World.Now.Sub(s.seenAt) < p.Damp {
		return
	}
	e := in.entry(LogDecision)
	e.Action, e.From, e.To, e.Reason, e.Detail = d.Action, d.From, d.To, d.Reason, d.Detail
	e.Blockers, e.Evidence, e.PredictedGain, e.Until = d.Blockers, d.Evidence, d.PredictedGain, d.Next
	if d.Pending && s.Pending != nil {
		e.Pending = s.Pending.Generation
	}
	fx.Entries = append(fx.Entries, e)
}

// notBefore is the earliest time at which a step could come, zero when that
// depends on what will be measured, or when none ever comes by itself.
func (d *Decision) notBefore() time.Time {
	var earliest time.Time
	for dir, possible := range map[Action]bool{
		ActionGrow:   d.From < d.Policy.Max,
		ActionShrink: d.From > MinShards,
	} {
		if !possible || d.Mode == ModeManual {
			continue
		}
		t := latestUntil(d.Blockers, dir)
		if t.IsZero() {
			return t
		}
		if earliest.IsZero() || t.Before(earliest) {
			earliest = t
		}
	}
	return earliest
}

// latestUntil is the latest time at which a blocker of one direction gives way
// by itself: a step that way cannot come earlier, and may come later.
func latestUntil(list []Blocker, dir Action) time.Time {
	var t time.Time
	for _, b := range list {
		if (b.For == "" || b.For == dir) && b.Until.After(t) {
			t = b.Until
		}
	}
	return t
}
