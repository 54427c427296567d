package control

import (
	"fmt"
	"math"
	"testing"
)

// TestSteadyLoadIsSteppedToAndLeftAlone plays six hours of a steady crowd, its
// size scattered as sessions come and go, under the model of the lanes: the
// count goes up in single steps, is never turned back, and at the end the wait
// share is below what it takes to grow, or the maximum is reached.
func TestSteadyLoadIsSteppedToAndLeftAlone(t *testing.T) {
	t.Parallel()
	crowds := []float64{0.3, 1, 2, 4, 8, 16, 40}
	if underRace {
		crowds = []float64{4}
	}
	for _, mean := range crowds {
		t.Run(fmt.Sprintf("%g inside", mean), func(t *testing.T) {
			s := newStage()
			crowd := mean
			for range 6 * 3600 {
				// A mean-reverting walk: correlated over about ten seconds.
				crowd += 0.1*(mean-crowd) + 0.15*math.Sqrt(mean)*s.rng.NormFloat64()
				s.load["crowd"] = max(crowd, 0.01)
				if err := s.do([]string{"run", "1s"}); err != nil {
					t.Fatal(err)
				}
			}
			ups, reversals, last := 0, 0, 0
			for _, e := range s.log {
				if e.Kind != LogChange {
					continue
				}
				way := 1
				if e.To < e.From {
					way = -1
				} else {
					ups++
				}
				if last != 0 && way != last {
					reversals++
				}
				last = way
			}
			t.Logf("%g inside: %d shards after %d steps up", mean, s.shards, ups)
			if reversals > 0 {
				t.Errorf("%d reversals on a steady load", reversals)
			}
			if want := int(math.Log2(float64(s.shards))); ups != want {
				t.Errorf("%d steps up to %d shards, want %d", ups, s.shards, want)
			}
			share := 1 - Busy(s.shards, mean)/mean
			if share > 0.35 && s.shards < s.queue.Max {
				t.Errorf("left at %d shards with a wait share of %.2f", s.shards, share)
			}
			if mean <= 1 && s.shards != 1 {
				t.Errorf("%g sessions inside do not need %d shards", mean, s.shards)
			}
		})
	}
}
