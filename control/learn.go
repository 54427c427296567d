package control

import "time"

// RebuildState folds the log of one queue, oldest entry first, into its state:
// cooldowns, locks, budgets, what is on trial and what is pending. Entries of
// other kinds or from a future version change nothing. Whoever rebuilds warms
// up afterwards (World.Follow), since what was measured is lost.
func RebuildState(p Policy, entries []LogEntry, now time.Time) State {
	var s State
	for _, e := range entries {
		s.Learn(p, e, now)
	}
	return s
}

// Learn moves the state by one entry of its queue's log. Entries from the
// future, as a clock that stepped leaves them, count as of now.
func (s *State) Learn(p Policy, e LogEntry, now time.Time) {
	at := earlier(e.At, now)
	switch e.Kind {
	case LogDecision:
		s.logged = mind{e.Action, e.Reason, e.Pending != 0}
	case LogProposed:
		s.Pending = &Pending{
			Queue: e.Queue, From: e.From, To: e.To, Generation: e.Pending, At: e.At, Until: e.Until,
			Reason: e.Reason, Detail: e.Detail, Evidence: e.Evidence, PredictedGain: e.PredictedGain,
		}
		s.lastGen = max(s.lastGen, e.Pending)
		s.logged = mind{e.Action, e.Reason, true}
	case LogWithdrawn:
		s.used(e, at)
	case LogChange:
		s.used(e, at)
		s.learnChange(p, e, at)
	case LogAdopted:
		s.used(e, at)
		s.Shards, s.AdoptedAt = e.To, at
		s.Pending, s.Trial, s.RevertTo = nil, nil, 0
	case LogVerdict:
		s.learnVerdict(p, e, at)
	case LogAct:
		s.learnAct(e, at)
	}
}

// used ends a pending step.
func (s *State) used(e LogEntry, at time.Time) {
	if e.Pending == 0 {
		return
	}
	s.lastGen = max(s.lastGen, e.Pending)
	how := e.Reason.Words()
	if e.Kind == LogChange {
		how = string(e.Outcome) + ", " + how
	}
	s.ended = ended{generation: e.Pending, from: e.From, to: e.To, by: e.Actor, how: how, at: at}
	if s.Pending != nil && s.Pending.Generation == e.Pending {
		s.Pending = nil
	}
}

func (s *State) learnChange(p Policy, e LogEntry, at time.Time) {
	own := e.Verb == "" || e.Verb == VerbApprove
	if e.Outcome != OutcomeApplied {
		if e.Verb == "" {
			s.FailedAt = at
		}
		return
	}
	s.Shards = e.To
	s.Pending, s.RevertTo = nil, 0
	s.push(mark{at: at, from: e.From, to: e.To, own: own, revert: e.Reason == ReasonRevert, by: e.Actor})
	s.Trial = &Trial{At: at, From: e.From, To: e.To, Before: e.Before, Own: own && e.Reason != ReasonRevert, Predicted: e.PredictedGain}
	if own && s.reversals(p.ReversalSpan, at) >= p.Reversals {
		s.Oscillating = true
	}
	s.logged = mind{}
}

// learnVerdict ends the trial that the verdict is about. When somebody else
// changed the count while it was being written, that one is on trial now.
func (s *State) learnVerdict(p Policy, e LogEntry, at time.Time) {
	own := false
	if t := s.Trial; t != nil && t.From == e.From && t.To == e.To {
		own, s.Trial = t.Own, nil
	}
	grew := e.To > e.From
	switch {
	case e.Verdict == VerdictHarmful:
		lock := Lock{Shards: e.From, At: at, Hold: p.IneffectiveHold, Why: ReasonHarmful, What: e.Detail}
		if grew {
			s.Lock = lock
		} else {
			lock.Why = ReasonShrinkHarmful
			s.Floor = lock
		}
		if own {
			s.RevertTo, s.RevertAt = e.From, at
		}
	case e.Verdict == VerdictIneffective && grew:
		s.Lock = Lock{Shards: e.To, At: at, Hold: p.IneffectiveHold, Why: ReasonIneffective, What: e.Detail}
	case e.Verdict == VerdictKept && e.Reason == ReasonWeak && grew:
		s.Lock = Lock{Shards: e.To, At: at, Hold: p.WeakHold, Why: ReasonWeak, What: e.Detail}
	}
}

func (s *State) learnAct(e LogEntry, at time.Time) {
	switch e.Verb {
	case VerbReject:
		s.used(e, at)
		if e.To > e.From {
			s.RejectedUp = at
		} else {
			s.RejectedDn = at
		}
		if s.RevertTo == e.To {
			s.RevertTo = 0
		}
	case VerbResume:
		s.Oscillating, s.ResumedAt = false, at
	}
}
