package experiment

import "time"

// Setting is how a queue's count comes about: fixed, or the controller's.
type Setting struct {
	Static int `json:"static"` // 0 is the controller
}

// Job is one run: a shape under a setting, for so long.
type Job struct {
	Shape   string  `json:"shape"`
	Setting Setting `json:"setting"`
	Seed    uint64  `json:"seed"`
	Seconds int     `json:"seconds"`
	// Pace divides the controller's durations, and the shape's own, on a server.
	// The simulator has time enough and no pace.
	Pace float64 `json:"pace,omitempty"`
}

// Result is what came of a run. Everything the gate judges follows from Bins
// and Changes; the rest is for people.
type Result struct {
	Job
	Bench    string `json:"bench"` // what it ran on: "simulator", "PostgreSQL 18.4"
	Start    int    `json:"start"` // count at the start
	End      int    `json:"end"`   // and at the end
	Enqueued uint64 `json:"enqueued"`
	Shed     uint64 `json:"shed"` // arrivals given up, of an open loop

	Throughput float64 `json:"throughput"` // jobs/s over the whole run
	P50S       float64 `json:"p50_s"`      // enqueue latency over the whole run, seconds
	P99S       float64 `json:"p99_s"`
	Reversals  int     `json:"reversals"` // changes against the one before
	SettleS    float64 `json:"settle_s"`  // seconds until the last change, 0 without any
	ShardS     float64 `json:"shard_s"`   // shard-seconds: the count, summed over the run

	Changes     []ChangeAt        `json:"changes"`
	Errors      map[string]uint64 `json:"errors"`   // of producers, by SQLSTATE or class
	Verdicts    []string          `json:"verdicts"` // what the controller found of its changes
	Broken      []string          `json:"broken"`   // promises that were not kept, where they are checked
	Oscillating bool              `json:"oscillating"`
	Bins        []Bin             `json:"bins,omitempty"`
	Wall        time.Duration     `json:"wall_ns"` // how long it took
}

// ChangeAt is one change of the count.
type ChangeAt struct {
	AtS    float64 `json:"at_s"` // since the start
	From   int     `json:"from"`
	To     int     `json:"to"`
	Reason string  `json:"reason"`
}

// Bin is a stretch of a run, so that two runs can be compared over any part.
type Bin struct {
	AtS     float64  `json:"at_s"`    // its start, since the start of the run
	Seconds float64  `json:"seconds"` // its length
	Jobs    uint64   `json:"jobs"`    // enqueued in it
	ShardS  float64  `json:"shard_s"` // shard-seconds in it
	Share   float64  `json:"share"`   // wait share in it, 0..1
	Latency []Bucket `json:"latency"` // of the enqueues in it
}

// Bucket counts the enqueues that took at most so long and longer than the
// bucket before.
type Bucket struct {
	UpToS float64 `json:"up_to_s"`
	N     uint64  `json:"n"`
}

// reversalsOf counts the changes that went against the one before.
func reversalsOf(changes []ChangeAt) int {
	n := 0
	for i := 1; i < len(changes); i++ {
		if (changes[i].To > changes[i].From) != (changes[i-1].To > changes[i-1].From) {
			n++
		}
	}
	return n
}

// Complete fills in what follows from the bins and the changes, for a bench
// that measured only those.
func (r *Result) Complete() {
	all := r.over(0)
	r.Enqueued, r.Throughput, r.ShardS = all.jobs, all.rate(), all.shardS
	r.P50S, r.P99S = all.quantile(0.5), all.quantile(0.99)
	r.Reversals = reversalsOf(r.Changes)
	r.SettleS = 0
	if n := len(r.Changes); n > 0 {
		r.SettleS = r.Changes[n-1].AtS
	}
}
