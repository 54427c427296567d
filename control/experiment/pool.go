package experiment

import (
	"maps"
	"math"
	"slices"
)

// pool is the runs of one shape under one setting.
type pool []*Result

func (p pool) over(from func(r *Result) float64) span {
	var sum span
	for _, r := range p {
		sum.add(r.over(from(r)))
	}
	return sum
}

func whole(*Result) float64 { return 0 }

func pools(shape string, results []Result) (own pool, static map[int]pool) {
	static = map[int]pool{}
	for i := range results {
		r := &results[i]
		switch {
		case r.Shape != shape:
		case r.Setting.Static == 0:
			own = append(own, r)
		default:
			static[r.Setting.Static] = append(static[r.Setting.Static], r)
		}
	}
	return own, static
}

// settledAt is when a run of the controller counts as settled.
func (m Margins) settledAt(r *Result) float64 {
	at := 0.0
	for _, c := range r.Changes {
		if c.AtS <= float64(r.Seconds)/2 {
			at = c.AtS + m.SettleS/max(r.Pace, 1)
		}
	}
	return at
}

// best is the static setting to compare with; ok is false without any.
func best(static map[int]pool, m Margins) (int, bool) {
	type candidate struct {
		shards    int
		rate, p99 float64
	}
	var list []candidate
	top := 0.0
	for _, n := range slices.Sorted(maps.Keys(static)) {
		s := static[n].over(whole)
		list = append(list, candidate{n, s.rate(), s.quantile(0.99)})
		top = max(top, s.rate())
	}
	list = slices.DeleteFunc(list, func(c candidate) bool { return c.rate < 0.98*top })
	if len(list) == 0 {
		return 0, false
	}
	low := math.Inf(1)
	for _, c := range list {
		low = min(low, c.p99)
	}
	for _, c := range list {
		if c.p99 <= max(1.10*low, low+m.P99SlackS) {
			return c.shards, true
		}
	}
	return list[0].shards, true
}

// over is a ratio; nothing over nothing is as good as equal.
func over(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	if b == 0 {
		return math.MaxFloat64
	}
	return a / b
}
