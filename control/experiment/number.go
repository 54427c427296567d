package experiment

import (
	"math"
	"strconv"
)

// short prints a number with three figures, without an exponent.
func short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || a == math.MaxFloat64 || math.IsInf(v, 0):
		return "n/a"
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
