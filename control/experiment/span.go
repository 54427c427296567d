package experiment

import (
	"cmp"
	"math"
	"slices"
)

// span is the sum of a run's bins from some moment on.
type span struct {
	seconds float64
	jobs    uint64
	shardS  float64
	buckets []Bucket // by bound
}

// over sums the bins that begin at the given second or later; the last one if
// none does.
func (r *Result) over(from float64) span {
	var s span
	first := len(r.Bins) - 1
	for i := range r.Bins {
		if r.Bins[i].AtS >= from {
			first = i
			break
		}
	}
	byBound := map[float64]uint64{}
	for _, b := range r.Bins[max(first, 0):] {
		s.seconds += b.Seconds
		s.jobs += b.Jobs
		s.shardS += b.ShardS
		for _, l := range b.Latency {
			byBound[l.UpToS] += l.N
		}
	}
	s.buckets = sorted(byBound)
	return s
}

func sorted(byBound map[float64]uint64) []Bucket {
	var out []Bucket
	for bound, n := range byBound {
		out = append(out, Bucket{bound, n})
	}
	slices.SortFunc(out, func(a, b Bucket) int { return cmp.Compare(a.UpToS, b.UpToS) })
	return out
}

// add takes another run's sum in.
func (s *span) add(o span) {
	s.seconds += o.seconds
	s.jobs += o.jobs
	s.shardS += o.shardS
	byBound := map[float64]uint64{}
	for _, b := range s.buckets {
		byBound[b.UpToS] += b.N
	}
	for _, b := range o.buckets {
		byBound[b.UpToS] += b.N
	}
	s.buckets = sorted(byBound)
}

func (s span) rate() float64 {
	if s.seconds == 0 {
		return 0
	}
	return float64(s.jobs) / s.seconds
}

// quantile is the latency below which a share q lies, interpolated within its
// bucket on the logarithmic scale; 0 when nothing was counted.
func (s span) quantile(q float64) float64 {
	var total, seen float64
	for _, b := range s.buckets {
		total += float64(b.N)
	}
	if total == 0 {
		return 0
	}
	rank := q * total
	for i, b := range s.buckets {
		if n := float64(b.N); seen+n >= rank || i == len(s.buckets)-1 {
			low := b.UpToS / math.Exp2(1.0/perOctave)
			if i > 0 {
				low = max(low, s.buckets[i-1].UpToS)
			}
			if low <= 0 {
				return b.UpToS
			}
			return low * math.Pow(b.UpToS/low, min(max((rank-seen)/n, 0), 1))
		}
		seen += float64(b.N)
	}
	return 0
}
