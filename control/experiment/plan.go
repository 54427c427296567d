package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Paces of the campaigns on a server.
const (
	// fullPace is as fast as all rules but the fast path can live with: a run is
	// to be long next to the three steps from one shard to eight.
	fullPace = 48
	// burstPace is as fast as the fast path can live with. It is what sees a
	// burst: the rests are longer than a third of the slow path's window.
	burstPace = 12
	// quickPace leaves a little more room to readings that come late.
	quickPace = 40
)

// quickSlow makes a producer of a quick campaign hold its lane for 40 ms, so
// that sessions wait for lanes and not for a processor that others keep busy.
const quickSlow = 8

func names() []string {
	var list []string
	for _, s := range Shapes() {
		list = append(list, s.Name)
	}
	return list
}

// FullPlan is the gate on a server: about 35 minutes a seed, and up to as much
// again for shapes that fail. On a machine of two cores the same count differs
// from itself by a tenth for half a minute at a time, so a ratio of single runs
// can miss a margin of a twentieth by chance: what fails is measured twice more,
// and all of it counts.
func FullPlan() Plan {
	return Plan{
		Shapes: names(), Static: []int{1, 2, 4, 8}, Seeds: []uint64{1}, Seconds: 60, Pace: fullPace, Margins: FullMargins(), AgainS: 2100, Pool: true,
		Paces: map[string]float64{"bursty": burstPace},
		Lengths: map[string]Length{
			"steady": {Static: 60, Own: 100}, "bursty": {Static: 30, Own: 300}, "ramp": {Static: 75, Own: 75}, "skewed": {Static: 15, Own: 30},
			"notify": {Static: 20, Own: 45}, "idle": {Static: 40, Own: 45}, "stuck": {Static: 15, Own: 30},
		},
	}
}

// QuickPlan is a trimmed gate for every change: below five minutes, a second
// look at what failed included. The controller may grow to 4, and has time to
// do so in the steady shape.
func QuickPlan() Plan {
	moving := Length{Static: 10, Own: 10}
	return Plan{
		Shapes: names(), Static: []int{4}, Seeds: []uint64{1}, Seconds: 8, Pace: quickPace, Slow: quickSlow, Max: 4, AgainS: 45,
		Quick: true, Margins: QuickMargins(),
		Lengths: map[string]Length{"steady": {Static: 10, Own: 24}, "bursty": moving, "ramp": moving, "sine": moving},
		Counts:  map[string][]int{"steady": {1, 4}, "skewed": {1}, "notify": {1}, "idle": {1}, "stuck": {1}},
	}
}

// Part says in what a plan is less than the gate of its kind, "" when it is the
// whole of it.
func (p Plan) Part() string {
	whole := FullPlan()
	switch {
	case p.Quick:
		whole = QuickPlan()
	case p.Pace == 0:
		whole = SimulatedPlan()
	}
	var less []string
	if missing(whole.Shapes, p.Shapes) {
		less = append(less, "of the shapes "+strings.Join(p.Shapes, ", "))
	}
	if missing(whole.Static, p.Static) {
		less = append(less, "of the fixed counts "+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.Static)), ", "), "[]"))
	}
	if slices.ContainsFunc(p.Shapes, func(s string) bool { return p.length(s, Setting{}) < whole.length(s, Setting{}) }) {
		less = append(less, "in shorter runs")
	}
	if slices.ContainsFunc(p.Shapes, func(s string) bool { return p.pace(s) != whole.pace(s) }) {
		less = append(less, "at another pace")
	}
	return strings.Join(less, "; ")
}

func missing[T comparable](all, some []T) bool {
	return slices.ContainsFunc(all, func(one T) bool { return !slices.Contains(some, one) })
}

// SimulatedPlan is the full gate on the simulator: two days of each.
func SimulatedPlan() Plan {
	return Plan{Shapes: names(), Static: []int{1, 2, 4, 8}, Seeds: []uint64{1, 2}, Seconds: 2 * 86400, Margins: FullMargins()}
}
