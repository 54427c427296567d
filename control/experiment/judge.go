package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"shardpilot/control"
)

// Standing is how a line of the verdict came out.
type Standing string

// The standings. A line that is missing fails the gate like one that failed.
const (
	Passed  Standing = "passed"
	Failed  Standing = "failed"
	Cannot  Standing = "excepted" // missed for a known reason, see Line.Detail
	Missing Standing = "not measured"
)

// Line is one line of the verdict.
type Line struct {
	Shape    string   `json:"shape"`
	Metric   Metric   `json:"metric"`
	Value    float64  `json:"value"`
	Limit    float64  `json:"limit"`
	AtMost   bool     `json:"at_most"` // the limit is an upper one
	Standing Standing `json:"standing"`
	Detail   string   `json:"detail"`
}

// Verdict is the gate's.
type Verdict struct {
	Passed bool   `json:"passed"`
	Lines  []Line `json:"lines"`
	// Best is the static setting that each shape was held against.
	Best map[string]int `json:"best"`
	// Part says in what the plan was less than the gate, "" when it was the whole.
	Part string `json:"part"`
}

// Err is nil for a gate that is passed, and otherwise a *control.Fault.
func (v Verdict) Err() error {
	if v.Passed {
		return nil
	}
	bad := 0
	for _, l := range v.Lines {
		if l.Standing == Failed || l.Standing == Missing {
			bad++
		}
	}
	return &control.Fault{Kind: control.FaultGate, What: fmt.Sprintf("the gate is not passed: %d of %d lines", bad, len(v.Lines)),
		Hint: "docs/experiment.md says what each line means; queues stay in shadow until it is passed"}
}

// steady says of the gate's shapes whether nothing about their load changes.
func steady(shape string) bool {
	for _, s := range Shapes() {
		if s.Name == shape {
			return s.Steady
		}
	}
	return false
}

// Judge holds the controller's runs of every shape against the best static
// setting's. Runs of the same shape and setting with other seeds are taken
// together: throughputs and latencies are pooled, of counts the worst is taken.
//
// The best static setting of a shape has the highest throughput; among those
// within 2% of it, the lowest p99; among those within 10% of that, or within what
// counts as equal, the fewest shards. That goes by the whole run: of a part alone
// a count that works off there what it left undone before would seem the fastest.
//
// A run has settled a while (Margins.SettleS) after its last change in the first half, so that
// at least half of it is compared; the static runs are compared over the same
// part. A static run that is shorter than the controller's is of a load that
// repeats itself, and is compared whole.
func Judge(results []Result, m Margins) Verdict {
	v := Verdict{Passed: true, Lines: []Line{}, Best: map[string]int{}}
	for _, shape := range shapesOf(results) {
		v.shape(shape, results, m)
	}
	if len(v.Lines) == 0 {
		v.Passed = false
	}
	for _, l := range v.Lines {
		if l.Standing == Failed || l.Standing == Missing {
			v.Passed = false
		}
	}
	return v
}

// shapesOf lists the shapes in the gate's order, then the others as they come.
func shapesOf(results []Result) []string {
	var names []string
	for _, s := range Shapes() {
		if slices.ContainsFunc(results, func(r Result) bool { return r.Shape == s.Name }) {
			names = append(names, s.Name)
		}
	}
	for _, r := range results {
		if !slices.Contains(names, r.Shape) {
			names = append(names, r.Shape)
		}
	}
	return names
}

func (v *Verdict) shape(shape string, results []Result, m Margins) {
	own, static := pools(shape, results)
	latest, longest := 0.0, 0
	for _, r := range own {
		latest, longest = max(latest, m.settledAt(r)), max(longest, r.Seconds)
	}
	from := func(r *Result) float64 {
		if r.Seconds < longest {
			return 0
		}
		return latest
	}
	n, ok := best(static, m)
	if len(own) == 0 || !ok {
		what := "no run of the controller"
		if len(own) > 0 {
			what = "no run with a static count"
		}
		v.Lines = append(v.Lines, Line{Shape: shape, Metric: MetricSettled, Limit: m.Settled, Standing: Missing, Detail: what})
		return
	}
	v.Best[shape] = n
	against := static[n]
	mine, theirs := own.over(from), against.over(from)
	versus := func(a, b float64, unit string) string {
		return fmt.Sprintf("%s against %s %s at %d", short(a), short(b), unit, n)
	}

	v.line(m, Line{Shape: shape, Metric: MetricSettled, Value: over(mine.rate(), theirs.rate()), Limit: m.Settled, Detail: versus(mine.rate(), theirs.rate(), "jobs/s")})
	all, allTheirs := own.over(whole), against.over(whole)
	v.line(m, Line{Shape: shape, Metric: MetricTransition, Value: over(all.rate(), allTheirs.rate()), Limit: m.Transition, Detail: versus(all.rate(), allTheirs.rate(), "jobs/s")})
	p, q := mine.quantile(0.99), theirs.quantile(0.99)
	v.latency(m, Line{Shape: shape, Metric: MetricP99, Value: over(p, q), Limit: m.P99, AtMost: true, Detail: versus(1000*p, 1000*q, "ms")}, p, q)
	if steady(shape) {
		v.counts(shape, own, n, m)
	}
	v.line(m, Line{Shape: shape, Metric: MetricShardHours, Value: over(all.shardS/all.seconds, float64(n)), Limit: m.ShardHours, AtMost: true,
		Detail: fmt.Sprintf("%s shards in the mean against %d", short(all.shardS/all.seconds), n)})
	v.errors(shape, own, against, m)
}

// latency is the line about p seconds against q. A difference that no producer
// would notice is none; without an enqueue on both sides nothing was measured.
func (v *Verdict) latency(m Margins, l Line, p, q float64) {
	switch {
	case p == 0 || q == 0:
		l.Value, l.Standing = 0, Missing
		v.Lines = append(v.Lines, l)
		return
	case p > m.P99*q && m.P99*q < q+m.P99SlackS:
		l.Limit = over(q+m.P99SlackS, q)
		l.Detail += fmt.Sprintf("; up to %s ms more count as equal", short(1000*m.P99SlackS))
	}
	v.line(m, l)
}

// counts are the lines about changes on a load that does not change.
func (v *Verdict) counts(shape string, own pool, best int, m Margins) {
	reversals, steps, due := 0, 0, 0
	for _, r := range own {
		reversals = max(reversals, r.Reversals)
		steps = max(steps, len(r.Changes))
		due = max(due, int(math.Ceil(math.Abs(math.Log2(float64(best)/float64(max(r.Start, 1)))))))
	}
	v.line(m, Line{Shape: shape, Metric: MetricReversals, Value: float64(reversals), Limit: float64(m.Reversals), AtMost: true, Detail: "in the worst run"})
	v.line(m, Line{Shape: shape, Metric: MetricSteps, Value: float64(steps), Limit: float64(due + m.ExtraSteps), AtMost: true,
		Detail: fmt.Sprintf("in the worst run; from %d to the best is %d", own[0].Start, due)})
}

// errors are the lines about what must not happen at all: errors of producers
// beyond those with a static count, and broken promises.
func (v *Verdict) errors(shape string, own, against pool, m Margins) {
	mine, theirs, classes := 0.0, 0.0, map[string]uint64{}
	for _, r := range own {
		for class, n := range r.Errors {
			if class != "stopped" {
				mine += float64(n) / float64(len(own))
				classes[class] += n
			}
		}
	}
	for _, r := range against {
		for class, n := range r.Errors {
			if class != "stopped" {
				theirs += float64(n) / float64(len(against))
			}
		}
	}
	var named []string
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		named = append(named, fmt.Sprintf("%s ×%d", class, classes[class]))
	}
	v.line(m, Line{Shape: shape, Metric: MetricErrors, Value: mine, Limit: theirs, AtMost: true, Detail: strings.Join(named, ", ")})
	broken, first := 0, ""
	for _, r := range own {
		if broken += len(r.Broken); first == "" && len(r.Broken) > 0 {
			first = r.Broken[0]
		}
	}
	if broken > 0 {
		v.line(m, Line{Shape: shape, Metric: MetricPromises, Value: float64(broken), AtMost: true, Detail: first})
	}
}

func (v *Verdict) line(m Margins, l Line) {
	const slack = 1e-9
	l.Standing = Passed
	if l.AtMost && l.Value > l.Limit+slack || !l.AtMost && l.Value < l.Limit-slack || math.IsNaN(l.Value) {
		l.Standing = Failed
		if why := m.cannot(l.Shape, l.Metric); why != "" {
			l.Standing = Cannot
			l.Detail += "; " + why
		}
	}
	v.Lines = append(v.Lines, l)
}
