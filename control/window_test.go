package control

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// trace simulates sessions at a queue: each of n sessions is inside or away
// (both exponential), and those inside wait with a probability that follows a
// slow latent level of correlation time tau, so that neighbouring samples are
// alike. The true share is found from a very long run.
type trace struct {
	rng   *rand.Rand
	tau   float64 // seconds
	share float64
	wild  float64 // how far the level swings
	level float64 // AR(1), standard normal
	crowd float64 // AR(1), standard normal
}

func (t *trace) sample(dt float64) (w, h float64) {
	a := math.Exp(-dt / t.tau)
	b := math.Sqrt(1 - a*a)
	t.level = a*t.level + b*t.rng.NormFloat64()
	t.crowd = a*t.crowd + b*t.rng.NormFloat64()
	p := 1 / (1 + math.Exp(-(math.Log(t.share/(1-t.share)) + t.wild*t.level)))
	inside := int(math.Exp(1.5 + 0.5*t.crowd))
	for range inside {
		if t.rng.Float64() < p {
			w++
		} else {
			h++
		}
	}
	return w, h
}

func (t *trace) truth(dt float64) float64 {
	var sw, sd float64
	for range 400_000 {
		w, h := t.sample(dt)
		sw += w
		sd += w + h
	}
	return sw / sd
}

func TestIntervalCoversTheShareOfCorrelatedTraces(t *testing.T) {
	t.Parallel()
	const dt = 0.25
	truths := map[[2]float64]float64{}
	spans := []time.Duration{30 * time.Second, 2 * time.Minute, 30 * time.Minute}
	if underRace {
		spans = spans[1:2]
	}
	for _, span := range spans {
		runs := 300
		if span > 5*time.Minute {
			runs = 60
		}
		// Batches are 2 s (14 s over half an hour). A span of fewer than five
		// correlation times holds too little to know its own scatter: at 12 s in
		// 30 s coverage was measured as 0.85, so the shortest span stops at 6 s.
		long := 12.0
		if span < time.Minute {
			long = 6
		}
		for _, tau := range []float64{0.1, 1, 4, long} {
			for _, share := range []float64{0.03, 0.25, 0.6, 0.95} {
				name := fmt.Sprintf("%v tau=%gs share=%g", span, tau, share)
				seed := uint64(span) + uint64(tau*1000) + uint64(share*1e6)
				tr := &trace{rng: rand.New(rand.NewPCG(seed, 7)), tau: tau, share: share, wild: 0.6}
				truth, ok := truths[[2]float64{tau, share}]
				if !ok {
					truth = tr.truth(dt)
					truths[[2]float64{tau, share}] = truth
				}
				hit, width := 0, 0.0
				for range runs {
					w := NewWindow(30*time.Minute, 2*time.Second)
					at := epoch
					for at.Sub(epoch) < span {
						var sw, sh float64
						for range 4 {
							x, y := tr.sample(dt)
							sw, sh = sw+x, sh+y
						}
						at = at.Add(time.Second)
						w.Add(at, sw, sh, 4)
					}
					iv := w.Share(at, span)
					low, ok1 := iv.Low.Get()
					high, ok2 := iv.High.Get()
					if !ok1 || !ok2 {
						t.Fatalf("%s: no interval from %d batches", name, iv.Batches)
					}
					if low <= truth && truth <= high {
						hit++
					}
					width += (high - low) / float64(runs)
				}
				coverage := float64(hit) / float64(runs)
				t.Logf("%-32s true %.3f coverage %.3f mean width %.3f", name, truth, coverage, width)
				if coverage < 0.90 {
					t.Errorf("%s: %.3f of the intervals hold the true share %.3f, want 0.90", name, coverage, truth)
				}
			}
		}
	}
}

func TestShareIsAbsentWithoutSamplesAndZeroWithNobodyThere(t *testing.T) {
	w := NewWindow(30*time.Minute, 2*time.Second)
	if iv := w.Share(epoch, time.Minute); iv.Mean.OK() || iv.Low.OK() || iv.High.OK() || iv.Samples != 0 {
		t.Fatalf("a window without samples says %+v", iv)
	}
	w.Add(epoch, 3, 1, 0)
	if iv := w.Share(epoch, time.Minute); iv.Mean.OK() {
		t.Fatalf("sums over no samples say %+v", iv)
	}
	fill(w, epoch, time.Minute, 0, 0)
	iv := w.Share(epoch.Add(time.Minute), 30*time.Second)
	if mean, ok := iv.Mean.Get(); !ok || mean != 0 {
		t.Fatalf("nobody there: mean %v, want 0", iv.Mean)
	}
	if iv.Samples != 120 || iv.SpanS != 30 || iv.Batches != 15 {
		t.Errorf("nobody there: %+v, want 120 samples in 15 batches over 30 s", iv)
	}
	if iv := w.Share(epoch.Add(time.Hour), time.Minute); iv.Mean.OK() {
		t.Errorf("an hour later the window still says %+v", iv)
	}
}

// fill adds a reading a second, four samples each, over (from, from+span].
func fill(w *Window, from time.Time, span time.Duration, waiting, holding float64) {
	for at := from.Add(time.Second); !at.After(from.Add(span)); at = at.Add(time.Second) {
		w.Add(at, 4*waiting, 4*holding, 4)
	}
}

func TestFewerThanTenBatchesGiveNoInterval(t *testing.T) {
	for seconds, want := range map[int]bool{2: false, 18: false, 20: true} {
		w := NewWindow(30*time.Minute, 2*time.Second)
		fill(w, epoch, time.Duration(seconds)*time.Second, 2, 1)
		iv := w.Share(epoch.Add(time.Duration(seconds)*time.Second), 2*time.Minute)
		if !iv.Mean.OK() || iv.Low.OK() != want || iv.High.OK() != want {
			t.Errorf("%d s: %+v, want an interval: %v", seconds, iv, want)
		}
	}
}

func TestBatchesAllAlikeDoNotClaimCertainty(t *testing.T) {
	for _, c := range []struct{ waiting, holding float64 }{{5, 0}, {15, 1}, {1, 1}, {0, 2}, {0, 0}} {
		previous := 1.0
		spans := []time.Duration{30 * time.Second, 2 * time.Minute, 30 * time.Minute}
		if underRace {
			spans = spans[1:2]
		}
		for _, span := range spans {
			w := NewWindow(30*time.Minute, 2*time.Second)
			fill(w, epoch, span, c.waiting, c.holding)
			iv := w.Share(epoch.Add(span), span)
			mean, low, high := iv.Mean.Or(-1), iv.Low.Or(-1), iv.High.Or(-1)
			if !(low <= mean && mean <= high && low >= 0 && high <= 1) {
				t.Fatalf("%+v over %v: mean %v outside [%v, %v]", c, span, mean, low, high)
			}
			width := high - low
			if width < 0.005 {
				t.Errorf("%+v over %v: width %v claims certainty", c, span, width)
			}
			if width >= previous {
				t.Errorf("%+v over %v: width %v, no narrower than over the shorter span (%v)", c, span, width, previous)
			}
			previous = width
		}
		if c.waiting == 0 && previous >= 0.05 {
			t.Errorf("half an hour without a waiter leaves %v, too much ever to shrink", previous)
		}
	}
}

func TestOneCrowdedBatchIsOneObservation(t *testing.T) {
	w := NewWindow(30*time.Minute, 2*time.Second)
	fill(w, epoch, time.Minute, 0, 0)
	fill(w, epoch.Add(time.Minute), 2*time.Second, 9, 1)
	fill(w, epoch.Add(62*time.Second), 58*time.Second, 0, 0)
	iv := w.Share(epoch.Add(2*time.Minute), 2*time.Minute)
	if mean := iv.Mean.Or(0); math.Abs(mean-0.9) > 1e-6 {
		t.Errorf("mean %v, want 0.9: empty samples weigh nothing", mean)
	}
	if low := iv.Low.Or(1); low > 0.25 {
		t.Errorf("two seconds of crowd in two minutes give low %v: enough to grow on", low)
	}
}

func TestShareForgetsWhatLeftTheSpan(t *testing.T) {
	w := NewWindow(30*time.Minute, 2*time.Second)
	fill(w, epoch, time.Minute, 3, 1)
	fill(w, epoch.Add(time.Minute), 2*time.Minute, 0, 1)
	end := epoch.Add(3 * time.Minute)
	for span, want := range map[time.Duration]float64{2 * time.Minute: 0, 3 * time.Minute: 0.5} {
		if mean := w.Share(end, span).Mean.Or(-1); math.Abs(mean-want) > 1e-6 {
			t.Errorf("over %v: %v, want %v", span, mean, want)
		}
	}
	if mean := w.Share(epoch.Add(time.Minute), time.Minute).Mean.Or(-1); math.Abs(mean-0.75) > 1e-6 {
		t.Errorf("a span that ended earlier: %v, want 0.75", mean)
	}
	w.Add(epoch.Add(-time.Hour), 100, 0, 4) // long before the window
	if mean := w.Share(end, 3*time.Minute).Mean.Or(-1); math.Abs(mean-0.5) > 1e-6 {
		t.Errorf("a sample from before the window counted: %v", mean)
	}
	w.Reset()
	if iv := w.Share(end, 3*time.Minute); iv.Mean.OK() {
		t.Errorf("after Reset: %+v", iv)
	}
}

func TestQuietSpellsCountTheSameBeforeAndAfterSomebodyCame(t *testing.T) {
	w := NewWindow(30*time.Minute, 2*time.Second)
	fill(w, epoch, 40*time.Minute, 0, 0)
	end := epoch.Add(40 * time.Minute)
	quiet := w.Share(end, 30*time.Minute)
	w.Add(end, 0, 0.001, 1)
	spans := []time.Duration{30 * time.Second, 2 * time.Minute, 30 * time.Minute}
	if underRace {
		spans = spans[1:2]
	}
	for _, span := range spans {
		iv := w.Share(end, span)
		want := span.Seconds() * 4
		if math.Abs(float64(iv.Samples)-want) > want/50+8 || iv.Mean.Or(-1) != 0 {
			t.Errorf("over %v: %+v, want about %v samples", span, iv, want)
		}
	}
	if math.Abs(float64(quiet.Samples)-7200) > 100 {
		t.Errorf("half an hour of quiet: %d samples, want about 7200", quiet.Samples)
	}
	fill(w, end, 31*time.Minute, 0, 0)
	if w.fine.cells != nil {
		t.Error("a queue nobody visited for a whole span still takes memory")
	}
	if n := w.Share(end.Add(31*time.Minute), 30*time.Minute).Samples; n < 7000 || n > 7300 {
		t.Errorf("back in the idle form: %d samples, want about 7200", n)
	}
}

func TestAGapInAnIdleRunIsNotCountedAsSeen(t *testing.T) {
	w := NewWindow(30*time.Minute, 2*time.Second)
	fill(w, epoch, 10*time.Minute, 0, 0)
	fill(w, epoch.Add(20*time.Minute), time.Minute, 0, 0)
	if iv := w.Share(epoch.Add(21*time.Minute), 30*time.Minute); iv.Samples > 240 {
		t.Errorf("%d samples claimed across a gap of ten minutes, 240 were taken since", iv.Samples)
	}
}

func TestAddDoesNotAllocateInSteadyState(t *testing.T) {
	for name, waiting := range map[string]float64{"idle": 0, "busy": 3} {
		w := NewWindow(30*time.Minute, 2*time.Second)
		at := epoch
		fill(w, at, time.Minute, waiting, 0)
		at = at.Add(time.Minute)
		if n := testing.AllocsPerRun(5000, func() {
			at = at.Add(time.Second)
			w.Add(at, 4*waiting, 0, 4)
			w.Share(at, 2*time.Minute)
			w.Share(at, 30*time.Minute)
		}); n != 0 {
			t.Errorf("%s: %v allocations a round, want none", name, n)
		}
	}
}

func TestOddLengthsAndTimesAreOrdinaryInput(t *testing.T) {
	for _, c := range [][2]time.Duration{{0, 0}, {-1, -1}, {time.Second, time.Hour}, {time.Hour, 1}, {7*time.Second + 3, 3}} {
		w := NewWindow(c[0], c[1])
		for _, at := range []time.Time{{}, epoch, epoch.Add(-time.Hour), time.Unix(0, 0), epoch.Add(5)} {
			w.Add(at, 1, 1, 3)
			w.Add(at, 0, 0, 2)
			for _, span := range []time.Duration{-1, 0, time.Second, 1 << 60} {
				if iv := w.Share(at, span); iv.Mean.Or(0) < 0 || iv.High.Or(1) > 1 {
					t.Fatalf("%v at %v over %v: %+v", c, at, span, iv)
				}
			}
		}
	}
}

func TestStudentFallsTowardsTheNormalQuantile(t *testing.T) {
	previous := math.Inf(1)
	for df := 1.0; df < 500; df *= 1.07 {
		q := student(df)
		if q > previous || q < 1.96 {
			t.Fatalf("t(%v) = %v after %v: must fall towards 1.960", df, q, previous)
		}
		previous = q
	}
}

func BenchmarkShareOf10000Queues(b *testing.B) {
	all := make([]*Window, 10_000)
	for i := range all {
		all[i] = NewWindow(30*time.Minute, 2*time.Second)
		fill(all[i], epoch, 3*time.Minute, float64(i%20/19), 1)
	}
	at := epoch.Add(3 * time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(time.Second)
		for i, w := range all {
			w.Add(at, float64(i%20/19)*4, 4, 4)
			w.Share(at, 2*time.Minute)
		}
	}
}
