package experiment

import (
	"math"

	"shardpilot/control"
)

// mostBins is how many parts a run is cut into at most.
const mostBins = 120

// recorder sums the readings of a simulation up.
type recorder struct {
	out        Result
	binS       float64
	bin        Bin
	wait, hold float64
	latency    Histogram
}

func newRecorder(job Job, start int) *recorder {
	return &recorder{
		out: Result{
			Job: job, Bench: "simulator", Start: start, Changes: []ChangeAt{}, Errors: map[string]uint64{},
			Verdicts: []string{}, Broken: []string{},
		},
		binS: max(math.Ceil(float64(job.Seconds)/mostBins), 10),
	}
}

func (r *recorder) reading(s *stage, one *control.Reading) {
	if r.bin.Seconds >= r.binS {
		r.cut()
		r.bin.AtS = s.seconds - one.PeriodS
	}
	r.bin.Seconds += one.PeriodS
	r.bin.Jobs += uint64(s.jobs)
	r.bin.ShardS += float64(one.Shards) * one.PeriodS
	r.out.Shed += uint64(s.shed)
	r.wait += one.WaitSum
	r.hold += one.HoldSum
	for _, l := range s.latency {
		r.latency.addAll(l)
	}
}

func (r *recorder) change(s *stage, from int, why control.Reason) {
	r.out.Changes = append(r.out.Changes, ChangeAt{AtS: s.seconds, From: from, To: s.shards, Reason: string(why)})
}

func (r *recorder) cut() {
	if r.bin.Seconds == 0 {
		return
	}
	if all := r.wait + r.hold; all > 0 {
		r.bin.Share = r.wait / all
	}
	r.bin.Latency = r.latency.list()
	r.out.Bins = append(r.out.Bins, r.bin)
	r.bin, r.wait, r.hold, r.latency = Bin{}, 0, 0, Histogram{}
}

func (r *recorder) finish(s *stage) Result {
	r.cut()
	r.out.End = s.shards
	r.out.Complete()
	return r.out
}
