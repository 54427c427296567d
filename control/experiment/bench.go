package experiment

import (
	"context"
	"time"
)

// Bench is something that runs jobs: the simulator, or a PostgreSQL with
// producers and workers of its own.
type Bench interface {
	// Run carries out one job and ends early when ctx does. The result's Job is
	// the given one, and its Start, End, Changes and Bins are filled in.
	Run(ctx context.Context, job Job) (Result, error)
}

// Plan is a campaign: every shape under every setting with every seed.
type Plan struct {
	Shapes  []string  `json:"shapes"`
	Static  []int     `json:"static"` // counts; the controller is always in
	Seeds   []uint64  `json:"seeds"`
	Seconds int       `json:"seconds"` // of each run
	Margins Margins   `json:"margins"`
	Quick   bool      `json:"quick"`
	Created time.Time `json:"created,omitzero"`
}

// Jobs are the plan's runs in the order in which they are made: settings in
// turn within a seed and a shape, so that whatever drifts on the machine meets
// all of them alike, each time beginning with the next setting.
func (p Plan) Jobs() []Job {
	settings := []Setting{{}}
	for _, n := range p.Static {
		settings = append(settings, Setting{n})
	}
	var jobs []Job
	turn := 0
	for _, seed := range p.Seeds {
		for _, shape := range p.Shapes {
			for i := range settings {
				jobs = append(jobs, Job{Shape: shape, Setting: settings[(i+turn)%len(settings)], Seed: seed, Seconds: p.Seconds})
			}
			turn++
		}
	}
	return jobs
}

// Simulator is the Bench made of this package's simulator.
type Simulator struct {
	Tapes   *Tapes
	Options Options
}

// Run implements Bench. The simulator does not look at ctx within a job.
func (s Simulator) Run(ctx context.Context, job Job) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	shape, err := ShapeNamed(job.Shape)
	if err != nil {
		return Result{}, err
	}
	return Play(s.Tapes, shape, job, s.Options)
}
