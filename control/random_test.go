package control

import (
	"time"

	"pgregory.net/rapid"
)

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
		At: now, Period: time.Second, Age: 3 * time.Hour, Coverage: Some(1), CalmCoverage: Some(1), Shards: rapid.SampledFrom([]int{1, 2, 3, 4, 8, 16}).Draw(t, "count"),
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
		func() { s.Age = time.Duration(share("age") * float64(time.Hour)) }, func() { s.Coverage = value("coverage") }, func() { s.CalmCoverage = value("calm coverage") },
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
	var change LogEntry
	for i := range log {
		switch e := &log[i]; {
		case applied(*e):
			change = *e
		case e.Kind == LogVerdict && applied(change) && rapid.IntRange(0, 5).Draw(t, "of another change") > 0:
			e.From, e.To = change.From, change.To
		}
	}
	return log
}
