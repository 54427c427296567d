package control

import (
	"errors"
	"strconv"
)

// errLate marks a refusal of which somebody else is the cause: what the person
// saw is no more.
var errLate = errors.New("superseded")

func late(what, hint string) error {
	return &Fault{Kind: FaultRefused, What: what, Hint: hint, Err: errLate}
}

// Superseded is the log entry of a command that Act refused because somebody
// was quicker: who came too late stands in the log beside who came first. ok is
// false for every other error.
func Superseded(s State, in Input, c Command, err error) (e LogEntry, ok bool) {
	var f *Fault
	if !errors.Is(err, errLate) || !errors.As(err, &f) {
		return e, false
	}
	e = in.entry(LogChange)
	e.Reason, e.Detail, e.Verb, e.Actor, e.Host, e.Why = ReasonSuperseded, f.What, c.Verb, c.By(), c.Host, c.Why
	e.Outcome = OutcomeSuperseded
	switch {
	case c.Expect != 0 && c.Expect == s.ended.generation:
		e.From, e.To = s.ended.from, s.ended.to
	case c.To != 0:
		e.From, e.To = max(c.From, MinShards), c.To
	}
	return e, true
}

// since says who brought the count to n, as far as the log knows.
func (s *State) since(n int) string {
	if m, ok := s.last(); ok && m.to == n {
		return ": changed by " + m.by + " at " + m.at.UTC().Format("15:04:05Z")
	}
	return ""
}

// Undo is what taking the newest change back means: from the count it led to
// to the one before it. The zero Undo is no change that is known.
type Undo struct{ From, To int }

func (s *State) undo() Undo {
	m, _ := s.last()
	return Undo{From: m.to, To: m.from}
}

// undoing is the count that an undo sets. The person saw what it would take
// back; whether that is still the newest change, and still in force, is asked
// again here.
func undoing(p Policy, s *State, in *Input, c Command) (int, error) {
	u, n := s.undo(), in.Signal.Shards
	_, ok := s.last()
	switch {
	case !ok:
		return 0, refused("no change of this queue is known", "")
	case c.From != 0 && c.From != u.From || c.To != 0 && c.To != u.To:
		return 0, late("the newest change is another one now, "+arrow(u.To, u.From)+s.since(u.From), "Look at it, then decide again")
	case n != u.From && s.unread(p, in):
		return 0, refused("the count has not been read since the change to "+strconv.Itoa(u.From), "Try again in some seconds")
	case n != u.From:
		return 0, late("the count was changed since: it is "+strconv.Itoa(n)+", the last change known led to "+strconv.Itoa(u.From), "Set the count you want")
	}
	return u.To, nil
}
