package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// moody gives each seed a controller of its own: the rate it reaches where the
// best count reaches 100.
type moody struct {
	rate     map[uint64]float64
	reversal uint64 // the seed with which there is one
	failAt   int    // the run that fails, from 1
	ran      []Job
}

var errMoody = errors.New("not today")

func (m *moody) Run(_ context.Context, job Job) (Result, error) {
	m.ran = append(m.ran, job)
	if len(m.ran) == m.failAt {
		return Result{}, errMoody
	}
	rate := 100.0
	if job.Setting.Static == 0 && job.Shape == "steady" {
		rate = m.rate[job.Seed]
	}
	r := madeUp(job.Shape, job.Setting.Static, job.Seed, rate, 10)
	r.Job = job
	if m.reversal == job.Seed && job.Setting.Static == 0 && job.Shape == "steady" {
		r.Reversals = 1
	}
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

// TestRoundsOfAFullCampaignCountTogether: one good round does not make up for
// bad ones, and what counts what must not happen is not tried again.
func TestRoundsOfAFullCampaignCountTogether(t *testing.T) {
	plan := Plan{Shapes: []string{"steady", "idle"}, Static: []int{1, 2}, Seeds: []uint64{1}, Seconds: 600, Margins: FullMargins(), Pool: true}
	for name, tc := range map[string]struct {
		rates    map[uint64]float64
		againS   int
		reversal uint64 // in the round with this seed
		runs     int
		passed   bool
	}{
		"good at once":            {map[uint64]float64{1: 99}, 9000, 0, 6, true},
		"a little unlucky":        {map[uint64]float64{1: 93, 2: 99}, 9000, 0, 8, true},
		"unlucky twice":           {map[uint64]float64{1: 91, 2: 95, 3: 104}, 9000, 0, 10, true},
		"one good time of three":  {map[uint64]float64{1: 80, 2: 80, 3: 100, 4: 200}, 9000, 0, 10, false},
		"no time for the third":   {map[uint64]float64{1: 91, 2: 95, 3: 104}, 2399, 0, 8, false},
		"a reversal ends it":      {map[uint64]float64{1: 93, 2: 99}, 9000, 1, 6, false},
		"also in the second time": {map[uint64]float64{1: 93, 2: 93, 3: 104}, 9000, 2, 8, false},
	} {
		bench := &moody{rate: tc.rates, reversal: tc.reversal}
		plan.AgainS = tc.againS
		gate := Gate{Bench: bench, Now: time.Now}
		book, v, err := gate.Run(context.Background(), NewBook(plan, nil))
		if err != nil || v.Passed != tc.passed || len(bench.ran) != tc.runs {
			t.Errorf("%s: passed %v after %d runs, %v", name, v.Passed, len(bench.ran), err)
		}
		if _, again, err := gate.Run(context.Background(), book); err != nil || again.Passed != tc.passed || len(bench.ran) != tc.runs {
			t.Errorf("%s: a finished campaign was played again: %d runs", name, len(bench.ran))
		}
		if words, rounds := book.againWords(), (tc.runs-6)/2; rounds == 0 && words != "" || rounds > 0 && !strings.Contains(words, fmt.Sprintf("steady ×%d; a line had failed, and all rounds count together", rounds)) {
			t.Errorf("%s: %d further rounds are told as %q", name, rounds, words)
		}
	}
}

// TestAVerdictSaysOfWhatPartOfTheGateItIs: less of anything is not the gate.
func TestAVerdictSaysOfWhatPartOfTheGateItIs(t *testing.T) {
	for _, whole := range []Plan{FullPlan(), QuickPlan(), SimulatedPlan()} {
		if part := whole.Part(); part != "" {
			t.Errorf("the whole is told as %s", part)
		}
		more := whole
		more.Seeds = []uint64{1, 2, 3}
		if part := more.Part(); part != "" {
			t.Errorf("more than the whole is told as %s", part)
		}
		for want, less := range map[string]func(*Plan){
			"of the shapes idle":    func(p *Plan) { p.Shapes = []string{"idle"} },
			"of the fixed counts 2": func(p *Plan) { p.Static = []int{2} },
			"in shorter runs":       func(p *Plan) { p.Seconds, p.Lengths = 5, nil },
		} {
			p := whole
			if less(&p); p.Part() != want {
				t.Errorf("told as %q, want %q", p.Part(), want)
			}
		}
	}
	p := FullPlan()
	if p.Pace = 10; p.Part() != "at another pace" {
		t.Errorf("another pace is told as %q", p.Part())
	}
}

// TestAFurtherRoundThatWasCutShortGoesOn: its first run is kept, does not count
// by itself, and is not made again.
func TestAFurtherRoundThatWasCutShortGoesOn(t *testing.T) {
	plan := Plan{Shapes: []string{"steady"}, Static: []int{1, 2}, Seeds: []uint64{1}, Seconds: 600, Margins: FullMargins(), AgainS: 9000, Pool: true}
	bench := &moody{rate: map[uint64]float64{1: 93, 2: 99}, failAt: 5}
	gate := Gate{Bench: bench, Now: time.Now, Folder: Folder(t.TempDir())}
	begin := func() (Book, Verdict, error) {
		book, err := gate.Folder.Open(plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		return gate.Run(context.Background(), book)
	}
	book, v, err := begin()
	if !errors.Is(err, errMoody) || len(book.Results) != 4 || v.Passed {
		t.Fatalf("%d results, passed %v, %v", len(book.Results), v.Passed, err)
	}
	if l := lineOf(t, v, "steady", MetricSettled); l.Value > 0.94 {
		t.Errorf("half a round counts: %+v", l)
	}
	bench.failAt = 0
	book, v, err = begin()
	if err != nil || !v.Passed || len(book.Results) != 5 || len(bench.ran) != 6 {
		t.Errorf("%d results after %d runs, passed %v, %v", len(book.Results), len(bench.ran), v.Passed, err)
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
		} else if want := max(1.10, (tc.static+2)/tc.static); tc.own > 1.10*tc.static && math.Abs(l.Limit-want) > 0.01*want {
			t.Errorf("%v against %v ms: the limit is %v, want %v", tc.own, tc.static, l.Limit, want)
		}
	}
}

// TestTheCampaignsEndInTime: the quick one with its second round below five
// minutes, the full one with its further rounds within 72, and both play every shape under the
// controller and a count.
func TestTheCampaignsEndInTime(t *testing.T) {
	for _, tc := range []struct {
		plan  Plan
		limit time.Duration
	}{{QuickPlan(), 270 * time.Second}, {FullPlan(), 72 * time.Minute}} {
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
