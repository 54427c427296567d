package experiment

import (
	"context"
	"slices"
	"testing"
	"time"
)

// moody gives each seed a controller of its own: the rate it reaches where the
// best count reaches 100.
type moody struct {
	rate map[uint64]float64
	ran  []Job
}

func (m *moody) Run(_ context.Context, job Job) (Result, error) {
	m.ran = append(m.ran, job)
	rate := 100.0
	if job.Setting.Static == 0 && job.Shape == "steady" {
		rate = m.rate[job.Seed]
	}
	r := madeUp(job.Shape, job.Setting.Static, job.Seed, rate, 10)
	r.Job = job
	return r, nil
}

// TestWhatFailsByChanceIsMeasuredOnceMore: the second time counts, either way,
// and only the failed shape is played, with its best count and another seed.
func TestWhatFailsByChanceIsMeasuredOnceMore(t *testing.T) {
	plan := Plan{Shapes: []string{"steady", "idle"}, Static: []int{1, 2}, Seeds: []uint64{1, 2}, Seconds: 600, Margins: FullMargins(), AgainS: 1200}
	for name, tc := range map[string]struct {
		rates  map[uint64]float64
		againS int
		runs   int
		passed bool
	}{
		"good at once":         {map[uint64]float64{1: 99, 2: 99}, 1200, 12, true},
		"good the second time": {map[uint64]float64{1: 50, 2: 50, 3: 99}, 1200, 14, true},
		"bad both times":       {map[uint64]float64{1: 50, 2: 50, 3: 50}, 1200, 14, false},
		"no time for it":       {map[uint64]float64{1: 50, 2: 50, 3: 99}, 1199, 12, false},
	} {
		bench := &moody{rate: tc.rates}
		plan.AgainS = tc.againS
		gate := Gate{Bench: bench, Now: time.Now}
		book, v, err := gate.Run(context.Background(), NewBook(plan, nil))
		if err != nil || v.Passed != tc.passed || len(bench.ran) != tc.runs {
			t.Errorf("%s: passed %v after %d runs, %v", name, v.Passed, len(bench.ran), err)
		}
		for _, job := range bench.ran[12:] {
			if job.Shape != "steady" || job.Seed != 3 || job.Setting.Static > 1 {
				t.Errorf("%s: measured once more: %+v", name, job)
			}
		}
		if _, again, err := gate.Run(context.Background(), book); err != nil || again.Passed != tc.passed || len(bench.ran) != tc.runs {
			t.Errorf("%s: a finished campaign was played again: %d runs", name, len(bench.ran))
		}
	}
}

// TestAStaticRunMayBeShorterThanTheControllers where the load repeats itself:
// the controller's settled part is held against the whole of it.
func TestAStaticRunMayBeShorterThanTheControllers(t *testing.T) {
	brief := madeUp("steady", 8, 1, 880, 20)
	brief.Seconds, brief.Bins = 120, brief.Bins[:2]
	brief.Bins[1].Jobs /= 2 // were only the end compared, this would halve it
	brief.Complete()
	v := Judge([]Result{brief, grown("steady", 1, 600, 660, 20, 8)}, FullMargins())
	if l := lineOf(t, v, "steady", MetricSettled); l.Value != 1 {
		t.Errorf("%+v", l)
	}
}

// TestTheLatencyLineKnowsWhatIsNoDifference, and what was not measured.
func TestTheLatencyLineKnowsWhatIsNoDifference(t *testing.T) {
	for _, tc := range []struct {
		own, static float64
		want        Standing
	}{{2, 1, Passed}, {3.9, 2, Passed}, {4.1, 2, Failed}, {120, 100, Failed}, {109, 100, Passed}, {0, 100, Missing}} {
		own := madeUp("idle", 0, 1, 10, tc.own)
		if tc.own == 0 {
			for i := range own.Bins {
				own.Bins[i].Latency = nil
			}
		}
		v := Judge([]Result{own, madeUp("idle", 1, 1, 10, tc.static)}, FullMargins())
		if l := lineOf(t, v, "idle", MetricP99); l.Standing != tc.want {
			t.Errorf("%v against %v ms: %+v", tc.own, tc.static, l)
		}
	}
}

// TestTheCampaignsEndInTime: the quick one with its second round below five
// minutes, the full one within half an hour, and both play every shape under the
// controller and a count.
func TestTheCampaignsEndInTime(t *testing.T) {
	for _, tc := range []struct {
		plan  Plan
		limit time.Duration
	}{{QuickPlan(), 270 * time.Second}, {FullPlan(), 30 * time.Minute}} {
		jobs := tc.plan.Jobs()
		if took := Expected(jobs) + time.Duration(tc.plan.AgainS)*time.Second; took > tc.limit {
			t.Errorf("%v, may take %v", took, tc.limit)
		}
		for _, s := range Shapes() {
			for _, static := range []bool{true, false} {
				if !slices.ContainsFunc(jobs, func(j Job) bool { return j.Shape == s.Name && (j.Setting.Static > 0) == static }) {
					t.Errorf("%s is not played, static %v", s.Name, static)
				}
			}
		}
	}
}
