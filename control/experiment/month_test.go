package experiment

import (
	"sync"
	"testing"
)

// BenchmarkThirtyDaysOfEightShapesWithFiveSeeds is the long proof: forty months
// with every promise checked at every step, on all processors. It reads every
// three seconds and decides every nine.
func BenchmarkThirtyDaysOfEightShapesWithFiveSeeds(b *testing.B) {
	const days, seeds = 30, 5
	shapes := Shapes()
	for b.Loop() {
		var mu sync.Mutex
		err := together(b.Context(), len(shapes)*seeds, func(i int) error {
			shape, seed := shapes[i%len(shapes)], uint64(i/len(shapes)+1)
			r, err := Play(shelf(), shape, Job{Shape: shape.Name, Seed: seed, Seconds: days * 86400}, Options{Every: 3, DecideEach: 3})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, what := range r.Broken {
				b.Errorf("%s, seed %d: %s", shape.Name, seed, what)
			}
			if shape.Steady && r.Reversals > 0 {
				b.Errorf("%s, seed %d: %d reversals on a steady load: %v", shape.Name, seed, r.Reversals, r.Changes)
			}
			b.Logf("%-7s seed %d: %d shards, %d changes, %d reversals, settled after %.0f s, held %v", shape.Name, seed, r.End, len(r.Changes), r.Reversals, r.SettleS, r.Oscillating)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(days*seeds*len(shapes)*b.N)/b.Elapsed().Seconds(), "days/s")
}
