package control

import (
	"slices"
	"strings"
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
	sig := Signal{Figured: p.VerifyWindow, Figures: Figures{Rate: Some(150), WaitPerS: Some(0.05)}}
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

// A verdict rests on a window that was read, not on what is left of it.
func TestNothingIsJudgedByTheSecondsAfterAnOutage(t *testing.T) {
	s := newStage()
	verdicts := func() (n int) {
		for _, e := range s.log {
			if e.Kind == LogVerdict {
				n++
			}
		}
		return n
	}
	for _, line := range []string{"run 30s crowd=16 useless=1", "run 62s", "silence 60s", "run 10s"} {
		if err := s.do(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	if s.state.Trial == nil || verdicts() > 0 {
		t.Fatalf("judged by ten seconds: %+v", s.log[len(s.log)-1])
	}
	if _ = s.do([]string{"run", "1m"}); verdicts() != 1 {
		t.Errorf("%d verdicts a minute later, want one", verdicts())
	}
}

// TestHarmIsCalledOnlyWhenItLasts plays windows, each with its thirds: latency
// against before, at the same rate.
func TestHarmIsCalledOnlyWhenItLasts(t *testing.T) {
	p := DefaultPolicy()
	calm, bad := [3]float64{1, 1, 1}, [3]float64{1.5, 1.5, 1.5}
	moment := [3]float64{1, 3, 1} // three times as long for a third of the window
	for name, c := range map[string]struct {
		windows [][3]float64
		want    Verdict
		judged  int // windows it takes
	}{
		"calm":                             {[][3]float64{calm}, VerdictKept, 1},
		"harm":                             {[][3]float64{bad, bad}, VerdictHarmful, 2},
		"a moment":                         {[][3]float64{moment, calm}, VerdictKept, 2},
		"a whole window":                   {[][3]float64{bad, calm}, VerdictKept, 2},
		"a moment in harm":                 {[][3]float64{moment, bad, bad}, VerdictHarmful, 3},
		"harm, and a moment's relief":      {[][3]float64{bad, {1.5, 1, 2}, bad}, VerdictHarmful, 3},
		"one moment after another":         {slices.Repeat([][3]float64{moment}, 40), VerdictInconclusive, 29},
		"harm that begins at the very end": {append(slices.Repeat([][3]float64{moment}, 28), bad, bad), VerdictHarmful, 30},
	} {
		tr := Trial{At: epoch, From: 4, To: 2, Before: Figures{Rate: Some(100), RateErr: Some(1), LatencyS: Some(0.01), WaitPerS: Some(0), Producers: Some(8)}}
		now := epoch.Add(p.Settle)
		tr, _ = tr.try(p, &Signal{At: now}, now)
		var got Verdict
		judged := 0
		for _, w := range c.windows {
			now = now.Add(p.VerifyWindow)
			s := Signal{At: now, Figured: p.VerifyWindow, Figures: figuresAt((w[0] + w[1] + w[2]) / 3)}
			for i := range w {
				s.Parts[i] = figuresAt(w[i])
			}
			next, j := tr.try(p, &s, now)
			tr = next
			judged++
			if j != nil {
				got = j.verdict
				break
			}
		}
		if got != c.want || judged != c.judged {
			t.Errorf("%s: %q after %d windows, want %q after %d", name, got, judged, c.want, c.judged)
		}
	}
}

func figuresAt(latency float64) Figures {
	return Figures{Rate: Some(100), RateErr: Some(1), LatencyS: Some(0.01 * latency), WaitPerS: Some(0), Producers: Some(8)}
}

// TestThirdsOfAWindowAreItsParts: a moment in the middle third stays there.
func TestThirdsOfAWindowAreItsParts(t *testing.T) {
	p := DefaultPolicy()
	s := newStage()
	s.queue.Auto = false
	for _, line := range []string{"run 100s wait=0 hold=1 rate=100", "run 20s hold=3", "run 20s hold=1.2 rate=80"} {
		if err := s.do(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	g := s.track.Signal(p)
	for i, want := range []Figures{{Rate: Some(100), LatencyS: Some(0.01)}, {Rate: Some(100), LatencyS: Some(0.03)}, {Rate: Some(80), LatencyS: Some(0.015)}} {
		if !near(g.Parts[i].Rate, want.Rate.Or(0)) || !near(g.Parts[i].LatencyS, want.LatencyS.Or(0)) {
			t.Errorf("third %d: %v jobs/s of %v s, want %v of %v", i, g.Parts[i].Rate, g.Parts[i].LatencyS, want.Rate, want.LatencyS)
		}
	}
}
