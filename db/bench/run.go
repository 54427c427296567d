package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"shardpilot/control/experiment"
	"shardpilot/db/rehearsal"
)

const (
	binEvery = time.Second
	// readyWithin is how long a controller may take to come up.
	readyWithin = 2 * time.Minute
)

// Run implements experiment.Bench.
func (b *Bench) Run(ctx context.Context, job experiment.Job) (experiment.Result, error) {
	result, err := b.run(ctx, job)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // whatever it was that was cut off
	}
	return result, err
}

func (b *Bench) run(ctx context.Context, job experiment.Job) (experiment.Result, error) {
	shape, err := experiment.ShapeNamed(job.Shape)
	if err != nil {
		return experiment.Result{}, err
	}
	start := shape.Start
	if job.Setting.Static > 0 {
		start = job.Setting.Static
	}
	spec, err := b.load(shape, job)
	if err != nil {
		return experiment.Result{}, err
	}
	if err := b.reset(ctx); err != nil {
		return experiment.Result{}, err
	}
	if b.o.Max > 0 {
		shape.Max = b.o.Max
	}
	auto := job.Setting.Static == 0
	if err := b.prepare(ctx, start, shape.Max, auto); err != nil {
		return experiment.Result{}, err
	}
	r := &run{b: b, job: job, out: experiment.Result{
		Job: job, Bench: b.Name(), Start: start, Changes: []experiment.ChangeAt{}, Errors: map[string]uint64{},
		Verdicts: []string{}, Broken: []string{},
	}}
	if auto {
		err = r.withController(ctx, spec)
	} else {
		err = r.play(ctx, spec)
	}
	if err != nil {
		return experiment.Result{}, err
	}
	return r.finish(ctx, shape.Max)
}

// run is one run at work.
type run struct {
	b     *Bench
	job   experiment.Job
	out   experiment.Result
	began time.Time // on the server's clock

	mu     sync.Mutex
	errors map[string]uint64 // of producers, by class
}

// withController plays beside a controller, from when it is ready until the
// load has ended.
func (r *run) withController(ctx context.Context, spec rehearsal.Spec) error {
	own, stop := context.WithCancel(ctx)
	defer stop()
	up := make(chan struct{})
	ended := make(chan error, 1)
	var once sync.Once
	go func() { ended <- r.b.o.Control(own, r.b.cfg, pace(r.job), func() { once.Do(func() { close(up) }) }) }()
	limit := time.NewTimer(readyWithin)
	defer limit.Stop()
	var err error
	select {
	case <-up:
		played := make(chan error, 1)
		playing, cut := context.WithCancel(ctx)
		defer cut()
		go func() { played <- r.play(playing, spec) }()
		select {
		case err = <-played:
		case gone := <-ended:
			cut()
			err = <-played
			if ctx.Err() != nil {
				return err
			}
			return fmt.Errorf("the controller ended before the run did: %w", orEnded(ctx, gone))
		}
	case <-limit.C:
		err = fmt.Errorf("the controller was not ready within %v", readyWithin)
	case gone := <-ended:
		return fmt.Errorf("the controller did not come up: %w", orEnded(ctx, gone))
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	stop()
	return errors.Join(err, <-ended)
}

var errNoReason = errors.New("it gave no reason")

func orEnded(ctx context.Context, err error) error {
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return errNoReason
}

// play puts the load on and measures it second by second.
func (r *run) play(ctx context.Context, spec rehearsal.Spec) (err error) {
	r.errors = map[string]uint64{}
	spec.OnError = func(i rehearsal.Incident) {
		if i.Role == "producer" {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errors[i.Class]++
		}
	}
	if r.b.awa != nil {
		stop, failed := r.b.awa.work(ctx)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, stop()) }()
		spec.Workers = nil
	}
	if err := r.b.conn.QueryRow(ctx, statement("clock")).Scan(&r.began); err != nil {
		return fmt.Errorf("read the server's clock: %w", err)
	}
	// The load outlives ctx, so that it can be stopped gracefully.
	load, err := rehearsal.RunWith(context.WithoutCancel(ctx), r.b.cfg.Direct(), spec)
	if err != nil {
		return err
	}
	err = r.measure(ctx, load)
	r.keepErrors() // before the load is cut off, which is none of its own
	end, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if stopErr := load.Stop(end); !errors.Is(stopErr, context.DeadlineExceeded) { // what was in flight is rolled back
		err = errors.Join(err, stopErr)
	}
	return err
}

func (r *run) keepErrors() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for class, n := range r.errors {
		r.out.Errors[class] = n
	}
}

// measure takes the load's sums once a second and cuts them into bins.
func (r *run) measure(ctx context.Context, load *rehearsal.Running) error {
	tick := time.NewTicker(binEvery)
	defer tick.Stop()
	var before rehearsal.Stats
	for before.Elapsed < time.Duration(r.job.Seconds)*time.Second {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		now := load.Stats()
		r.out.Bins = append(r.out.Bins, bin(before, now))
		before = now
	}
	r.out.Shed = before.Queues[queue].Shed
	return nil
}

func bin(before, now rehearsal.Stats) experiment.Bin {
	part := now.Since(before)
	q := part.Queues[queue]
	out := experiment.Bin{AtS: before.Elapsed.Seconds(), Seconds: part.Elapsed.Seconds(), Jobs: q.Enqueued, Latency: []experiment.Bucket{}}
	if all := q.LaneWaitS + q.LaneHeldS; all > 0 {
		out.Share = max(q.LaneWaitS, 0) / all
	}
	for _, l := range q.Latency.Buckets() {
		out.Latency = append(out.Latency, experiment.Bucket{UpToS: l.UpToS, N: l.N})
	}
	return out
}
