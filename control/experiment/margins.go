package experiment

import "shardpilot/control"

// Metric names a line of the verdict.
type Metric string

// The metrics, in the order of the verdict.
const (
	MetricSettled    Metric = "throughput after settling"
	MetricTransition Metric = "throughput with transitions"
	MetricP99        Metric = "p99 enqueue latency"
	MetricReversals  Metric = "reversals"
	MetricSteps      Metric = "steps"
	MetricShardHours Metric = "shard-hours"
	MetricErrors     Metric = "producer errors"
	MetricPromises   Metric = "promises"
)

// Margins are what the controller may fall behind the best static setting by.
// Ratios are the controller's figure over that setting's.
type Margins struct {
	Settled    float64 `json:"settled"`     // least ratio of throughput after settling
	Transition float64 `json:"transition"`  // least ratio over the whole run
	P99        float64 `json:"p99"`         // highest ratio of the latency's 99th percentile after settling
	P99SlackS  float64 `json:"p99_slack_s"` // a p99 longer by no more than this, in seconds, is as good
	ShardHours float64 `json:"shard_hours"`
	Reversals  int     `json:"reversals"` // most in a run of a steady shape
	ExtraSteps int     `json:"extra_steps"`
	// SettleS is how long after a change a run counts as settled, in seconds,
	// divided by the run's pace.
	SettleS float64 `json:"settle_s"`
	// Cannot are the lines that are known not to be met by design; they are
	// reported with their reason and fail nothing.
	Cannot []Exception `json:"cannot"`
}

// Exception is a line of the verdict that cannot be met.
type Exception struct {
	// Shape is "" for every shape.
	Shape   string   `json:"shape"`
	Metrics []Metric `json:"metrics"`
	Why     string   `json:"why"`
}

// FullMargins are those under which enforcement ships. The slack of the p99 is
// what a scheduler alone makes of it on a busy machine.
func FullMargins() Margins {
	return Margins{Settled: 0.95, Transition: 0.90, P99: 1.10, P99SlackS: 0.002, ShardHours: 1.25, SettleS: 60, Cannot: exceptions()}
}

// QuickMargins are for runs of seconds on a shared machine: they notice a
// controller that is broken, not one that is a little worse. What chance decides
// in seconds is shown and fails nothing.
func QuickMargins() Margins {
	const brief = "a run of seconds does not decide this"
	return Margins{Settled: 0.75, Transition: 0.40, P99: 2, P99SlackS: 0.002, ShardHours: 2.1, ExtraSteps: 1, SettleS: 60, Cannot: append(exceptions(),
		Exception{Metrics: []Metric{MetricP99}, Why: brief},
		Exception{Shape: "bursty", Metrics: speed, Why: brief},
		Exception{Shape: "ramp", Metrics: speed, Why: brief},
		Exception{Shape: "sine", Metrics: speed, Why: brief},
		Exception{Shape: "notify", Metrics: append([]Metric{MetricShardHours, MetricSteps}, speed...), Why: brief},
		Exception{Shape: "skewed", Metrics: []Metric{MetricShardHours, MetricSteps}, Why: brief},
		Exception{Shape: "stuck", Metrics: []Metric{MetricShardHours}, Why: "at this pace the stuck transaction is over soon after it has been found out"},
	)}
}

// speed is what more lanes are for.
var speed = []Metric{MetricSettled, MetricTransition, MetricP99}

// exceptions are where the controller falls short by design.
func exceptions() []Exception {
	var list []Exception
	for _, s := range control.Shortfalls() {
		list = append(list, Exception{Shape: s.Shape, Metrics: speed, Why: s.Why})
	}
	return list
}

// cannot is why a line is not to be met, "" when it is.
func (m Margins) cannot(shape string, metric Metric) string {
	for _, e := range m.Cannot {
		if e.Shape != "" && e.Shape != shape {
			continue
		}
		for _, one := range e.Metrics {
			if one == metric {
				return e.Why
			}
		}
	}
	return ""
}
