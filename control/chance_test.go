package control

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A queue with few sessions at its lanes: four samples a second that mostly
// find nobody. The enqueue rate is the same in every second.
func lonely(seed uint64, inside float64) Figures {
	p, r := DefaultPolicy(), rand.New(rand.NewPCG(seed, 0))
	t := NewTrack(p)
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for range 120 {
		at = at.Add(time.Second)
		hold := 0.0
		for range 4 {
			if r.Float64() < inside {
				hold++
			}
		}
		t.Observe(p, Reading{At: at, Queue: "q", Shards: 2, PeriodS: 1, Samples: 4, Expected: 4, HoldSum: hold,
			Waiters: Some(0), Holders: Some(hold / 4), Inside: Some(hold / 4), EnqueueRate: Some(15), Producers: Some(1)})
	}
	return t.Signal(p).Figures
}

// Held against the plain ratios, 95 of the 400 first ones would be.
func TestChanceInAFewSamplesIsNoHarm(t *testing.T) {
	p, n := DefaultPolicy(), 400
	verdicts := func(factor float64) (harmful int) {
		for i := range n {
			before, after := lonely(uint64(2*i), 0.3), lonely(uint64(2*i+1), 0.3*factor)
			if (Trial{From: 4, To: 2, Before: before}).judge(p, after).verdict == VerdictHarmful {
				harmful++
			}
		}
		return harmful
	}
	if got := verdicts(1); got > n/20 {
		t.Errorf("%d of %d steps that changed nothing were called harmful", got, n)
	}
	if got := verdicts(2); got < n*19/20 {
		t.Errorf("%d of %d steps that made each enqueue take twice as long were called harmful", got, n)
	}
}
