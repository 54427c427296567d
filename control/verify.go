package control

import "time"

// judgement is the end of a trial.
type judgement struct {
	verdict Verdict
	reason  Reason // ReasonVerified, or the lock that follows
	detail  string
	gain    Value
}

// try moves a trial along and judges it when its time has come: the change
// must have settled and producers have taken it up, then a whole window must
// have passed. A trial that nothing can be said about ends as inconclusive.
func (t Trial) try(p Policy, s *Signal, now time.Time) (Trial, *judgement) {
	late := !now.Before(t.At.Add(p.SettleLimit))
	switch {
	case s.Stale > 0:
		t.Settled = time.Time{}
		if late {
			return t, &judgement{VerdictInconclusive, ReasonVerified, "not taken up by " + Plural(s.Stale, "producer") + " in " + span(p.SettleLimit), None()}
		}
		return t, nil
	case now.Before(t.At.Add(p.Settle)):
		return t, nil
	case t.Settled.IsZero():
		t.Settled = now
	}
	if now.Before(t.Settled.Add(p.VerifyWindow)) || s.At.Before(t.Settled.Add(p.VerifyWindow)) {
		return t, nil
	}
	var j judgement
	if s.Figured >= p.VerifyWindow/2 { // or reading failed, and some seconds after it tell nothing
		j = t.judge(p, s.Figures)
	}
	if j.verdict == VerdictHarmful {
		return t.doubt(p, s, now, late, j)
	}
	switch {
	case j.verdict != "":
		return t, &j
	case late:
		return t, &judgement{VerdictInconclusive, ReasonVerified, "the enqueue rate before or after is not known", None()}
	}
	return t, nil
}

// doubt lets harm count only when it lasts: it must show in each third of the
// window, and again in each third of a second one. A machine that was busy with
// something else for a moment shows in one of them, and errors estimated from
// neighbouring seconds, which all met the same moment, do not know that.
func (t Trial) doubt(p Policy, s *Signal, now time.Time, late bool, j judgement) (Trial, *judgement) {
	switch lasts := t.lasts(p, &s.Parts); {
	case lasts && t.Harmed:
		return t, &j
	case !lasts && late:
		return t, &judgement{VerdictInconclusive, ReasonVerified, "harm that came and went: " + j.detail, j.gain}
	case lasts:
		t.Harmed = true
	}
	t.Settled = now // another window
	return t, nil
}

// lasts says whether harm shows in each third of the window.
func (t Trial) lasts(p Policy, parts *[3]Figures) bool {
	for i := range parts {
		rate, ok1 := ratio(parts[i].Rate, t.Before.Rate).Get()
		latency, ok2 := ratio(parts[i].LatencyS, t.Before.LatencyS).Get()
		if slower, longer := worse(p, rate, latency); !ok1 || !ok2 || !slower && !longer {
			return false
		}
	}
	return true
}

// judge compares the window before with the one after. The zero judgement
// means that a figure is missing.
func (t Trial) judge(p Policy, after Figures) judgement {
	before := t.Before
	r0, ok0 := before.Rate.Get()
	r1, ok1 := after.Rate.Get()
	if !ok0 || !ok1 {
		return judgement{}
	}
	if r0 == 0 || r1 == 0 {
		return judgement{VerdictInconclusive, ReasonVerified, "nothing was enqueued before or after", None()}
	}
	rate := r1 / r0
	waits := ratio(after.WaitPerS, before.WaitPerS)
	latency := ratio(after.LatencyS, before.LatencyS)
	detail := "enqueue rate ×" + two(Some(rate)) + ", wait per enqueue ×" + two(waits) + ", time per enqueue ×" + two(latency)
	j := judgement{VerdictKept, ReasonVerified, detail, Some(rate)}
	crowd := ratio(after.Producers, before.Producers)
	same := crowd.Or(1) == 1
	switch {
	case crowd.OK() && !same && (rate > 1+p.ForeignRate || rate < 1-p.ForeignRate):
		j.verdict = VerdictInconclusive
		j.detail += "; the producers went from " + before.Producers.String() + " to " + after.Producers.String()
	case same && harmed(p, before, after, rate, latency.Or(1)):
		j.verdict, j.reason = VerdictHarmful, ReasonHarmful
	case t.To < t.From:
		// A step down pays by not hurting.
	case waits.OK() && waits.Or(1) <= p.KeptWait, rate >= 1+p.KeptRate:
	case !waits.OK():
		j.verdict = VerdictInconclusive
	case waits.Or(1) <= p.WeakWait:
		j.reason = ReasonWeak
	case rate < 1+p.WeakRate:
		j.verdict, j.reason = VerdictIneffective, ReasonIneffective
	default: // a little faster, waits as before: neither worth more nor worth nothing
		j.reason = ReasonWeak
	}
	return j
}

// harmed says whether the same producers got less done or waited longer, by
// more than chance: two standard errors of the difference.
func harmed(p Policy, before, after Figures, rate, latency float64) bool {
	slower, longer := worse(p, rate, latency)
	return slower && apart(before.Rate, before.RateErr, after.Rate, after.RateErr) ||
		longer && apart(before.LatencyS, before.LatencyErr, after.LatencyS, after.LatencyErr)
}

// worse is harm by the ratios alone. A rate that fell while each enqueue took no
// longer is a lower demand; an enqueue that takes longer while clearly more gets
// done is a higher demand.
func worse(p Policy, rate, latency float64) (slower, longer bool) {
	return rate <= 1-p.HarmRate && latency > 1, latency >= 1+p.HarmLatency && rate < 1+p.WeakRate
}

// apart says whether two means differ by more than two standard errors of
// their difference. An error that is not known counts for none.
func apart(a, errA, b, errB Value) bool {
	d, e, f := b.Or(0)-a.Or(0), errA.Or(0), errB.Or(0)
	return d*d > 4*(e*e+f*f)
}

func ratio(a, b Value) Value {
	x, ok1 := a.Get()
	y, ok2 := b.Get()
	if !ok1 || !ok2 || y == 0 {
		return None()
	}
	return Some(x / y)
}

// movedTo names what the waits are behind now, for the reason of an
// ineffective change.
func movedTo(c Causes) string {
	top, name := 0.0, ""
	for _, x := range []struct {
		v    Value
		name string
	}{{c.Lane, "the lanes still"}, {c.Notify, "NOTIFY"}, {c.Stuck, "a stuck holder"}, {c.Unknown, "holders hidden from this role"}} {
		if v := x.v.Or(0); v > top {
			top, name = v, x.name
		}
	}
	if name == "" {
		return ""
	}
	return "; " + percent(top) + " of the waits are behind " + name
}
