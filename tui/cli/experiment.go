package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"shardpilot/control"
	"shardpilot/control/experiment"
)

// Bounds of an experiment's flags.
const (
	leastRun  = 3 * time.Second
	longestIn = 24 * time.Hour // on a server
	longest   = 90 * 24 * time.Hour
	mostSeeds = 20
)

func checkExperiment(c Command, set *pflag.FlagSet) error {
	e := c.Experiment
	bad := func(format string, args ...any) error { return usageOf("experiment", format, args...) }
	named := c.Conn.String != "" || slices.ContainsFunc([]string{"host", "port", "dbname", "user"}, set.Changed)
	simulated := e.Simulate || len(e.Sweep) > 0
	limit := longestIn
	if simulated {
		limit = longest
	}
	switch {
	case named && !e.AllowLoad:
		return &control.Fault{Kind: control.FaultRefused, What: "an experiment puts load on the database and makes and drops schemas there",
			Hint: "add --allow-load if that is what you want, or name no database: then a private PostgreSQL is used"}
	case e.AllowLoad && !named:
		return bad("--allow-load needs the database: a connection string, --dbname or --host")
	case e.AllowLoad && simulated:
		return bad("--allow-load goes with a server, not with the simulator")
	case e.AllowLoad && (set.Changed("pg") || set.Changed("pg-bin")):
		return bad("--pg and --pg-bin choose a private PostgreSQL, --allow-load is for another")
	case simulated && (set.Changed("pg") || set.Changed("pg-bin") || set.Changed("pace") || e.Quick):
		return bad("--pg, --pg-bin, --pace and --quick are for a server, not for the simulator")
	case e.Awa != "" && (e.AllowLoad || simulated):
		return bad("--awa goes with a private PostgreSQL")
	case set.Changed("seeds") && (e.Seeds < 1 || e.Seeds > mostSeeds):
		return bad("--seeds must be 1 to %d, got %d", mostSeeds, e.Seeds)
	case set.Changed("duration") && (e.Duration < leastRun || e.Duration > limit || e.Duration%time.Second != 0):
		return bad("--duration must be whole seconds, %s to %s, got %s", leastRun, limit, e.Duration)
	case set.Changed("pace") && !(e.Pace >= 1 && e.Pace <= 48):
		return bad("--pace must be 1 to 48, got %v", e.Pace)
	case slices.ContainsFunc(e.Settings, func(n int) bool { return n < control.MinShards || n > control.MaxShards }):
		return bad("--settings must be %d to %d each", control.MinShards, control.MaxShards)
	case len(e.Settings) != len(slices.Compact(slices.Sorted(slices.Values(e.Settings)))):
		return bad("--settings names a count twice")
	case set.Changed("settings") && len(e.Settings) == 0:
		return bad("--settings names no count")
	case set.Changed("shapes") && len(e.Shapes) == 0:
		return bad("--shapes names no shape")
	case len(e.Shapes) != len(slices.Compact(slices.Sorted(slices.Values(e.Shapes)))):
		return bad("--shapes names a shape twice")
	}
	for _, name := range e.Shapes {
		if _, err := experiment.ShapeNamed(name); err != nil {
			return bad("--shapes: %s", err)
		}
	}
	if err := checkPG(c); err != nil {
		return err
	}
	_, err := e.trials()
	return err
}

// Plan is what the flags ask for, on a bench, by a program of a version.
func (e Experiment) Plan(version string) experiment.Plan {
	var p experiment.Plan
	switch {
	case e.Simulate:
		p = experiment.SimulatedPlan()
	case e.Quick:
		p = experiment.QuickPlan()
	default:
		p = experiment.FullPlan()
	}
	p.Program = version
	if e.Shapes != nil {
		p.Shapes = slices.DeleteFunc(p.Shapes, func(s string) bool { return !slices.Contains(e.Shapes, s) })
	}
	if e.Settings != nil {
		p.Static, p.Counts = e.Settings, nil
	}
	if e.Seeds > 0 {
		p.Seeds = seeds(e.Seeds)
	}
	if e.Duration > 0 {
		p.Seconds, p.Lengths = int(e.Duration/time.Second), nil
	}
	if e.Pace > 0 {
		p.Pace, p.Paces = e.Pace, nil
	}
	return p
}

func seeds(n int) []uint64 {
	var list []uint64
	for i := range n {
		list = append(list, uint64(i+1))
	}
	return list
}

// defaultOut is where a full run on a server is kept, whose results are too
// dear to be lost.
const defaultOut = "shardpilot-experiment"

// Folder is where the results go, "" for nowhere.
func (e Experiment) Folder() experiment.Folder {
	if e.Out == "" && !e.Quick && !e.Simulate {
		return defaultOut
	}
	return experiment.Folder(e.Out)
}

// trials are the values to sweep through, one threshold at a time.
func (e Experiment) trials() ([]experiment.Trial, error) {
	var list []experiment.Trial
	for _, sweep := range e.Sweep {
		name, values, found := strings.Cut(sweep, "=")
		if !found || values == "" {
			return nil, usageOf("experiment", "--sweep is like GrowShare=0.2,0.3, got %q", sweep)
		}
		for value := range strings.SplitSeq(values, ",") {
			set := strings.TrimSpace(name) + "=" + strings.TrimSpace(value)
			p := control.DefaultPolicy()
			if err := experiment.SetKnob(&p, strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
				return nil, err
			}
			if err := p.Validate(); err != nil {
				return nil, usageOf("experiment", "--sweep: %s", err)
			}
			list = append(list, experiment.Trial{Name: set, Set: []string{set}})
		}
	}
	return list, nil
}

// SweepPlan is what --sweep asks for.
func (e Experiment) SweepPlan() (experiment.SweepPlan, error) {
	trials, err := e.trials()
	e.Simulate = true
	p := e.Plan("")
	return experiment.SweepPlan{Shapes: p.Shapes, Static: p.Static, Seeds: p.Seeds, Seconds: p.Seconds, Trials: trials, Every: simulatedEvery}, err
}

// simulatedEvery is how many seconds a simulated reading takes.
const simulatedEvery = 3

// Simulator is the bench of --simulate.
func Simulator() experiment.Simulator {
	return experiment.Simulator{Tapes: experiment.NewTapes(experiment.DefaultMachine(), 1), Options: experiment.Options{Every: simulatedEvery}}
}
