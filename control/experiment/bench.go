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
	Bench   string   `json:"bench"`   // what it is played on
	Program string   `json:"program"` // whose controller it is
	Shapes  []string `json:"shapes"`
	Static  []int    `json:"static"` // counts; the controller is always in
	Seeds   []uint64 `json:"seeds"`
	Seconds int      `json:"seconds"` // of each run
	// Lengths and Counts are for shapes that need another length, or fewer
	// counts, than the rest.
	Lengths map[string]Length `json:"lengths,omitempty"`
	Counts  map[string][]int  `json:"counts,omitempty"`
	// Pace is that of the runs, but for shapes that have another in Paces.
	Pace  float64            `json:"pace,omitempty"`
	Paces map[string]float64 `json:"paces,omitempty"`
	// What the bench is told; see its options.
	Slow float64 `json:"slow,omitempty"`
	Max  int     `json:"max,omitempty"`
	// AgainS is how many seconds of runs may be spent on measuring once more,
	// with another seed, the shapes that fail; 0 lets the first round count.
	AgainS int `json:"again_s,omitempty"`
	// Pool lets all rounds of a shape count together, of which there may then be
	// two more. Without it the second counts alone.
	Pool    bool      `json:"pool,omitempty"`
	Margins Margins   `json:"margins"`
	Quick   bool      `json:"quick"`
	Created time.Time `json:"created,omitzero"`
}

// Length is how long the runs of a shape are, in seconds. Those with a static
// count may be shorter where the load repeats itself.
type Length struct {
	Static int `json:"static"`
	Own    int `json:"own"` // the controller's
}

// Jobs are the plan's runs in the order in which they are made: settings in
// turn within a seed and a shape, so that whatever drifts on the machine meets
// all of them alike, each time beginning with the next setting.
func (p Plan) Jobs() []Job {
	var jobs []Job
	turn := 0
	for _, seed := range p.Seeds {
		for _, shape := range p.Shapes {
			settings := p.settings(shape)
			for i := range settings {
				s := settings[(i+turn)%len(settings)]
				jobs = append(jobs, Job{Shape: shape, Setting: s, Seed: seed, Seconds: p.length(shape, s), Pace: p.pace(shape)})
			}
			turn++
		}
	}
	return jobs
}

func (p Plan) settings(shape string) []Setting {
	counts := p.Static
	if some, ok := p.Counts[shape]; ok {
		counts = some
	}
	list := []Setting{{}}
	for _, n := range counts {
		list = append(list, Setting{n})
	}
	return list
}

func (p Plan) length(shape string, s Setting) int {
	l, ok := p.Lengths[shape]
	switch {
	case !ok:
		return p.Seconds
	case s.Static > 0:
		return l.Static
	}
	return l.Own
}

func (p Plan) pace(shape string) float64 {
	if own, ok := p.Paces[shape]; ok {
		return own
	}
	return p.Pace
}

// seconds is the length of all of them together.
func seconds(jobs []Job) int {
	sum := 0
	for _, j := range jobs {
		sum += j.Seconds
	}
	return sum
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
