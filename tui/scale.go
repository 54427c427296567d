package tui

import (
	"math"
	"strconv"
)

// niceTop rounds the top of a scale up to 1, 2, 3, 5 or 8 times a power of
// ten, and to least at the lowest, so that a scale stays put while the values
// under it wander. NaN and infinities count as nothing.
func niceTop(v, least float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= least {
		return least
	}
	mag := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range [...]float64{1, 2, 3, 5, 8, 10} {
		if v <= f*mag*(1+1e-9) {
			return f * mag
		}
	}
	return 10 * mag
}

// level is the height of v on a scale of 0..top in steps: 0 for zero, at least
// 1 for anything above it, at most steps; -1 for a gap.
func level(v, top float64, steps int) int {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return -1
	case v <= 0 || !(top > 0) || steps <= 0:
		return 0
	}
	return min(max(int(math.Round(v/top*float64(steps))), 1), steps)
}

// scaleLabel prints a value on an axis as short as it goes.
func scaleLabel(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case v >= 999.5:
		return countOf(v)
	case v >= 9.95 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func percentLabel(v float64) string { return strconv.Itoa(int(math.Round(v*100))) + "%" }
