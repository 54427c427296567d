package rehearsal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// HotQueue is the queue under load in every shape.
const HotQueue = "orders"

// shapes are the loads by name, in the order in which they are listed. Each
// gets the number of sessions on the hot queue and their hold, 0 for its own.
var shapes = []struct {
	name  string
	build func(producers int, hold time.Duration) Spec
}{
	{"steady", steady},
	{"bursty", bursty},
	{"skewed", skewed},
	{"notify", notifyBound},
	{"stuck", stuck},
	{"idle", idle},
}

// Shapes are the names that Shape knows.
func Shapes() []string {
	var names []string
	for _, s := range shapes {
		names = append(names, s.name)
	}
	return names
}

// Shape is a load by name, for producers sessions on the hot queue that each
// work for hold inside their transaction; 0 asks for the shape's own figure.
//
//   - steady: 16 sessions in a closed loop, 5 ms inside, one lane, single rows;
//   - bursty: the same, 30 s of work and 60 s of rest in turn;
//   - skewed: the same with ordering keys of which one makes up three quarters,
//     so that its lane has nearly all the waits however many lanes there are;
//     the configured count is left as it is;
//   - notify: 32 sessions on 16 lanes with nothing inside, so that they stand in
//     line for the commit lock of notifying transactions and not for a lane,
//     given the Settings;
//   - stuck: steady, and a nightly import that keeps the lane for a minute;
//   - idle: lanes, and a job every few seconds.
//
// All have a few quiet queues beside the hot one, and workers that keep up, and
// spread their sessions over the lanes, so that what is seen at a count is the
// count's doing and not chance's. An unknown name is a *control.Fault of usage.
func Shape(name string, producers int, hold time.Duration) (Spec, error) {
	for _, s := range shapes {
		if s.name == name {
			return s.build(max(producers, 0), max(hold, 0)), nil
		}
	}
	return Spec{}, &control.Fault{
		Kind: control.FaultUsage,
		What: "there is no load shape of that name",
		Hint: "Shapes are " + strings.Join(Shapes(), ", ") + ".",
	}
}

// Settings are what a private server needs for a shape, nil for nothing: where
// commits cost nothing, notifying ones are in nobody's way. The flush of 5 ms is
// that of a slow disk, and the same on every machine.
func Settings(shape string) map[string]string {
	if shape != "notify" {
		return nil
	}
	return map[string]string{"fsync": "on", "commit_delay": "5000", "commit_siblings": "0"}
}

// Figures of the shapes.
const (
	steadyProducers = 16
	steadyHold      = 5 * time.Millisecond
	notifyProducers = 32
	notifyShards    = 16
	spread          = 8 // the demo's highest count
	burstOn         = 30 * time.Second
	burstOff        = 60 * time.Second
	skewKeys        = 1000
	skewZipf        = 2.5 // the first key is drawn 3 times in 4
	stuckHold       = time.Minute
	stuckRest       = 5 * time.Second
)

func steady(producers int, hold time.Duration) Spec {
	return withQuiet(Spec{
		Queues: []Queue{{Name: HotQueue, Shards: 1}},
		Producers: []Producers{{
			Queue: HotQueue, Application: "checkout", Count: cmp.Or(producers, steadyProducers),
			Hold: cmp.Or(hold, steadyHold), Payload: 200, Report: true, Spread: spread,
		}},
		Workers: []Workers{{
			Queues: []string{HotQueue}, Application: "fulfilment", Count: 2,
			PerJob: 200 * time.Microsecond, Leader: true,
		}},
	})
}

func bursty(producers int, hold time.Duration) Spec {
	s := steady(producers, hold)
	s.Producers[0].On, s.Producers[0].Off = burstOn, burstOff
	return s
}

func skewed(producers int, hold time.Duration) Spec {
	s := steady(producers, hold)
	s.Queues[0].Shards, s.Producers[0].Spread = 0, 0 // its keys choose the lanes
	s.Producers[0].Keys = Keys{N: skewKeys, Zipf: skewZipf}
	return s
}

func notifyBound(producers int, hold time.Duration) Spec {
	s := steady(cmp.Or(producers, notifyProducers), hold)
	s.Queues[0].Shards = notifyShards
	s.Producers[0].Hold = hold
	return s
}

func stuck(producers int, hold time.Duration) Spec {
	s := steady(producers, hold)
	s.Holders = []Holder{{
		Queue: HotQueue, Application: "nightly-import", Hold: stuckHold, Rest: stuckRest,
	}}
	return s
}

func idle(producers int, _ time.Duration) Spec {
	s := steady(cmp.Or(producers, 1), 0)
	s.Producers[0].Rate, s.Producers[0].Spread = 0.2, 0
	return s
}

// withQuiet adds the queues beside the hot one: names of several kinds, modest
// traffic, one worker process for all.
func withQuiet(s Spec) Spec {
	quiet := []Queue{
		{Name: "emails", Priorities: []int{2, 3}},
		{Name: "reports:nightly"},
		{Name: "キュー·überweisung👩‍👩‍👧"},
	}
	rates := []float64{8, 0.5, 2}
	var names []string
	for i, q := range quiet {
		names = append(names, q.Name)
		s.Producers = append(s.Producers, Producers{
			Queue: q.Name, Application: "back-office", Count: 1, Rate: rates[i],
			Priorities: slices.Clone(q.Priorities), Payload: 100, Report: true,
		})
	}
	s.Queues = append(s.Queues, quiet...)
	s.Workers = append(s.Workers, Workers{
		Queues: names, Application: "back-office-worker", Count: 1, PerJob: time.Millisecond,
	})
	return s
}
