package experiment

import (
	"fmt"
	"time"

	"shardpilot/control"
)

// Options are what a simulation can be told beyond its Job. The zero value is
// the default policy, a reading a second, from tapes.
type Options struct {
	Policy *control.Policy // nil for control.DefaultPolicy
	// Every is how many seconds a reading takes, 1 to 3; 0 is 1. The policy's
	// Period and Batch become at least as long, all else stays. Three is the
	// longest at which the fast path still has the batches it needs.
	Every int
	// DecideEach decides at each so-many-th reading only; 0 is each one. Steps
	// come as much later; months in minutes.
	DecideEach int
	// Events plays every enqueue instead of blocks of tapes; Every must be 1.
	Events bool
	// Start is the count to begin with, 0 for the shape's own.
	Start int
	// Watch, when set, is told every step of the controller, after the promises
	// were checked.
	Watch func(in control.Input, d control.Decision, fx control.Effects)
}

// Play runs a job on the simulator: its shape's load under the default policy,
// or another, for job.Seconds of fake time.
func Play(tapes *Tapes, shape Shape, job Job, o Options) (Result, error) {
	p := control.DefaultPolicy()
	if o.Policy != nil {
		p = *o.Policy
	}
	o.Every = max(o.Every, 1)
	if o.Every > 3 || o.Events && o.Every > 1 {
		return Result{}, fmt.Errorf("a reading of %d seconds cannot be simulated", o.Every)
	}
	p.Period = max(p.Period, time.Duration(o.Every)*time.Second)
	p.Batch = max(p.Batch, p.Period)
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	start := shape.Start
	if o.Start > 0 {
		start = o.Start
	}
	if job.Setting.Static > 0 {
		start = job.Setting.Static
	}
	var src source = &fromTapes{tapes: tapes, player: newPlayer(job.Seed)}
	if o.Events {
		src = &fromEvents{machine: tapes.machine, seed: job.Seed << 20}
	}
	s := newStage(shape, src, job.Seed, start, o.Every)
	rec := newRecorder(job, start)
	var pilot *pilot
	if job.Setting.Static == 0 {
		pilot = newPilot(p, shape, s, o)
	}
	for int(s.seconds) < job.Seconds {
		before := s.shards
		r := s.read()
		rec.reading(s, &r)
		if pilot == nil {
			continue
		}
		pilot.tick(r)
		if s.shards != before {
			rec.change(s, before, pilot.why)
		}
	}
	out := rec.finish(s)
	if pilot != nil {
		out.Broken = append(out.Broken, pilot.checks.broken...)
		out.Verdicts = pilot.verdicts
		out.Oscillating = pilot.oscillating
	}
	return out, nil
}

// pilot is the controller around a stage: what control/loop does, without the
// goroutines, the waiting and a database.
type pilot struct {
	p      control.Policy
	stage  *stage
	watch  func(control.Input, control.Decision, control.Effects)
	each   int // decides at each so-many-th reading
	read   int // readings so far
	world  control.World
	budget control.Budget
	queue  control.QueuePolicy
	track  *control.Track
	state  control.State
	snap   control.Snapshot
	checks promises

	why         control.Reason // of the newest step
	verdicts    []string
	oscillating bool
}

func newPilot(p control.Policy, shape Shape, s *stage, o Options) *pilot {
	d := &pilot{p: p, stage: s, watch: o.Watch, each: max(o.DecideEach, 1), track: control.NewTrack(p), verdicts: []string{}}
	d.queue = control.QueuePolicy{
		Queue: queueName, Auto: true, Enforced: true, Max: shape.Max,
		AcceptedBy: "simulator", AcceptedAt: epoch, Generation: 1,
	}
	d.snap = control.Snapshot{
		Database: control.Database{Host: "simulator", Port: 5432, StartedAt: epoch.Add(-24 * time.Hour)},
		Awa:      control.Installation{State: control.AwaActive, MayWatch: true, MayWrite: true},
		Readings: make([]control.Reading, 1),
	}
	d.world = control.World{Process: control.ModeEnforced, Now: epoch}
	d.world = d.world.Follow(p, control.Leadership{Leading: true, Epoch: 1, Name: "self"})
	d.checks.p = p
	return d
}

// tick is one reading: decide, check every promise, and carry out.
func (d *pilot) tick(r control.Reading) {
	d.snap.At, d.snap.Readings[0] = r.At, r
	d.world = d.world.See(d.p, d.snap)
	d.track.Observe(d.p, r)
	if d.read++; d.read%d.each != 0 {
		return
	}
	in := control.Input{World: d.world, Queue: d.queue, Signal: d.track.Signal(d.p), Budget: d.budget}
	var decision control.Decision
	var fx control.Effects
	d.state, decision, fx = control.Decide(d.p, d.state, in)
	d.checks.check(&in, &decision, &fx)
	if d.watch != nil {
		d.watch(in, decision, fx)
	}
	for _, e := range fx.Entries {
		d.learn(e)
	}
	if fx.Step != nil {
		d.apply(fx.Step, &r)
	}
	d.oscillating = d.state.Oscillating
}

// apply is the gate: it looks again at what the step rests on.
func (d *pilot) apply(step *control.Step, r *control.Reading) {
	e := step.Entry
	e.At, e.Outcome = r.At, control.OutcomeApplied
	drained, known := r.DrainedAbove(step.To)
	switch {
	case step.From != d.stage.shards:
		e.Outcome = control.OutcomeSuperseded
	case step.Drained && !(drained && known):
		e.Outcome, e.Reason = control.OutcomeRefused, control.ReasonNotDrained
	}
	if e.Outcome == control.OutcomeApplied {
		d.stage.set(step.To)
		d.why = step.Entry.Reason
		d.checks.applied(step, r.At)
	}
	d.learn(e)
}

func (d *pilot) learn(e control.LogEntry) {
	d.budget.Learn(e, e.At)
	d.state.Learn(d.p, e, e.At)
	if e.Kind != control.LogVerdict {
		return
	}
	d.checks.judged(&e)
	if len(d.verdicts) < mostListed {
		d.verdicts = append(d.verdicts, fmt.Sprintf("%s %d→%d %s: %s", e.At.Format("02 15:04:05"), e.From, e.To, e.Verdict, e.Detail))
	}
}
