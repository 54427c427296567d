package control

import (
	"strings"
	"time"
)

// freeze lists why nothing may be written, hardest first. The hard ones bind
// people too; the soft ones bind the controller, and an approval unless it is
// forced. Leadership never binds a person.
func freeze(p Policy, in *Input, list []Blocker) []Blocker {
	w, now := &in.World, in.World.Now
	list = hardFreeze(p, in, list)
	if !w.Alone && !w.Lead.Leading {
		d := "nobody is known to lead"
		switch {
		case w.Lead.Refused != "":
			d = w.Lead.Refused
		case w.Lead.Name != "":
			d = w.Lead.Name + " does"
		}
		list = append(list, Blocker{Rule: ReasonNotLeader, Detail: d})
	}
	if w.Store != "" {
		list = append(list, Blocker{Rule: ReasonStore, Detail: w.Store})
	}
	return softFreeze(p, in, list, now)
}

func hardFreeze(p Policy, in *Input, list []Blocker) []Blocker {
	w, s := &in.World, &in.Signal
	switch {
	case s.At.IsZero():
		list = append(list, Blocker{Rule: ReasonNoReading, Detail: "no reading of this queue since this process began"})
	case s.Shards == 0:
		list = append(list, Blocker{Rule: ReasonNoReading, Detail: "its configured count could not be read"})
	case s.Shards < MinShards || s.Shards > MaxShards:
		list = append(list, Blocker{Rule: ReasonUnsupported, Detail: "the count is outside 1 to 64"})
	}
	if limit := staleAfter(p, s.Period); !s.At.IsZero() && in.World.Now.Sub(s.At) > limit {
		list = append(list, Blocker{Rule: ReasonStale, Detail: "the newest reading is " + span(w.Now.Sub(s.At)) + " old, may be " + span(limit)})
	}
	if w.Database.Standby {
		list = append(list, Blocker{Rule: ReasonStandby, Detail: "in recovery"})
	} else if w.Database.ReadOnly {
		list = append(list, Blocker{Rule: ReasonReadOnly, Detail: "it accepts no writes"})
	}
	if !w.Awa.MayWrite || w.Awa.State != AwaActive && w.Awa.State != AwaNewer {
		rule, d := ReasonAwaUnfit, w.Awa.Sentence
		if w.Awa.State == AwaTransition || w.Awa.State == AwaActive {
			rule = ReasonAwaBusy
		}
		if len(w.Awa.Missing) > 0 {
			d = strings.TrimSpace(d + " Missing: " + strings.Join(w.Awa.Missing, ", "))
		}
		if d == "" {
			d = "state " + string(w.Awa.State)
		}
		list = append(list, Blocker{Rule: rule, Detail: d})
	}
	return list
}

func softFreeze(p Policy, in *Input, list []Blocker, now time.Time) []Blocker {
	w, s := &in.World, &in.Signal
	if now.Before(w.StepUntil) {
		list = append(list, wait(ReasonClockStep, "the server's clock and ours moved apart", w.StepUntil, now))
	}
	if now.Before(w.WarmUntil) {
		list = append(list, wait(ReasonWarmUp, w.WarmWhy, w.WarmUntil, now))
	}
	if !s.At.IsZero() && !(s.Coverage.Or(0) >= p.Coverage) {
		list = append(list, Blocker{Rule: ReasonFewSamples, Detail: "has " + percent(s.Coverage.Or(0)) + ", needs " + percent(p.Coverage)})
	}
	return list
}

// staleAfter is the age beyond which a reading is too old: so many periods, of
// those expected or those it came in, whichever are longer.
func staleAfter(p Policy, period time.Duration) time.Duration {
	return time.Duration(p.StalePeriods * float64(max(p.Period, period)))
}
