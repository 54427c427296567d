package rehearsal

import (
	"math"
	"time"
)

// Histogram counts durations in buckets that grow by an eighth of an octave,
// so a quantile is right within about 9%. The zero value is empty. It is a
// value: copies are independent.
type Histogram struct {
	counts [histogramBuckets]uint64
	total  uint64
}

const (
	histogramBuckets = 224 // 1 µs to about 4 min
	perOctave        = 8
)

func bucketOf(d time.Duration) int {
	us := d.Seconds() * 1e6
	if us <= 1 {
		return 0
	}
	return min(int(math.Log2(us)*perOctave)+1, histogramBuckets-1)
}

func (h *Histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.total++
}

// Count is how many durations were counted.
func (h Histogram) Count() uint64 { return h.total }

// Quantile is the duration in seconds below which a share q, 0..1, of them
// lies: the upper bound of its bucket. 0 when nothing was counted.
func (h Histogram) Quantile(q float64) float64 {
	if h.total == 0 {
		return 0
	}
	rank := max(uint64(math.Ceil(q*float64(h.total))), 1)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			return boundOf(i)
		}
	}
	return boundOf(histogramBuckets - 1)
}

// Bucket counts the durations of at most UpToS seconds that are longer than the
// bucket before.
type Bucket struct {
	UpToS float64
	N     uint64
}

// Buckets are those that hold something, shortest first.
func (h Histogram) Buckets() []Bucket {
	var out []Bucket
	for i, n := range h.counts {
		if n > 0 {
			out = append(out, Bucket{boundOf(i), n})
		}
	}
	return out
}

func boundOf(bucket int) float64 { return math.Exp2(float64(bucket)/perOctave) / 1e6 }

// plus is both histograms together.
func (h Histogram) plus(o Histogram) Histogram {
	for i := range h.counts {
		h.counts[i] += o.counts[i]
	}
	h.total += o.total
	return h
}

// minus is what was counted since an earlier copy.
func (h Histogram) minus(earlier Histogram) Histogram {
	for i := range h.counts {
		h.counts[i] -= min(h.counts[i], earlier.counts[i])
	}
	h.total -= min(h.total, earlier.total)
	return h
}
