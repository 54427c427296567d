package control

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// twin is Decide written a second time, slowly and obviously: it reads the
// whole log at every tick, keeps nothing, explains nothing, and only says what
// may be done. byHand is a step that only a person may take.
func twin(p Policy, log []LogEntry, in Input) (action Action, to int, byHand bool) {
	s, q, now := in.Signal, in.Queue, in.World.Now
	count := s.Shards
	if twinFrozen(p, in) || !q.Auto || q.Pin.Holds(now) {
		return ActionHold, count, false
	}
	if back, ok := twinRevert(p, log, count, now); ok {
		up := back > count
		blocked := up && (back > q.Max || q.PauseUp != nil || count == 1 && q.AcceptedBy == "") || !up && q.PauseDown != nil ||
			in.Budget.InFlight != "" || twinOscillating(p, log) || twinBudget(p, log, in, now) || twinFailed(p, log, now)
		switch {
		case blocked:
			return ActionHold, count, false
		case up:
			return ActionGrow, back, false
		}
		return ActionShrink, back, false
	}
	if known := twinCount(log); known != 0 && known != count {
		return ActionHold, count, false
	}
	up := 2 * count
	if q.Max > count && q.Max < up {
		up = q.Max
	}
	grow := up <= q.Max && q.PauseUp == nil && !(count == 1 && q.AcceptedBy == "") && twinContended(p, s, up) && !twinTooSoon(p, log, in, up)
	if grow && s.Stale == 0 {
		return ActionGrow, up, false
	}
	if count > 1 && q.PauseDown == nil && twinCalm(p, s) && !twinTooSoon(p, log, in, count/2) {
		return ActionShrink, count / 2, false
	}
	return ActionHold, count, grow
}

func twinFrozen(p Policy, in Input) bool {
	w, s := in.World, in.Signal
	return s.At.IsZero() || s.Shards < 1 || s.Shards > 64 ||
		w.Now.Sub(s.At).Seconds() > 3*math.Max(p.Period.Seconds(), s.Period.Seconds()) ||
		w.Database.Standby || w.Database.ReadOnly || !w.Awa.MayWrite || w.Awa.State != AwaActive ||
		!w.Alone && !w.Lead.Leading || w.Store != "" || w.WarmUntil.After(w.Now) || w.StepUntil.After(w.Now) ||
		s.Coverage.Or(0) < 0.90
}

func twinContended(p Policy, s Signal, to int) bool {
	slow := s.Age >= p.GrowWindow && s.Grow.Low.Or(0) > 0.25 && s.Grow.Mean.OK() && s.Waiters.Or(0) >= 1
	for _, third := range s.Thirds {
		slow = slow && third.Or(0) > 0.25
	}
	fast := s.Age >= p.FastWindow && s.Fast.Low.Or(0) > 0.60 && s.FastWaiters.Or(0) >= 4
	waiting, inside := s.Waiters, s.Inside
	if !slow {
		waiting, inside = s.FastWaiters, s.FastInside
	}
	n, known := inside.Get()
	if !slow && !fast || !known {
		return false
	}
	busy := func(lanes int) float64 { return float64(lanes) * (1 - math.Pow(1-1/float64(lanes), n)) }
	if n <= 1 || busy(to)/busy(s.Shards) < 1.15 {
		return false
	}
	c := s.Causes
	if waiting.Or(0) > 0 {
		if !c.Lane.OK() && !c.Notify.OK() && !c.Stuck.OK() && !c.Unknown.OK() {
			return false
		}
		if c.Notify.Or(0) >= 0.25 || c.Stuck.Or(0) >= 0.50 || c.Unknown.Or(0) > 0 && c.Stuck.Or(0)+c.Unknown.Or(0) >= 0.50 {
			return false
		}
	}
	return !(s.Shards >= 2 && n >= 4 && s.TopLane.Or(0) > 0.80)
}

func twinCalm(p Policy, s Signal) bool {
	half := s.Shards / 2
	return s.Age >= p.ShrinkWindow && s.CalmCoverage.Or(0) >= 0.90 && s.Calm.Mean.Or(0) < 0.05 && s.Calm.High.Or(1) < 0.05 && s.WorstSlice.OK() && s.WorstSlice.Or(1) <= 0.10 &&
		s.Rate.OK() && s.RateOfLate.OK() && s.RateOfLate.Or(0) >= 0.5*s.Rate.Or(0) &&
		s.Busy.OK() && s.Busy.Or(0)/float64(half) < 0.50 && s.DrainedOK && s.Drained
}

func applied(e LogEntry) bool { return e.Kind == LogChange && e.Outcome == OutcomeApplied }
func ownChange(e LogEntry) bool {
	return applied(e) && (e.Verb == "" || e.Verb == VerbApprove)
}

func twinCount(log []LogEntry) (n int) {
	for _, e := range log {
		if applied(e) || e.Kind == LogAdopted {
			n = e.To
		}
	}
	return n
}

// twinTooSoon looks for anything in the past that keeps a step to a count away.
func twinTooSoon(p Policy, log []LogEntry, in Input, to int) bool {
	now, up := in.World.Now, to > in.Signal.Shards
	within := func(e LogEntry, d time.Duration) bool { return now.Sub(e.At) < d }
	soon, trial := false, LogEntry{}
	var lock, floor, up1, down1, adopted, rejected LogEntry
	for _, e := range log {
		switch {
		case applied(e):
			trial = e
			if e.To > e.From {
				up1 = e
			} else {
				down1 = e
			}
		case e.Kind == LogAdopted:
			trial, adopted = LogEntry{}, e
		case e.Kind == LogVerdict:
			if e.From == trial.From && e.To == trial.To {
				trial = LogEntry{}
			}
			if e.To > e.From && (e.Verdict == VerdictHarmful || e.Verdict == VerdictIneffective || e.Reason == ReasonWeak) {
				lock = e
			}
			if e.To <= e.From && e.Verdict == VerdictHarmful {
				floor = e
			}
		case e.Kind == LogAct && e.Verb == VerbReject && (e.To > e.From) == up:
			rejected = e
		}
	}
	if up {
		soon = within(up1, 2*time.Minute) || within(down1, 2*time.Hour)
		switch {
		case lock.Verdict == VerdictHarmful:
			soon = soon || to > lock.From && within(lock, 24*time.Hour)
		case lock.Verdict == VerdictIneffective:
			soon = soon || to > lock.To && within(lock, 24*time.Hour)
		case lock.Reason == ReasonWeak:
			soon = soon || to > lock.To && within(lock, 6*time.Hour)
		}
	} else {
		soon = within(down1, 30*time.Minute) || within(up1, 2*time.Hour) ||
			to < floor.From && within(floor, 24*time.Hour)
	}
	return soon || applied(trial) || within(adopted, 30*time.Minute) || within(rejected, 30*time.Minute) ||
		in.Budget.InFlight != "" || twinOscillating(p, log) || twinBudget(p, log, in, now) || twinFailed(p, log, now)
}

func twinBudget(p Policy, log []LogEntry, in Input, now time.Time) bool {
	n := 0
	for _, e := range log {
		if applied(e) && now.Sub(e.At) < 24*time.Hour {
			n++
		}
	}
	all, _ := in.Budget.Spent(time.Hour, 12, now)
	return n >= 10 || all >= 12
}

func twinFailed(p Policy, log []LogEntry, now time.Time) bool {
	for _, e := range log {
		if e.Kind == LogChange && e.Outcome != OutcomeApplied && e.Verb == "" && now.Sub(e.At) < 2*time.Minute {
			return true
		}
	}
	return false
}

// twinOscillating: at some own change there had been three turns within six hours,
// and nobody resumed the queue since.
func twinOscillating(p Policy, log []LogEntry) bool {
	held, resumed := false, time.Time{}
	for i, e := range log {
		if e.Kind == LogAct && e.Verb == VerbResume {
			held, resumed = false, e.At
		}
		if !ownChange(e) {
			continue
		}
		turns, before := 0, 0
		for _, x := range log[:i+1] {
			if !ownChange(x) {
				continue
			}
			way := 1
			if x.To < x.From {
				way = -1
			}
			if before != 0 && way != before && e.At.Sub(x.At) < 6*time.Hour && x.At.After(resumed) {
				turns++
			}
			if x.Reason != ReasonRevert {
				before = way
			}
		}
		held = held || turns >= 3
	}
	return held
}

// twinRevert: the last thing that happened to the count was an own change that
// was then judged harmful, within half an hour, and nobody said no.
func twinRevert(p Policy, log []LogEntry, count int, now time.Time) (int, bool) {
	back, trial := 0, LogEntry{}
	var since time.Time
	for _, e := range log {
		switch {
		case applied(e):
			back, trial = 0, e
		case e.Kind == LogAdopted:
			back, trial = 0, LogEntry{}
		case e.Kind == LogVerdict && e.From == trial.From && e.To == trial.To:
			if e.Verdict == VerdictHarmful && ownChange(trial) && trial.Reason != ReasonRevert {
				back, since = e.From, e.At
			}
			trial = LogEntry{}
		case e.Kind == LogAct && e.Verb == VerbReject && e.To == back:
			back = 0
		}
	}
	known := twinCount(log)
	return back, back != 0 && back != count && (known == count) && now.Sub(since) < 30*time.Minute
}

func TestDecideAgreesWithItsSimpleTwin(t *testing.T) {
	t.Parallel()
	seen := map[Action]int{}
	check := func(t *rapid.T) {
		p := DefaultPolicy()
		in := randomInput(t)
		log := randomLog(t, in.World.Now, in.Signal.Shards)
		s := RebuildState(p, log, in.World.Now)
		if s.Trial != nil { // a trial that ends at this tick would be logged first
			s.Trial.At = in.World.Now
		}
		_, d, fx := Decide(p, s, in)
		action, to, byHand := twin(p, log, in)
		if byHand {
			if d.Action != ActionGrow || !d.Pending || fx.Step != nil {
				t.Fatalf("a hand may take it to %d, got %+v", to, d)
			}
			return
		}
		if d.Action != action || d.To != to {
			t.Fatalf("the twin says %s to %d, Decide says %s to %d: %s\n%+v", action, to, d.Action, d.To, d.Detail, d.Blockers)
		}
		acts := d.Action != ActionHold && d.Mode == ModeEnforced
		if (fx.Step != nil) != acts || d.Pending != (d.Action != ActionHold && d.Mode == ModeShadow) {
			t.Fatalf("mode %s, %s: step %v, pending %v", d.Mode, d.Action, fx.Step, d.Pending)
		}
		seen[d.Action]++
	}
	rounds := 200
	if underRace {
		rounds = 50
	}
	for range rounds {
		rapid.Check(t, check)
	}
	t.Logf("agreed on %v", seen)
	for _, a := range []Action{ActionGrow, ActionShrink, ActionHold} {
		if seen[a] < rounds {
			t.Errorf("only %d times %s: the inputs were too dull to compare anything", seen[a], a)
		}
	}
}
