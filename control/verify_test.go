package control

import (
	"testing"
	"time"
)

func TestVerdicts(t *testing.T) {
	p := DefaultPolicy()
	before := Figures{Rate: Some(100), RateErr: Some(1), WaitPerS: Some(0.1), LatencyS: Some(0.12), Producers: Some(8)}
	after := func(rate, waits, latency, producers float64) Figures {
		return Figures{Rate: Some(100 * rate), RateErr: Some(1), WaitPerS: Some(0.1 * waits), LatencyS: Some(0.12 * latency), Producers: Some(producers)}
	}
	for _, c := range []struct {
		name     string
		from, to int
		after    Figures
		want     Verdict
		reason   Reason
	}{
		{"waits fell by a third", 1, 2, after(1, 0.70, 0.8, 8), VerdictKept, ReasonVerified},
		{"rate up by 15%", 1, 2, after(1.15, 0.95, 1, 8), VerdictKept, ReasonVerified},
		{"waits fell a little", 1, 2, after(1, 0.80, 0.9, 8), VerdictKept, ReasonWeak},
		{"nothing changed", 1, 2, after(1.04, 0.95, 1, 8), VerdictIneffective, ReasonIneffective},
		{"a little faster, waits as before", 1, 2, after(1.10, 0.95, 1, 8), VerdictKept, ReasonWeak},
		{"less done, each slower", 1, 2, after(0.94, 1.05, 1.05, 8), VerdictHarmful, ReasonHarmful},
		{"less done, each faster: lower demand", 1, 2, after(0.90, 0.5, 0.6, 8), VerdictKept, ReasonVerified},
		{"each slower by 10%", 1, 2, after(1.00, 1.0, 1.10, 8), VerdictHarmful, ReasonHarmful},
		{"each slower, much more done: higher demand", 1, 2, after(1.20, 1.1, 1.2, 8), VerdictKept, ReasonVerified},
		{"producers left", 1, 2, after(0.70, 0.3, 0.5, 4), VerdictInconclusive, ReasonVerified},
		{"producers came", 1, 2, after(1.50, 1.3, 1.2, 16), VerdictInconclusive, ReasonVerified},
		{"one producer left, rate as before", 1, 2, after(0.90, 0.6, 0.6, 7), VerdictKept, ReasonVerified},
		{"down, nothing changed", 4, 2, after(1, 1, 1, 8), VerdictKept, ReasonVerified},
		{"down, less done", 4, 2, after(0.9, 1.5, 1.4, 8), VerdictHarmful, ReasonHarmful},
		{"nothing enqueued", 1, 2, after(0, 0, 0, 8), VerdictInconclusive, ReasonVerified},
	} {
		tr := Trial{From: c.from, To: c.to, Before: before}
		if j := tr.judge(p, c.after); j.verdict != c.want || j.reason != c.reason {
			t.Errorf("%s: %s (%s), want %s (%s): %s", c.name, j.verdict, j.reason, c.want, c.reason, j.detail)
		}
	}
	noisy := after(0.94, 1.05, 1.05, 8)
	noisy.RateErr = Some(5)
	if j := (Trial{From: 1, To: 2, Before: before}).judge(p, noisy); j.verdict == VerdictHarmful {
		t.Error("a fall within the scatter of the rate was called harm")
	}
	if j := (Trial{From: 1, To: 2}).judge(p, noisy); j.verdict != "" {
		t.Errorf("without figures from before: %s", j.verdict)
	}
}

func TestATrialWaitsForProducersAndGivesUpInTime(t *testing.T) {
	p := DefaultPolicy()
	good := Figures{Rate: Some(100), WaitPerS: Some(0.1)}
	tr := Trial{At: epoch, From: 1, To: 2, Before: good}
	sig := Signal{Figures: Figures{Rate: Some(150), WaitPerS: Some(0.05)}}
	step := func(after time.Duration, stale int) *judgement {
		now := epoch.Add(after)
		sig.At, sig.Stale = now, stale
		next, j := tr.try(p, &sig, now)
		tr = next
		return j
	}
	for _, s := range []time.Duration{0, 30 * time.Second, 59 * time.Second} {
		if step(s, 0) != nil {
			t.Fatalf("judged after %v, before it settled", s)
		}
	}
	if step(90*time.Second, 1) != nil || step(10*time.Minute, 1) != nil {
		t.Fatal("judged while a producer was stale")
	}
	if step(11*time.Minute, 0) != nil || step(11*time.Minute+59*time.Second, 0) != nil {
		t.Fatal("judged before a whole window had passed since everybody took it up")
	}
	if j := step(12*time.Minute, 0); j == nil || j.verdict != VerdictKept {
		t.Fatalf("a window later: %+v, want kept", j)
	}
	if j := step(30*time.Minute, 2); j == nil || j.verdict != VerdictInconclusive {
		t.Errorf("still stale after half an hour: %+v, want inconclusive", j)
	}
	sig.Figures = Figures{}
	if j := step(29*time.Minute, 0); j != nil {
		t.Errorf("no figures, and a verdict: %+v", j)
	}
	if step(30*time.Minute, 0); tr.Settled.IsZero() {
		t.Error("settled, and forgotten")
	}
	if j := step(40*time.Minute, 0); j == nil || j.verdict != VerdictInconclusive {
		t.Errorf("no figures after half an hour: %+v, want inconclusive", j)
	}
}
