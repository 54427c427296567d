package experiment

import (
	"math"
	"testing"
	"time"
)

// bare is a machine on which nothing but the hold takes time.
func bare() Machine { return Machine{Cores: 64} }

// TestWaitShareOfARandomQueueIsItsUtilisation holds the events against queueing
// theory: in an M/M/1 queue Lq = ρ²/(1−ρ), so Lq/(Lq+ρ) is ρ.
func TestWaitShareOfARandomQueueIsItsUtilisation(t *testing.T) {
	for _, rho := range []float64{0.2, 0.5, 0.8} {
		load := Load{Sessions: 400, Rate: rho * 100, Hold: 10 * time.Millisecond, Kind: HoldExponential, Quiet: true}
		wait, hold, jobs := playFor(t, bare(), load, 1, 3000)
		if share := wait / (wait + hold); math.Abs(share-rho) > 0.04 {
			t.Errorf("utilisation %.1f: wait share %.3f", rho, share)
		}
		if got := jobs / 3000; math.Abs(got/load.Rate-1) > 0.03 {
			t.Errorf("%.0f jobs/s arrive, %.1f were enqueued", load.Rate, got)
		}
	}
}

// TestLittlesLawHolds: the sessions seen waiting and holding are the rate times
// the time an enqueue spends there, for every kind of load.
func TestLittlesLawHolds(t *testing.T) {
	m := DefaultMachine()
	m.Outside = 0
	skewed := Load{Sessions: 16, Hold: 5 * time.Millisecond, Keys: 100, Zipf: 1.5}
	for _, load := range []Load{{Sessions: 16, Hold: 5 * time.Millisecond}, {Sessions: 32}, skewed, {Sessions: 12, Think: 20 * time.Millisecond, Hold: 3 * time.Millisecond, Kind: HoldLognormal}} {
		for _, shards := range []int{1, 4} {
			c := newCrowd(m, load, shards, 7)
			var inside, latency, n float64
			c.run(warmUp)
			c.sink = func(b beat) {
				inside += (b.wait + b.hold) / perBeat
				for i, k := range b.latency.dense {
					latency += float64(k) * boundOf(i) / math.Exp2(0.5/perOctave)
					n += float64(k)
				}
			}
			c.run(warmUp + 300)
			// Buckets of a quarter octave know a mean within about a tenth.
			if ratio := inside / latency; ratio < 0.85 || ratio > 1.15 {
				t.Errorf("%+v at %d shards: %.2f sessions inside, rate × time %.2f", load, shards, inside/300, latency/300)
			}
			if n == 0 {
				t.Errorf("%+v at %d shards: nothing was enqueued", load, shards)
			}
		}
	}
}

// TestNotifyBoundsWhatManyLanesCanDo: commits that notify go one at a time, so
// lanes beyond a few move the line from the lanes to NOTIFY and no more.
func TestNotifyBoundsWhatManyLanesCanDo(t *testing.T) {
	m := DefaultMachine()
	limit := 1 / (m.Commit + m.Flush + m.Handoff).Seconds()
	c := newCrowd(m, Load{Sessions: 32}, 16, 3)
	var causes [3]float64
	c.sink = func(b beat) {
		for i := range causes {
			causes[i] += b.causes[i]
		}
	}
	c.run(60)
	if rate := float64(c.enqueued) / 60; rate > 1.05*limit || rate < 0.8*limit {
		t.Errorf("%.0f jobs/s, NOTIFY allows %.0f", rate, limit)
	}
	if causes[behindNotify] < 3*causes[behindLane] {
		t.Errorf("waits behind lanes %.0f, behind NOTIFY %.0f", causes[behindLane], causes[behindNotify])
	}
}

// TestAStuckTransactionIsSeenAsStuck and stops the sessions of its lane only.
func TestAStuckTransactionIsSeenAsStuck(t *testing.T) {
	load := steadyLoad()
	load.Stuck = true
	var stuck, other float64
	c := newCrowd(DefaultMachine(), load, 1, 3)
	c.sink = func(b beat) { stuck += b.causes[behindStuck]; other += b.causes[behindLane] + b.causes[behindNotify] }
	c.run(20)
	if c.enqueued != 0 || other != 0 || stuck == 0 {
		t.Errorf("one lane: %d enqueued, %.0f waits behind the stuck holder, %.0f elsewhere", c.enqueued, stuck, other)
	}
	c = newCrowd(DefaultMachine(), load, 2, 3)
	c.run(20)
	if got := c.lanes[1].enqueued; got < 1000 || c.lanes[0].enqueued != 0 {
		t.Errorf("two lanes: %d and %d enqueued", c.lanes[0].enqueued, got)
	}
}

func playFor(t *testing.T, m Machine, load Load, shards int, seconds float64) (wait, hold, jobs float64) {
	t.Helper()
	c := newCrowd(m, load, shards, 11)
	c.run(warmUp)
	c.sink = func(b beat) { wait += b.wait; hold += b.hold; jobs += float64(b.jobs) }
	c.run(warmUp + seconds)
	return wait, hold, jobs
}
