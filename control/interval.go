package control

import "math"

// The estimate behind Interval.
//
// Samples of pg_locks a quarter of a second apart are correlated: a queue that
// is crowded now will be crowded in the next sample. The binomial formula on
// raw samples would call 480 samples of two minutes 480 observations and give
// intervals several times too narrow. So:
//
//   - samples are summed into batches, and the share is a ratio of batch sums,
//     R = Σw / Σd with d = w + h. Its variance comes from the residuals
//     e = w − R·d (the delta method for a ratio), so that a crowded batch
//     weighs more than an empty one;
//   - batches shorter than the correlation are correlated too. Their first
//     autocorrelation, corrected for its bias in short series, inflates the
//     variance by (1+ρ)/(1−ρ) and shrinks the degrees of freedom alike. Noise
//     within short batches hides a slow drift from that, so the same is done
//     with neighbours merged into batches twice as long, again and again while
//     there are enough of them, and the widest answer counts;
//   - degrees of freedom count batches by their weight ((Σd)²/Σd²), since a
//     single crowded batch among sixty empty ones is one observation;
//   - one imagined batch, half waiting and half holding, joins the real ones.
//     Batches that are all alike have no residuals, and a width of zero at a
//     share of 1 would claim to know the future. Towards 0 the imagined batch
//     has the mean size of all batches, empty ones included: a queue that
//     nobody visits is quiet, and that is known as well as it was looked at.
//     Towards 1 it has the size of the batches that had somebody in them.

const (
	minBatches = 10   // fewer and there is no interval
	minGroups  = 8    // fewer merged batches say nothing about their scatter
	maxRho     = 0.95 // autocorrelation taken for real at most
)

// estimate fills in mean and interval from batches in time order. It may
// overwrite seq.
func (v *Interval) estimate(seq []cell) {
	v.Batches = len(seq)
	fine := spread(seq)
	v.Mean = Some(fine.ratio)
	if len(seq) < minBatches {
		return
	}
	n := float64(len(seq))
	if fine.total == 0 {
		v.Low, v.High = Some(0), Some(empty(len(seq)).bound(1, +1))
		return
	}
	low, high := fine.bound(fine.total/fine.weighty, -1), fine.bound(fine.total/n, +1)
	for len(seq)/2 >= minGroups {
		seq = merge(seq, len(seq)/2)
		if long := spread(seq); long.total > 0 {
			low = min(low, long.bound(fine.total/fine.weighty, -1))
			high = max(high, long.bound(fine.total/n, +1))
		}
	}
	v.Low, v.High = Some(min(fine.ratio, low)), Some(max(fine.ratio, high))
}

// scatter is what batches of one length say about the share.
type scatter struct {
	ratio   float64 // Σw/Σd
	total   float64 // Σd
	see     float64 // sum of squared residuals w − R·d
	rho     float64 // their autocorrelation, 0..maxRho
	weighty float64 // batches by weight, (Σd)²/Σd²
}

// empty is the scatter of batches with nobody in them: as if one session had
// held a lane in each.
func empty(batches int) scatter {
	return scatter{total: float64(batches), weighty: float64(batches)}
}

func spread(seq []cell) scatter {
	var s scatter
	var sw, sdd float64
	for _, c := range seq {
		d := float64(c.wait) + float64(c.hold)
		sw += float64(c.wait)
		s.total += d
		sdd += d * d
	}
	if s.total == 0 {
		return s
	}
	s.ratio = min(max(sw/s.total, 0), 1)
	s.weighty = s.total * s.total / sdd
	var products, prev float64
	for _, c := range seq {
		e := float64(c.wait) - s.ratio*(float64(c.wait)+float64(c.hold))
		s.see += e * e
		products += prev * e
		prev = e
	}
	if s.see > 0 {
		rho := products / s.see
		s.rho = min(max(rho+(1+3*rho)/float64(len(seq)), 0), maxRho)
	}
	return s
}

// merge sums neighbouring batches of seq, in place, into the given number of
// longer ones; what does not fill the last one evenly goes into it too.
func merge(seq []cell, groups int) []cell {
	size := len(seq) / groups
	for g := range groups {
		first, end := g*size, (g+1)*size
		if g == groups-1 {
			end = len(seq)
		}
		var sum cell
		for _, c := range seq[first:end] {
			sum.add(c)
		}
		seq[g] = sum
	}
	return seq[:groups]
}

// bound is one end of the interval: side is -1 for the lower, +1 for the
// upper; extra is the size of the imagined batch.
func (s scatter) bound(extra, side float64) float64 {
	all := s.total + extra
	centre := (s.ratio*s.total + extra/2) / all
	imagined := extra * extra / 2 * (s.ratio*s.ratio + (1-s.ratio)*(1-s.ratio))
	inflate := (1 + s.rho) / (1 - s.rho)
	variance := s.see*inflate*s.weighty/max(s.weighty-1, 0.5) + imagined
	half := student(s.weighty/inflate-1) * math.Sqrt(variance) / all
	return min(max(centre+side*half, 0), 1)
}

// studentTable holds the 97.5% quantile of Student's t by degrees of freedom.
var studentTable = [...]struct{ df, t float64 }{
	{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {5, 2.571}, {6, 2.447}, {7, 2.365}, {8, 2.306},
	{9, 2.262}, {10, 2.228}, {12, 2.179}, {15, 2.131}, {20, 2.086}, {30, 2.042}, {60, 2.000},
}

// student interpolates the table in 1/df; below one degree it stays at one.
func student(df float64) float64 {
	last := studentTable[0]
	if !(df > last.df) {
		return last.t
	}
	for _, e := range studentTable[1:] {
		if df <= e.df {
			f := (1/last.df - 1/df) / (1/last.df - 1/e.df)
			return last.t + f*(e.t-last.t)
		}
		last = e
	}
	return 1.960 + (last.t-1.960)*last.df/df
}
