package control

import "math"

// Busy is the model of a lane set: of inside sessions thrown at random on
// shards lanes, so many lanes have somebody on them and work at once,
// S·(1 − (1 − 1/S)^N). It is 0 for no lanes or nobody inside.
func Busy(shards int, inside float64) float64 {
	if shards < 1 || !(inside > 0) || math.IsInf(inside, 0) {
		return 0
	}
	s := float64(shards)
	return s * (1 - math.Pow(1-1/s, inside))
}

// PredictedGain is the ratio of throughput at to lanes to that at from lanes,
// for the given number of sessions inside (waiting plus holding): 1 means no
// gain. Below one session the model's lanes would be idle most of the time and
// the ratio is 1. It is absent when inside is.
//
// The model knows lanes only: it leaves out every other thing that producers
// share. With 16 producers of 5 ms transactions a doubling gave ×2.0, ×1.75,
// ×1.63 where the model says ×2.0, ×1.98, ×1.78; so each prediction is kept
// and compared with what came of the change.
func PredictedGain(from, to int, inside Value) Value {
	n, ok := inside.Get()
	if !ok || from < 1 || to < 1 {
		return None()
	}
	if n <= 1 {
		return Some(1)
	}
	return Some(Busy(to, n) / Busy(from, n))
}
