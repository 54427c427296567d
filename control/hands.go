package control

import (
	"fmt"
	"strconv"
)

// free says whether a person may set the count now, from the one they saw. A
// person acts on their own judgement, so evidence, warm-up, cooldowns and
// budgets do not bind them; what would make the write unsafe does.
func free(p Policy, s *State, in *Input, c Command) error {
	if list := hardFreeze(p, in, nil); len(list) > 0 {
		return refused(list[0].Rule.Words()+": "+list[0].Detail, "Nothing is written while that is so")
	}
	if in.Budget.InFlight != "" {
		return refused("a change is being written", "Try again when it is done")
	}
	if n := in.Signal.Shards; c.From != 0 && c.From != n && c.Verb != VerbUndo {
		return late("the count is "+strconv.Itoa(n)+" now, not "+strconv.Itoa(c.From)+s.since(n), "Look at it, then decide again")
	}
	return nil
}

// crossing refuses to leave one shard while nobody accepted partitioned FIFO,
// and otherwise returns the policy, with the acceptance if it is made now.
func crossing(in *Input, to int, c Command) (QueuePolicy, bool, error) {
	q := in.Queue
	if to <= MinShards || q.Accepted() {
		return q, false, nil
	}
	if !c.Accept {
		return q, false, refused("nobody accepted partitioned FIFO for this queue",
			"More than one shard keeps order within a shard only, and keys move between shards; accept that with the command")
	}
	q.AcceptedBy, q.AcceptedAt = c.By(), in.World.Now
	return q, true, nil
}

func inRange(to int) error {
	if to < MinShards || to > MaxShards {
		return usage(fmt.Sprintf("a count is %d to %d, not %d", MinShards, MaxShards, to))
	}
	return nil
}

func override(p Policy, s State, in Input, c Command) (Effects, Result, error) {
	res, to, reason := Result{Policy: in.Queue}, c.To, ReasonOverride
	if err := free(p, &s, &in, c); err != nil {
		return Effects{}, res, err
	}
	if c.Verb == VerbUndo {
		var err error
		if to, err = undoing(p, &s, &in, c); err != nil {
			return Effects{}, res, err
		}
		reason = ReasonUndo
	}
	if err := inRange(to); err != nil {
		return Effects{}, res, err
	}
	if in.Queue.Pin.Holds(in.World.Now) {
		return Effects{}, res, refused("the queue is pinned to "+strconv.Itoa(in.Queue.Pin.Shards)+" by "+in.Queue.Pin.By, "Unpin it first, or pin it to another count")
	}
	if to == in.Signal.Shards {
		return Effects{}, res, refused("the count is "+strconv.Itoa(to)+" already", "")
	}
	q, save, err := crossing(&in, to, c)
	if err != nil {
		return Effects{}, res, err
	}
	step := in.handed(to, c, reason)
	step.Policy, step.Save = q, save
	return Effects{Step: step}, res, nil
}

func pin(p Policy, s State, in Input, c Command) (Effects, Result, error) {
	res, to := Result{Policy: in.Queue}, c.To
	if to == 0 {
		to = in.Signal.Shards
	}
	if c.For < 0 {
		return Effects{}, res, usage("a pin cannot last " + c.For.String())
	}
	if err := inRange(to); err != nil {
		return Effects{}, res, err
	}
	q := in.Queue
	var aside []Blocker
	if q.Auto && to > q.Max {
		above := fmt.Sprintf("the most this queue may have is %d, not %d", q.Max, to)
		if !c.Force {
			return Effects{}, res, refused(above, "Raise its maximum first, or pin it with force")
		}
		aside = []Blocker{{Rule: ReasonAtMax, Detail: above}}
	}
	set := &Pin{Shards: to, By: c.By(), Why: c.Why}
	if c.For > 0 {
		set.Until = in.World.Now.Add(c.For)
	}
	q.Pin = set
	q.UpdatedBy, q.UpdatedAt = c.By(), in.World.Now
	e := in.act(c, ReasonPinned, "pinned to "+strconv.Itoa(to))
	if c.For > 0 {
		e.Detail += " for " + span(c.For)
	}
	e.Until = set.Until
	e.SetAside(aside...)
	if to == in.Signal.Shards || in.Signal.Shards == 0 {
		res.Policy, res.Detail = q, e.Detail
		return Effects{Entries: []LogEntry{e}, Policy: &q}, res, nil
	}
	if err := free(p, &s, &in, c); err != nil {
		return Effects{}, res, err
	}
	q, _, err := crossing(&in, to, c)
	if err != nil {
		return Effects{}, res, err
	}
	q.Pin, q.UpdatedBy, q.UpdatedAt = set, c.By(), in.World.Now
	step := in.handed(to, c, ReasonPinned)
	step.Policy, step.Save = q, true
	step.Entry.Detail, step.Entry.Until = e.Detail, set.Until
	step.Entry.SetAside(aside...)
	return Effects{Step: step}, res, nil
}

// settings are the commands that change nothing but the queue's policy.
func settings(in Input, c Command) (Effects, Result, error) {
	q, now := in.Queue, in.World.Now
	var reason Reason
	var detail string
	both := !c.Up && !c.Down
	switch c.Verb {
	case VerbUnpin:
		if q.Pin == nil {
			return Effects{}, Result{Policy: q}, refused("the queue is not pinned", "")
		}
		reason, detail, q.Pin = ReasonUnpinned, "no longer pinned to "+strconv.Itoa(q.Pin.Shards), nil
	case VerbPause:
		pause := &Pause{At: now, By: c.By(), Why: c.Why}
		reason, detail = ReasonPaused, "steps are paused"+ways(c)
		if c.Up || both {
			q.PauseUp = pause
		}
		if c.Down || both {
			q.PauseDown = pause
		}
	case VerbResume:
		reason, detail = ReasonResumed, "steps may be taken again"+ways(c)
		if c.Up || both {
			q.PauseUp = nil
		}
		if c.Down || both {
			q.PauseDown = nil
		}
	case VerbManual:
		reason, detail, q.Auto, q.Enforced = ReasonModeSet, "manual: never touched", false, false
	case VerbAuto:
		q.Auto, q.Enforced = true, c.Enforced
		if c.Max != 0 {
			q.Max = c.Max
		}
		if n := in.Signal.Shards; n > q.Max && q.Max >= MinMax {
			return Effects{}, Result{Policy: in.Queue}, refused("the queue has "+Plural(n, "shard")+" now, more than a maximum of "+strconv.Itoa(q.Max),
				"Choose a higher maximum, or lower the count by hand first")
		}
		if c.Accept && !q.Accepted() {
			q.AcceptedBy, q.AcceptedAt = c.By(), now
		}
		reason, detail = ReasonModeSet, "auto up to "+strconv.Itoa(q.Max)+", "+string(q.Mode(ModeEnforced))
		if q.Max > WarnMax {
			detail += "; more than " + strconv.Itoa(WarnMax) + " shards seldom pay, and lanes are for ever"
		}
	}
	if err := q.Validate(); err != nil {
		return Effects{}, Result{Policy: in.Queue}, err
	}
	q.UpdatedBy, q.UpdatedAt = c.By(), now
	e := in.act(c, reason, detail)
	return Effects{Entries: []LogEntry{e}, Policy: &q}, Result{Policy: q, Detail: detail}, nil
}

func ways(c Command) string {
	switch {
	case c.Up && !c.Down:
		return " (up)"
	case c.Down && !c.Up:
		return " (down)"
	}
	return ""
}
