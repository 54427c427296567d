package control

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Policy holds every number of the controller's rules. It is the same for all
// queues; what an operator allows for one queue is its QueuePolicy.
//
// Shares and ratios are fractions (0.25 is 25%), sessions are means over a
// window, durations are real time on the server's clock.
type Policy struct {
	// Period is how often a reading is expected. Range 50 ms to 1 min.
	Period time.Duration
	// Batch is the length of the batches behind an interval. Range Period to GrowWindow/10.
	Batch time.Duration

	// GrowWindow is the span that contention must last for a step up. Range 10 batches to 1 h.
	GrowWindow time.Duration
	// GrowShare is what the lower end of the wait share, and the share of each
	// third of GrowWindow, must exceed. Range above ShrinkShare to 1.
	GrowShare float64
	// GrowWaiters is the least mean of waiting sessions. Range 0 to 1000.
	GrowWaiters float64
	// FastWindow, FastShare and FastWaiters are the fast path: a crowd so plain
	// that half a minute proves it. FastWindow ranges from 1 ns to GrowWindow,
	// FastShare from GrowShare to 1, FastWaiters from GrowWaiters to 1000.
	FastWindow  time.Duration
	FastShare   float64
	FastWaiters float64
	// GrowGain is the least predicted gain, 0.15 for 15%. Range 0 to 1.
	GrowGain float64
	// NotifyShare is the share of the waits behind holders in the NOTIFY commit
	// queue, or at its head with others behind, from which more lanes would only
	// move the queue. Range above 0 to 1.
	NotifyShare float64
	// StuckShare is the same for holders that keep their lane for seconds. Range above 0 to 1.
	StuckShare float64
	// SkewShare is the share of the waits in one lane above which a queue with
	// two shards or more, and SkewInside sessions or more, is skewed. Ranges
	// 0.5 to 1 and 1 to 1000.
	SkewShare  float64
	SkewInside float64

	// ShrinkWindow is the span that calm must last for a step down. Range GrowWindow to 24 h.
	ShrinkWindow time.Duration
	// ShrinkShare is what the upper end of the wait share must stay below. Range above 0 to below GrowShare.
	ShrinkShare float64
	// ShrinkSlice and SliceShare: no slice of that length may have a share
	// above it. Ranges 1 ns to ShrinkWindow, ShrinkShare to 1.
	ShrinkSlice time.Duration
	SliceShare  float64
	// RateFloor is the least part of its rate over ShrinkWindow at which the
	// queue must be enqueued to of late (the newest slice, or GrowWindow); below
	// it the calm is a slowdown. Range 0 to 1.
	RateFloor float64
	// ShrinkBusy is how busy the lanes that remain may be at most. Range above 0 to 1.
	ShrinkBusy float64

	// GrowCooldown and ShrinkCooldown follow a change up and down,
	// ReverseCooldown separates a change from one in the opposite direction.
	// Range 0 to 7 days each.
	GrowCooldown    time.Duration
	ShrinkCooldown  time.Duration
	ReverseCooldown time.Duration
	// Reversals within ReversalSpan hold the queue as oscillating. Ranges 1 to 10, 1 s to 7 days.
	Reversals    int
	ReversalSpan time.Duration
	// QueueChanges is the most changes of one queue within QueueSpan,
	// DatabaseChanges of the whole database within DatabaseSpan. Ranges 1 to 16,
	// 1 to 64, 1 s to 7 days each.
	QueueChanges    int
	QueueSpan       time.Duration
	DatabaseChanges int
	DatabaseSpan    time.Duration

	// Settle is how long a change is left alone before it is judged,
	// SettleLimit how long producers may take to pick it up. Ranges 0 to
	// SettleLimit, Settle to 24 h.
	Settle      time.Duration
	SettleLimit time.Duration
	// VerifyWindow is the length of the windows compared before and after.
	// Range 1 batch to GrowWindow.
	VerifyWindow time.Duration
	// KeptWait and KeptRate: wait per enqueue at or below this part of what it
	// was, or the enqueue rate up by this much, and the change was worth it.
	// WeakWait: up to this part, kept without further growth for WeakHold.
	// Above it, with the rate up by less than WeakRate: ineffective, no growth
	// beyond the count for IneffectiveHold. Ranges 0 to 1; holds 0 to 30 days.
	KeptWait        float64
	KeptRate        float64
	WeakWait        float64
	WeakRate        float64
	WeakHold        time.Duration
	IneffectiveHold time.Duration
	// HarmRate and HarmLatency: the rate down, or the time an enqueue takes up,
	// by this much with the same producers. Ranges above 0 to 1.
	HarmRate    float64
	HarmLatency float64
	// ForeignRate: the rate changed by more than this and so did the
	// producers; nothing can be said. Range above 0 to 1.
	ForeignRate float64

	// StalePeriods is the age of the newest reading, in periods, beyond which
	// nothing is written. Range 1 to 100.
	StalePeriods float64
	// Coverage is the least part of its samples a window must have. Range above 0 to 1.
	Coverage float64
	// WarmUp is how long nothing is written after a restart, a failover, a
	// change of leader or a step of the clock. Range 0 to 24 h.
	WarmUp time.Duration
	// ClockStep is how far the distance between the server's clock and ours may
	// move from one reading to the next. Not divided by Pace. Range 100 ms to 1 h.
	ClockStep time.Duration

	// AdoptHold follows a change that somebody else made. Range 0 to 7 days.
	AdoptHold time.Duration
	// PendingLife is how long a proposed step waits for a hand. Range 1 s to 7 days.
	PendingLife time.Duration
	// RejectHold is how long a rejected direction is not proposed again. Range 0 to 7 days.
	RejectHold time.Duration
	// RetryHold follows a write that was refused or failed. Range 0 to 24 h.
	RetryHold time.Duration
	// Damp is how long a new reason to hold must last before it is logged, so
	// that a reason that flaps does not fill the log. Range 0 to 1 h.
	Damp time.Duration
}

// DefaultPolicy returns the numbers the controller ships with.
func DefaultPolicy() Policy {
	return Policy{
		Period: time.Second, Batch: 2 * time.Second,
		GrowWindow: 2 * time.Minute, GrowShare: 0.25, GrowWaiters: 1,
		FastWindow: 30 * time.Second, FastShare: 0.60, FastWaiters: 4,
		GrowGain: 0.15, NotifyShare: 0.25, StuckShare: 0.50, SkewShare: 0.80, SkewInside: 4,
		ShrinkWindow: 30 * time.Minute, ShrinkShare: 0.05, ShrinkSlice: 5 * time.Minute, SliceShare: 0.10,
		RateFloor: 0.50, ShrinkBusy: 0.50,
		GrowCooldown: 2 * time.Minute, ShrinkCooldown: 30 * time.Minute, ReverseCooldown: 2 * time.Hour,
		Reversals: 3, ReversalSpan: 6 * time.Hour,
		QueueChanges: 10, QueueSpan: 24 * time.Hour, DatabaseChanges: 12, DatabaseSpan: time.Hour,
		Settle: time.Minute, SettleLimit: 30 * time.Minute, VerifyWindow: time.Minute,
		KeptWait: 0.70, KeptRate: 0.15, WeakWait: 0.90, WeakRate: 0.05,
		WeakHold: 6 * time.Hour, IneffectiveHold: 24 * time.Hour,
		HarmRate: 0.05, HarmLatency: 0.10, ForeignRate: 0.20,
		StalePeriods: 3, Coverage: 0.90, WarmUp: 10 * time.Minute, ClockStep: 5 * time.Second,
		AdoptHold: 30 * time.Minute, PendingLife: 30 * time.Minute, RejectHold: 30 * time.Minute,
		RetryHold: 2 * time.Minute, Damp: 30 * time.Second,
	}
}

// The shortest period and batch that Pace leaves: one sample at 4 Hz.
const shortestPeriod = 250 * time.Millisecond

// Pace divides every duration by n, for rehearsals and tests: an hour of rules
// passes in a minute at 60. Period and Batch stop at a quarter of a second,
// since pg_locks is not sampled more often; ClockStep stays. Up to 12 all rules
// work with readings four times a second, up to 48 all but the fast path.
// A pace below 1, or one that is no number, changes nothing.
func (p Policy) Pace(n float64) Policy {
	if !(n > 1) {
		return p
	}
	for _, d := range p.durations() {
		*d = time.Duration(float64(*d) / n)
	}
	p.Period = max(p.Period, shortestPeriod)
	p.Batch = max(p.Batch, p.Period)
	return p
}

func (p *Policy) durations() []*time.Duration {
	return []*time.Duration{
		&p.Period, &p.Batch, &p.GrowWindow, &p.FastWindow, &p.ShrinkWindow, &p.ShrinkSlice,
		&p.GrowCooldown, &p.ShrinkCooldown, &p.ReverseCooldown, &p.ReversalSpan, &p.QueueSpan, &p.DatabaseSpan,
		&p.Settle, &p.SettleLimit, &p.VerifyWindow, &p.WeakHold, &p.IneffectiveHold, &p.WarmUp,
		&p.AdoptHold, &p.PendingLife, &p.RejectHold, &p.RetryHold, &p.Damp,
	}
}

// BadFields are the fields of a policy outside their range.
type BadFields []string

func (b BadFields) Error() string { return strings.Join(b, "; ") }

// Validate names every field outside its range, with the range, as a usage
// Fault around BadFields; nil when there is none.
func (p Policy) Validate() error { return p.bad().fault() }

func (b BadFields) fault() error {
	if b == nil {
		return nil
	}
	return &Fault{Kind: FaultUsage, What: "policy: " + b.Error(), Err: b}
}

// least is a lower bound in words; one that is a little above a round number
// leaves that number out.
func least(low float64) string {
	if round := math.Round(low*1e6) / 1e6; round < low {
		return fmt.Sprintf("above %g", round)
	}
	return fmt.Sprintf("%g", low)
}

func (p Policy) bad() (bad BadFields) {
	length := func(name string, v, low, high time.Duration) {
		if v < low || v > high {
			bad = append(bad, fmt.Sprintf("%s is %v, must be %v to %v", name, v, low, high))
		}
	}
	number := func(name string, v, low, high float64, because ...string) {
		if !(v >= low && v <= high) {
			bad = append(bad, fmt.Sprintf("%s is %g, must be %s to %g%s", name, v, least(low), high, strings.Join(because, "")))
		}
	}
	const day, tiny = 24 * time.Hour, 1e-9
	length("Period", p.Period, 50*time.Millisecond, time.Minute)
	length("Batch", p.Batch, p.Period, max(p.GrowWindow/minBatches, p.Period))
	length("GrowWindow", p.GrowWindow, minBatches*p.Batch, time.Hour)
	number("GrowShare", p.GrowShare, p.ShrinkShare+tiny, 1, ", above ShrinkShare")
	number("GrowWaiters", p.GrowWaiters, 0, 1000)
	length("FastWindow", p.FastWindow, 1, p.GrowWindow)
	number("FastShare", p.FastShare, p.GrowShare, 1, ", no less than GrowShare")
	number("FastWaiters", p.FastWaiters, p.GrowWaiters, 1000, ", no less than GrowWaiters")
	number("GrowGain", p.GrowGain, 0, 1)
	number("NotifyShare", p.NotifyShare, tiny, 1)
	number("StuckShare", p.StuckShare, tiny, 1)
	number("SkewShare", p.SkewShare, 0.5, 1)
	number("SkewInside", p.SkewInside, 1, 1000)
	length("ShrinkWindow", p.ShrinkWindow, p.GrowWindow, day)
	number("ShrinkShare", p.ShrinkShare, tiny, 1)
	length("ShrinkSlice", p.ShrinkSlice, 1, p.ShrinkWindow)
	number("SliceShare", p.SliceShare, p.ShrinkShare, 1, ", no less than ShrinkShare")
	number("RateFloor", p.RateFloor, 0, 1)
	number("ShrinkBusy", p.ShrinkBusy, tiny, 1)
	length("GrowCooldown", p.GrowCooldown, 0, 7*day)
	length("ShrinkCooldown", p.ShrinkCooldown, 0, 7*day)
	length("ReverseCooldown", p.ReverseCooldown, 0, 7*day)
	number("Reversals", float64(p.Reversals), 1, 10)
	length("ReversalSpan", p.ReversalSpan, time.Second, 7*day)
	number("QueueChanges", float64(p.QueueChanges), 1, historySize)
	length("QueueSpan", p.QueueSpan, time.Second, 7*day)
	number("DatabaseChanges", float64(p.DatabaseChanges), 1, budgetSize)
	length("DatabaseSpan", p.DatabaseSpan, time.Second, 7*day)
	length("Settle", p.Settle, 0, p.SettleLimit)
	length("SettleLimit", p.SettleLimit, p.Settle, day)
	length("VerifyWindow", p.VerifyWindow, p.Batch, p.GrowWindow)
	number("KeptWait", p.KeptWait, 0, p.WeakWait)
	number("KeptRate", p.KeptRate, p.WeakRate, 1, ", no less than WeakRate")
	number("WeakWait", p.WeakWait, p.KeptWait, 1, ", no less than KeptWait")
	number("WeakRate", p.WeakRate, 0, p.KeptRate)
	length("WeakHold", p.WeakHold, 0, 30*day)
	length("IneffectiveHold", p.IneffectiveHold, 0, 30*day)
	number("HarmRate", p.HarmRate, tiny, 1)
	number("HarmLatency", p.HarmLatency, tiny, 1)
	number("ForeignRate", p.ForeignRate, tiny, 1)
	number("StalePeriods", p.StalePeriods, 1, 100)
	number("Coverage", p.Coverage, tiny, 1)
	length("WarmUp", p.WarmUp, 0, day)
	length("ClockStep", p.ClockStep, 100*time.Millisecond, time.Hour)
	length("AdoptHold", p.AdoptHold, 0, 7*day)
	length("PendingLife", p.PendingLife, time.Second, 7*day)
	length("RejectHold", p.RejectHold, 0, 7*day)
	length("RetryHold", p.RetryHold, 0, day)
	length("Damp", p.Damp, 0, time.Hour)
	return bad
}
