package experiment

import (
	"math"
	"slices"
	"sync"
	"testing"

	"shardpilot/control"
)

// shelf is shared by the tests: tapes take longer to play than to use.
var shelf = sync.OnceValue(func() *Tapes { return NewTapes(DefaultMachine(), 1) })

// shortShelf has tapes of a quarter the length, for days that go through
// hundreds of loads.
var shortShelf = sync.OnceValue(func() *Tapes {
	t := NewTapes(DefaultMachine(), 1)
	t.events, t.shortest, t.longest = 15_000, 60, 1800
	if underRace {
		t.events, t.shortest = 5_000, 30
	}
	return t
})

func play(t *testing.T, shape Shape, seconds int, seed uint64, o Options) Result {
	t.Helper()
	return playFrom(t, shelf(), shape, seconds, seed, o)
}

func playFrom(t *testing.T, tapes *Tapes, shape Shape, seconds int, seed uint64, o Options) Result {
	t.Helper()
	r, err := Play(tapes, shape, Job{Shape: shape.Name, Seed: seed, Seconds: seconds}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Broken {
		t.Errorf("%s, seed %d: %s", shape.Name, seed, b)
	}
	return r
}

func named(t *testing.T, name string) Shape {
	t.Helper()
	s, err := ShapeNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryPromiseIsKeptOverDaysOfEveryShape plays two days of each shape with
// every promise checked at every step, and what each shape is there to show.
// `make month` plays thirty, five times.
func TestEveryPromiseIsKeptOverDaysOfEveryShape(t *testing.T) {
	seconds := 2 * 86400
	if underRace {
		seconds /= 4
	}
	for _, shape := range Shapes() {
		if underRace && shape.Name == "sine" {
			continue // hundreds of tapes to play; the ramp goes up and down as well
		}
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			expectOf(t, shape, playFrom(t, shortShelf(), shape, seconds, 1, Options{Every: 3, DecideEach: 3}))
		})
	}
}

// expectOf is what a shape is there to show.
func expectOf(t *testing.T, shape Shape, r Result) {
	t.Helper()
	t.Logf("%s: %d to %d shards, changes %v", shape.Name, r.Start, r.End, r.Changes)
	if shape.Steady && r.Reversals > 0 {
		t.Errorf("%d reversals on a steady load: %v", r.Reversals, r.Changes)
	}
	if steps := math.Log2(float64(r.End) / float64(r.Start)); shape.Steady && float64(len(r.Changes)) > math.Abs(steps)+0.01 {
		t.Errorf("%d steps from %d to %d shards", len(r.Changes), r.Start, r.End)
	}
	if shape.Steady && r.SettleS > 1800 {
		t.Errorf("settled only after %.0f s", r.SettleS)
	}
	switch shape.Name {
	case "steady", "bursty":
		if r.End != 8 {
			t.Errorf("left at %d shards", r.End)
		}
	case "idle", "stuck":
		if len(r.Changes) > 0 {
			t.Errorf("changed: %v", r.Changes)
		}
	case "skewed":
		if r.End > 2 {
			t.Errorf("grew to %d shards for one hot key", r.End)
		}
	case "notify":
		if r.End > 2 {
			t.Errorf("grew to %d shards behind NOTIFY", r.End)
		}
	case "ramp", "sine":
		highest := 0
		for _, c := range r.Changes {
			highest = max(highest, c.To)
		}
		if highest < 8 {
			t.Errorf("grew to %d shards only: %v", highest, r.Changes)
		}
		if r.Oscillating {
			t.Errorf("held as oscillating for following the day: %v", r.Changes)
		}
	}
}

// TestBlocksOfTapeStandForTheEvents plays the same two hours from tapes and
// enqueue by enqueue: the same steps, about the same times, share and rate.
func TestBlocksOfTapeStandForTheEvents(t *testing.T) {
	names, seconds := []string{"steady", "skewed", "stuck"}, 2400
	if underRace {
		names, seconds = names[:1], 1500
	}
	for _, name := range names {
		shape := named(t, name)
		a, b := play(t, shape, seconds, 5, Options{}), play(t, shape, seconds, 5, Options{Events: true})
		if len(a.Changes) != len(b.Changes) {
			t.Fatalf("%s: %v from tapes, %v from events", name, a.Changes, b.Changes)
		}
		for i := range a.Changes {
			if x, y := a.Changes[i], b.Changes[i]; x.From != y.From || x.To != y.To || math.Abs(x.AtS-y.AtS) > 60 {
				t.Errorf("%s: %v from tapes, %v from events", name, x, y)
			}
		}
		if math.Abs(a.Throughput/b.Throughput-1) > 0.05 {
			t.Errorf("%s: %.1f jobs/s from tapes, %.1f from events", name, a.Throughput, b.Throughput)
		}
		x, y := a.over(1100), b.over(1100)
		if ratio := x.quantile(0.99) / y.quantile(0.99); ratio < 0.85 || ratio > 1.18 {
			t.Errorf("%s: p99 %.4f s from tapes, %.4f s from events", name, x.quantile(0.99), y.quantile(0.99))
		}
	}
}

// TestTheSameSeedGivesTheSameRun and another seed another one.
func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	shape := named(t, "sine")
	run := func(seed uint64) Result { return playFrom(t, shortShelf(), shape, 3600, seed, Options{Every: 3}) }
	one, two := run(3), run(3)
	if one.Enqueued != two.Enqueued || !slices.Equal(one.Changes, two.Changes) {
		t.Errorf("%d and %d enqueued, %v and %v", one.Enqueued, two.Enqueued, one.Changes, two.Changes)
	}
	if other := run(4); other.Enqueued == one.Enqueued {
		t.Error("two seeds gave the same run")
	}
}

// after is a load that changes once.
func after(at float64, first, then Load) func(float64, float64) Load {
	return func(t, _ float64) Load {
		if t < at {
			return first
		}
		return then
	}
}

// TestASlowdownIsNotTakenForSpareLanes: when most producers stop, the count
// stays for a whole long window, and only the calm that lasts takes it down.
func TestASlowdownIsNotTakenForSpareLanes(t *testing.T) {
	few := steadyLoad()
	few.Sessions = 1
	shape := Shape{Name: "slowdown", Start: 1, Max: 4, At: after(3*3600, steadyLoad(), few)}
	r := play(t, shape, 7*3600, 2, Options{Every: 3})
	shrunk := false
	for _, c := range r.Changes {
		if c.To < c.From {
			shrunk = true
			if c.AtS < 3*3600+1800-30 { // the window is cut in quarter minutes
				t.Errorf("%v, %.0f s after the slowdown", c, c.AtS-3*3600)
			}
		}
	}
	if !shrunk || r.End != 2 {
		t.Errorf("%d shards hours after the slowdown, want 2 (one lane would be always busy): %v", r.End, r.Changes)
	}
}

// TestStaleProducersHoldTheNextStep: sessions that cache the count until their
// restart are waited for.
func TestStaleProducersHoldTheNextStep(t *testing.T) {
	shape := Shape{Name: "cached", Start: 1, Max: 8, Steady: true, Cached: 8, Restart: 1200, At: always(steadyLoad())}
	r := play(t, shape, 3*3600, 2, Options{Every: 3})
	for i := 1; i < len(r.Changes); i++ {
		before, c := r.Changes[i-1], r.Changes[i]
		if next := (math.Floor(before.AtS/1200) + 1) * 1200; c.AtS < next {
			t.Errorf("%v while half the producers were still on %d", c, before.From)
		}
	}
	if r.End != 8 || r.Reversals > 0 {
		t.Errorf("%d shards in the end: %v", r.End, r.Changes)
	}
}

// TestALoadThatSwingsIsHeldAsOscillating: crowds and calm in turn, just as long
// as the cooldowns, end in a hold until somebody resumes the queue.
func TestALoadThatSwingsIsHeldAsOscillating(t *testing.T) {
	calm := Load{Sessions: 16, Rate: 2, Hold: steadyLoad().Hold}
	shape := Shape{Name: "swing", Start: 1, Max: 2, At: func(s, _ float64) Load {
		if math.Mod(s, 9000) < 4500 {
			return steadyLoad()
		}
		return calm
	}}
	r := play(t, shape, 2*86400, 2, Options{Every: 3, DecideEach: 3})
	p := control.DefaultPolicy()
	if !r.Oscillating || r.Reversals != p.Reversals {
		t.Errorf("%d reversals, held %v: %v", r.Reversals, r.Oscillating, r.Changes)
	}
}
