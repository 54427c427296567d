package experiment

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"shardpilot/control"
)

// Trial is one policy of a sweep: thresholds that differ from the defaults.
type Trial struct {
	Name string
	Set  []string // "Name=value" each
}

// Score is what a trial came to in one shape, over all seeds.
type Score struct {
	Shape     string
	Regret    float64 // part of the best static setting's throughput that was lost, over the whole run
	P99       float64 // ratio of p99 latency to that setting's
	Changes   float64 // a day
	Reversals float64 // a day
	Held      int     // seeds that ended held as oscillating
	Shards    float64 // mean count over the best static setting's
	Broken    int     // promises
}

// SweepRow is a trial with its scores, in the order of the shapes.
type SweepRow struct {
	Trial
	Scores []Score
}

// SweepPlan is what a sweep plays on the simulator.
type SweepPlan struct {
	Shapes  []string
	Static  []int
	Seeds   []uint64
	Seconds int
	Trials  []Trial // the defaults come first by themselves
	// Every and DecideEach are those of Options.
	Every, DecideEach int
	Base              *control.Policy // that the trials start from, nil for the defaults
}

// Sweep plays every shape under every trial. It uses all processors.
func Sweep(ctx context.Context, tapes *Tapes, plan SweepPlan) ([]SweepRow, error) {
	base := control.DefaultPolicy()
	if plan.Base != nil {
		base = *plan.Base
	}
	trials := append([]Trial{{Name: "defaults"}}, plan.Trials...)
	policies := make([]control.Policy, len(trials))
	for i, t := range trials {
		policies[i] = base
		for _, set := range t.Set {
			name, value, _ := strings.Cut(set, "=")
			if err := SetKnob(&policies[i], name, value); err != nil {
				return nil, err
			}
		}
		if err := policies[i].Validate(); err != nil {
			return nil, err
		}
	}
	rows := make([]SweepRow, len(trials))
	for i := range rows {
		rows[i] = SweepRow{Trial: trials[i], Scores: make([]Score, len(plan.Shapes))}
	}
	return rows, together(ctx, len(plan.Shapes), func(at int) error {
		return plan.shape(ctx, tapes, at, policies, rows)
	})
}

// together runs work for 0..n-1, as many at once as there are processors.
func together(ctx context.Context, n int, work func(int) error) error {
	next := make(chan int)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(n, 1)) {
		wg.Go(func() {
			for i := range next {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = work(i)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// shape plays one shape: the static settings once, then each trial.
func (p SweepPlan) shape(ctx context.Context, tapes *Tapes, at int, policies []control.Policy, rows []SweepRow) error {
	shape, err := ShapeNamed(p.Shapes[at])
	if err != nil {
		return err
	}
	var fixed []Result
	for _, n := range p.Static {
		r, err := Play(tapes, shape, Job{Shape: shape.Name, Setting: Setting{n}, Seed: p.Seeds[0], Seconds: p.Seconds}, Options{Every: p.Every})
		if err != nil {
			return err
		}
		fixed = append(fixed, r)
	}
	_, static := pools(shape.Name, fixed)
	n, ok := best(static, FullMargins())
	if !ok {
		return fmt.Errorf("sweep of %s: no static setting to compare with", shape.Name)
	}
	against := static[n].over(whole)
	for i := range rows {
		var own pool
		score := Score{Shape: shape.Name}
		for _, seed := range p.Seeds {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, err := Play(tapes, shape, Job{Shape: shape.Name, Seed: seed, Seconds: p.Seconds}, Options{Every: p.Every, DecideEach: p.DecideEach, Policy: &policies[i]})
			if err != nil {
				return err
			}
			own = append(own, &r)
			score.take(&r, len(p.Seeds))
		}
		all := own.over(whole)
		score.Regret = 1 - over(all.rate(), against.rate())
		score.P99 = over(all.quantile(0.99), against.quantile(0.99))
		score.Shards = all.shardS / all.seconds / float64(n)
		rows[i].Scores[at] = score
	}
	return nil
}

func (s *Score) take(r *Result, seeds int) {
	days := float64(r.Seconds) / daySeconds * float64(seeds)
	s.Changes += float64(len(r.Changes)) / days
	s.Reversals += float64(r.Reversals) / days
	s.Broken += len(r.Broken)
	if r.Oscillating {
		s.Held++
	}
}

// SweepTable renders a sweep as a Markdown table, a row a trial and shape.
func SweepTable(rows []SweepRow) string {
	var b strings.Builder
	b.WriteString("| thresholds | shape | regret | p99 | shards | changes a day | reversals a day | held |\n|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, row := range rows {
		for _, s := range row.Scores {
			fmt.Fprintf(&b, "| %s | %s | %.1f%% | ×%s | ×%s | %s | %s | %d |\n", cell(row.Name), cell(s.Shape),
				100*s.Regret+0, short(s.P99), short(s.Shards), short(s.Changes), short(s.Reversals), s.Held)
		}
	}
	return b.String()
}

// Total is the row's mean regret, never below 0 in a shape, and its reversals
// a day, summed over the shapes.
func (r SweepRow) Total() (regret, reversals float64, held int) {
	for _, s := range r.Scores {
		regret += max(s.Regret, 0) / float64(max(len(r.Scores), 1))
		reversals += s.Reversals
		held += s.Held
	}
	return math.Round(regret*1e6) / 1e6, reversals, held
}

// SweepTotals renders the totals of a sweep as a Markdown table, a row a trial.
func SweepTotals(rows []SweepRow) string {
	var b strings.Builder
	b.WriteString("| thresholds | regret, mean | reversals a day | held |\n|---|---:|---:|---:|\n")
	for _, row := range rows {
		regret, reversals, held := row.Total()
		fmt.Fprintf(&b, "| %s | %.1f%% | %s | %d |\n", cell(row.Name), 100*regret, short(reversals), held)
	}
	return b.String()
}
