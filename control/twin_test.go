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
			!up && (!s.DrainedOK || back == count/2 && !s.Drained) ||
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
		if c.Notify.Or(0) >= 0.50 || c.Stuck.Or(0) >= 0.50 || c.Unknown.Or(0) > 0 && c.Notify.Or(0)+c.Unknown.Or(0) >= 0.50 {
			return false
		}
	}
	return !(s.Shards >= 2 && n >= 4 && s.TopLane.Or(0) > 0.80)
}

func twinCalm(p Policy, s Signal) bool {
	half := s.Shards / 2
	return s.Age >= p.ShrinkWindow && s.Calm.High.Or(1) < 0.05 && s.WorstSlice.OK() && s.WorstSlice.Or(1) <= 0.10 &&
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
	soon, trial := false, false
	var lock, up1, down1, adopted, rejected LogEntry
	for _, e := range log {
		switch {
		case applied(e):
			trial = true
			if e.To > e.From {
				up1 = e
			} else {
				down1 = e
			}
		case e.Kind == LogAdopted:
			trial, adopted = false, e
		case e.Kind == LogVerdict:
			trial = false
			if e.To > e.From && (e.Verdict == VerdictHarmful || e.Verdict == VerdictIneffective || e.Reason == ReasonWeak) {
				lock = e
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
		soon = within(down1, 30*time.Minute) || within(up1, 2*time.Hour)
	}
	return soon || trial || within(adopted, 30*time.Minute) || within(rejected, 30*time.Minute) ||
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

// twinOscillating: at some own change there had been two turns within a day,
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
			if before != 0 && way != before && e.At.Sub(x.At) < 24*time.Hour && x.At.After(resumed) {
				turns++
			}
			before = way
		}
		held = held || turns >= 2
	}
	return held
}

// twinRevert: the last thing that happened to the count was an own change that
// was then judged harmful, within half an hour, and nobody said no.
func twinRevert(p Policy, log []LogEntry, count int, now time.Time) (int, bool) {
	back, own := 0, false
	var since time.Time
	for _, e := range log {
		switch {
		case applied(e):
			back, own = 0, ownChange(e) && e.Reason != ReasonRevert
		case e.Kind == LogAdopted:
			back, own = 0, false
		case e.Kind == LogVerdict:
			if e.Verdict == VerdictHarmful && own {
				back, since = e.From, e.At
			}
			own = false
		case e.Kind == LogAct && e.Verb == VerbReject && e.To == back:
			back = 0
		}
	}
	known := twinCount(log)
	return back, back != 0 && back != count && (known == count) && now.Sub(since) < 30*time.Minute
}

func TestDecideAgreesWithItsSimpleTwin(t *testing.T) {
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
	for range 200 {
		rapid.Check(t, check)
	}
	t.Logf("agreed on %v", seen)
	for _, a := range []Action{ActionGrow, ActionShrink, ActionHold} {
		if seen[a] < 200 {
			t.Errorf("only %d times %s: the inputs were too dull to compare anything", seen[a], a)
		}
	}
}

// randomInput begins with a case in which a step is due and spoils it here and
// there.
func randomInput(t *rapid.T) Input {
	odd := func(name string) bool { return rapid.IntRange(0, 24).Draw(t, name) == 0 }
	share := func(name string) float64 {
		return rapid.SampledFrom([]float64{0, 0.03, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 0.9, 1}).Draw(t, name)
	}
	value := func(name string) Value {
		if odd("no " + name) {
			return None()
		}
		return Some(share(name))
	}
	now := epoch.Add(48 * time.Hour)
	s := Signal{
		At: now, Period: time.Second, Age: 3 * time.Hour, Coverage: Some(1), Shards: rapid.SampledFrom([]int{1, 2, 3, 4, 8, 16}).Draw(t, "count"),
		Waiters: Some(10), Inside: Some(14), FastWaiters: Some(10), FastInside: Some(14), Rate: Some(100), RateOfLate: Some(90),
		Busy: Some(0.1), Drained: true, DrainedOK: true,
		Causes: Causes{Lane: Some(1), Notify: Some(0), Stuck: Some(0), Unknown: Some(0)}, TopLane: Some(0.5),
	}
	if rapid.Bool().Draw(t, "busy") {
		s.Grow = Interval{Mean: Some(0.8), Low: Some(0.7), High: Some(0.9), Batches: 60}
		s.Thirds = [3]Value{Some(0.8), Some(0.8), Some(0.8)}
		s.Fast = s.Grow
		s.Calm, s.WorstSlice = s.Grow, Some(0.8)
	} else {
		s.Grow = Interval{Mean: Some(0), Low: Some(0), High: Some(0.02), Batches: 60}
		s.Thirds = [3]Value{Some(0), Some(0), Some(0)}
		s.Fast, s.Calm, s.WorstSlice = s.Grow, s.Grow, Some(0)
		s.Waiters, s.FastWaiters, s.Inside, s.FastInside = Some(0), Some(0), Some(0.1), Some(0.1)
	}
	spoil := []func(){
		func() { s.Grow.Low = value("low") }, func() { s.Thirds[1] = value("third") }, func() { s.Waiters = Some(5 * share("w")) },
		func() { s.Fast.Low = value("fast") }, func() { s.FastWaiters = Some(8 * share("fw")) }, func() { s.Inside = value("inside") },
		func() { s.Causes.Notify = value("notify") }, func() { s.Causes.Stuck = value("stuck") }, func() { s.Causes.Unknown = value("hidden") },
		func() { s.Causes = Causes{} }, func() { s.TopLane = value("top") }, func() { s.Stale = 1 }, func() { s.Calm.High = value("high") },
		func() { s.WorstSlice = value("slice") }, func() { s.RateOfLate = Some(100 * share("late")) }, func() { s.Rate = None() },
		func() { s.Busy = Some(4 * share("lanes")) }, func() { s.Drained = false }, func() { s.DrainedOK = false },
		func() { s.Age = time.Duration(share("age") * float64(time.Hour)) }, func() { s.Coverage = value("coverage") },
		func() { s.At = now.Add(-5 * time.Second) }, func() { s.Shards = 0 }, func() { s = Signal{} },
	}
	for range rapid.IntRange(0, 3).Draw(t, "spoilt") {
		spoil[rapid.IntRange(0, len(spoil)-1).Draw(t, "how")]()
	}
	w := World{
		Now: now, Process: ModeEnforced, Lead: Leadership{Leading: !odd("follower")},
		Awa: Installation{State: AwaActive, MayWrite: !odd("unfit")}, Database: Database{Standby: odd("standby"), ReadOnly: odd("read-only")},
	}
	if odd("warm") {
		w.WarmUntil = now.Add(time.Minute)
	}
	if odd("stepped") {
		w.StepUntil = now.Add(time.Minute)
	}
	if odd("store") {
		w.Store = "down"
	}
	if odd("shadow process") {
		w.Process = ModeShadow
	}
	q := QueuePolicy{Queue: "orders", Auto: !odd("manual"), Enforced: rapid.Bool().Draw(t, "enforced"), AcceptedBy: "ann", Max: rapid.IntRange(2, 32).Draw(t, "max")}
	if odd("unaccepted") {
		q.AcceptedBy = ""
	}
	if odd("pin") {
		q.Pin = &Pin{Shards: 2, Until: now.Add(time.Duration(rapid.IntRange(-9, 9).Draw(t, "until")) * time.Minute)}
	}
	if odd("pause up") {
		q.PauseUp = &Pause{}
	}
	if odd("pause down") {
		q.PauseDown = &Pause{}
	}
	in := Input{World: w, Queue: q, Signal: s}
	if odd("in flight") {
		in.Budget.InFlight = "another"
	}
	if odd("spent") {
		for range rapid.IntRange(10, 14).Draw(t, "changes") {
			in.Budget.Learn(LogEntry{Kind: LogChange, Outcome: OutcomeApplied, At: now.Add(-30 * time.Minute)}, now)
		}
	}
	return in
}

// randomLog ends, mostly, with the count that is configured.
func randomLog(t *rapid.T, now time.Time, count int) []LogEntry {
	n := 0
	if rapid.Bool().Draw(t, "has past") {
		n = rapid.IntRange(1, 12).Draw(t, "entries")
	}
	var log []LogEntry
	ago := make([]int, n)
	for i := range ago {
		ago[i] = rapid.IntRange(0, 40).Draw(t, "ago")
	}
	at := now.Add(-time.Duration(rapid.SampledFrom([]int{0, 1, 5, 25, 45, 100, 200, 500, 1500}).Draw(t, "minutes")) * time.Minute)
	for i := n - 1; i >= 0; i-- { // backwards in time, forwards in the log
		e := LogEntry{At: at, From: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "from")}
		e.To = 2 * e.From
		if rapid.Bool().Draw(t, "down") {
			e.From, e.To = e.To, e.From
		}
		switch rapid.IntRange(0, 7).Draw(t, "entry") {
		case 0, 1, 2:
			e.Kind, e.Outcome = LogChange, OutcomeApplied
			e.Verb = rapid.SampledFrom([]Verb{"", "", VerbApprove, VerbOverride}).Draw(t, "verb")
			e.Reason = rapid.SampledFrom([]Reason{ReasonContended, ReasonCalm, ReasonRevert}).Draw(t, "reason")
		case 3:
			e.Kind, e.Outcome = LogChange, rapid.SampledFrom([]Outcome{OutcomeFailed, OutcomeRefused, OutcomeSuperseded}).Draw(t, "outcome")
		case 4:
			e.Kind = LogAdopted
		case 5, 6:
			e.Kind = LogVerdict
			e.Verdict = rapid.SampledFrom([]Verdict{VerdictKept, VerdictHarmful, VerdictIneffective, VerdictInconclusive}).Draw(t, "verdict")
			if e.Verdict == VerdictKept && rapid.Bool().Draw(t, "weak") {
				e.Reason = ReasonWeak
			}
		case 7:
			e.Kind, e.Verb = LogAct, rapid.SampledFrom([]Verb{VerbReject, VerbResume, VerbPause}).Draw(t, "act")
		}
		log = append([]LogEntry{e}, log...)
		at = at.Add(-time.Duration(ago[i]*ago[i]) * time.Second)
	}
	if rapid.IntRange(0, 9).Draw(t, "strange count") > 0 {
		for i := len(log) - 1; i >= 0; i-- {
			if e := &log[i]; applied(*e) || e.Kind == LogAdopted {
				if e.To = count; e.From == count {
					e.From = 2 * count
				}
				break
			}
		}
	}
	return log
}
