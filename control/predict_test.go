package control

import (
	"math"
	"testing"
)

// The measured gains are of 16 producers with 5 ms of work after the enqueue
// inside their transaction: 106, 215, 377 and 615 jobs/s at 1, 2, 4, 8 shards.
func TestPredictedGainAgainstTheMeasuredDoublings(t *testing.T) {
	rates := map[int]float64{1: 106, 2: 215, 4: 377, 8: 615}
	for _, c := range []struct {
		from, to  int
		predicted float64
	}{{1, 2, 2.00}, {2, 4, 1.98}, {4, 8, 1.78}} {
		got := PredictedGain(c.from, c.to, Some(16)).Or(0)
		if math.Abs(got-c.predicted) > 0.006 {
			t.Errorf("%d to %d: predicted x%.3f, want x%.2f", c.from, c.to, got, c.predicted)
		}
		measured := rates[c.to] / rates[c.from]
		if off := got / measured; off < 0.97 || off > 1.15 {
			t.Errorf("%d to %d: predicted x%.2f, measured x%.2f: the model is optimistic, but not by more than 15%%", c.from, c.to, got, measured)
		}
	}
}

func TestPredictedGainAtItsEdges(t *testing.T) {
	for _, c := range []struct {
		from, to int
		inside   Value
		want     Value
	}{
		{1, 2, None(), None()},
		{0, 2, Some(5), None()},
		{1, 0, Some(5), None()},
		{1, 2, Some(0), Some(1)},
		{1, 2, Some(-3), Some(1)},
		{2, 4, Some(1), Some(1)},
		{1, 2, Some(2), Some(1.5)},
		{4, 4, Some(9), Some(1)},
	} {
		if got := PredictedGain(c.from, c.to, c.inside); got != c.want {
			t.Errorf("%d to %d with %v inside: %v, want %v", c.from, c.to, c.inside, got, c.want)
		}
	}
	for inside := 1.0; inside < 1e6; inside *= 3 {
		gain := PredictedGain(8, 16, Some(inside)).Or(0)
		if gain < 1 || gain > 2 {
			t.Errorf("%v inside: a doubling gives x%v", inside, gain)
		}
	}
}
