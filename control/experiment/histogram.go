package experiment

import "math"

// Histogram counts times in buckets that grow by a quarter of an octave. The
// zero value is empty.
type Histogram struct {
	counts [buckets]uint64
}

const (
	buckets    = 80 // from 0.1 ms to about 100 s
	perOctave  = 4
	firstBound = 1e-4 // s
)

func bucketOf(seconds float64) int {
	if seconds <= firstBound {
		return 0
	}
	return min(int(math.Log2(seconds/firstBound)*perOctave)+1, buckets-1)
}

func boundOf(i int) float64 { return firstBound * math.Exp2(float64(i)/perOctave) }

func (h *Histogram) addAll(few *latencies) {
	for _, b := range few.buckets {
		h.counts[b.at] += uint64(b.n)
	}
}

// list is the histogram's buckets that hold something.
func (h *Histogram) list() []Bucket {
	out := []Bucket{}
	for i, n := range h.counts {
		if n > 0 {
			out = append(out, Bucket{UpToS: math.Round(boundOf(i)*1e6) / 1e6, N: n})
		}
	}
	return out
}

// latencies is the histogram of one second: few buckets are in use.
type latencies struct {
	dense   [buckets]uint16
	buckets []bucket
}

type bucket struct {
	at uint8
	n  uint16
}

func (l *latencies) add(seconds float64) {
	if b := &l.dense[bucketOf(seconds)]; *b < math.MaxUint16 {
		*b++
	}
}

// pack leaves only the buckets in use.
func (l *latencies) pack() []bucket {
	var out []bucket
	for i, n := range l.dense {
		if n > 0 {
			out = append(out, bucket{uint8(i), n})
		}
	}
	return out
}
