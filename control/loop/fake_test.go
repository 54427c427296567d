package loop

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardpilot/control"
)

// database is what the tests have instead of PostgreSQL: counts, a crowd at
// each queue, a store and a gate over both.
type database struct {
	*memory
	mu      sync.Mutex
	shards  map[string]int
	crowd   map[string]float64
	reads   int
	broken  error         // of Read
	down    error         // of Save and Load
	full    error         // of Save alone
	refuse  error         // of the next Save that uses something up
	gate    error         // of Apply
	slow    time.Duration // Apply takes so long
	applied []control.Step
	saves   []Batch
	lead    control.Leadership
	panics  bool
	skew    time.Duration // the server's clock is so far ahead
}

func newDatabase() *database {
	return &database{
		memory: newMemory(), shards: map[string]int{"orders": 1}, crowd: map[string]float64{"orders": 16},
		lead: control.Leadership{Leading: true, Epoch: 1, Name: "self"},
	}
}

func (d *database) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *database) Read(context.Context) (control.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	if d.panics {
		panic("a defect")
	}
	if d.broken != nil {
		return control.Snapshot{}, d.broken
	}
	now := time.Now().Add(d.skew)
	s := control.Snapshot{
		At: now, ClockSkew: d.skew, Database: control.Database{Host: "db", StartedAt: now.Add(-time.Hour).Truncate(100 * time.Hour)},
		Awa: control.Installation{State: control.AwaActive, MayWatch: true, MayWrite: true},
	}
	for _, q := range slices.Sorted(maps.Keys(d.shards)) {
		n, crowd := d.shards[q], d.crowd[q]
		busy := control.Busy(n, crowd)
		r := control.Reading{
			At: now, Queue: q, Shards: n, PeriodS: 1, WindowS: 120, Samples: 4, Expected: 4,
			WaitSum: 4 * (crowd - busy), HoldSum: 4 * busy, Waiters: control.Some(crowd - busy), Holders: control.Some(busy),
			Inside: control.Some(crowd), EnqueueRate: control.Some(100 * busy), Producers: control.Some(4), HighestShard: n,
			Drained: make([]bool, n+1),
		}
		if crowd > busy {
			r.Causes = control.Causes{Lane: control.Some(1), Notify: control.Some(0), Stuck: control.Some(0), Unknown: control.Some(0)}
		}
		for i := range n {
			r.Drained[i] = true
			r.Lanes = append(r.Lanes, control.LaneReading{Priority: 2, Shard: i, Waiters: control.Some((crowd - busy) / float64(n)), Busy: control.Some(busy / float64(n))})
		}
		s.Readings = append(s.Readings, r)
	}
	return s, nil
}

func (d *database) Save(ctx context.Context, b Batch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down != nil {
		return d.down
	}
	if d.full != nil {
		return d.full
	}
	if err := d.refuse; err != nil && len(b.UseUp) > 0 {
		d.refuse = nil
		return err
	}
	d.saves = append(d.saves, b)
	return d.memory.Save(ctx, b)
}

func (d *database) Load(ctx context.Context, after int64) (Saved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down != nil {
		return Saved{}, d.down
	}
	return d.memory.Load(ctx, after)
}

func (d *database) Apply(ctx context.Context, s control.Step) (control.Change, error) {
	d.mu.Lock()
	slow := d.slow
	d.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return control.Change{}, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gate != nil {
		return control.Change{}, d.gate
	}
	d.applied = append(d.applied, s)
	e := s.Entry
	e.At, e.Outcome = time.Now().Add(d.skew), control.OutcomeApplied
	b := Batch{}
	switch {
	case !s.Hand && s.Mode != control.ModeEnforced:
		e.Outcome = control.OutcomeRefused
	case d.shards[s.Queue] != s.From:
		e.Outcome = control.OutcomeSuperseded
	default:
		d.shards[s.Queue] = s.To
		if s.Pending != 0 {
			b.UseUp = []Used{{Queue: s.Queue, Generation: s.Pending, Must: true}}
		}
		if s.Save {
			b.Policies = []control.QueuePolicy{s.Policy}
		}
	}
	b.Entries = []control.LogEntry{e}
	if err := d.memory.Save(ctx, b); err != nil {
		return control.Change{}, err
	}
	return control.Change{At: e.At, Queue: s.Queue, From: s.From, To: s.To, Actor: s.Actor, Outcome: e.Outcome, Detail: e.Detail}, nil
}

func (d *database) Leadership() control.Leadership {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lead
}

// What the runner's goroutines did, read beside them.

func (d *database) steps() []control.Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.applied)
}

func (d *database) count(queue string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shards[queue]
}

func (d *database) looks() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

func (d *database) saved() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.saves)
}

func (d *database) kinds(kind control.LogKind) (list []control.LogEntry) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	for _, e := range d.entries {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

func (d *database) allow(q control.QueuePolicy) {
	q.Auto, q.AcceptedBy = true, "ann@bastion"
	if q.Max == 0 {
		q.Max = 8
	}
	d.memory.policies[q.Queue] = q
	d.memory.last++
	d.memory.entries = append(d.memory.entries, control.LogEntry{ID: d.memory.last, At: time.Now(), Kind: control.LogAct, Queue: q.Queue, Verb: control.VerbAuto})
}

func (d *database) config() Config {
	return Config{
		Policy: control.DefaultPolicy(), Process: control.ModeEnforced,
		Read: d.Read, Store: d, Leader: d, Gate: d, Now: time.Now,
	}
}

// play runs f beside a runner, on a clock that jumps when everybody waits.
func play(t *testing.T, c Config, f func(t *testing.T, r *Runner)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var stop func() error
		defer func() {
			if err := stop(); err != nil {
				t.Errorf("the runner ended with %v", err)
			}
		}()
		var r *Runner
		stop = start(t, c, func(x *Runner) { r = x })
		f(t, r)
	})
}

func start(t *testing.T, c Config, f func(r *Runner)) func() error {
	t.Helper()
	ticker := time.NewTicker(time.Second)
	c.Tick = ticker.C
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	f(r)
	return func() error {
		cancel()
		ticker.Stop()
		return <-ended
	}
}

// pass lets fake time pass and everything that follows from it happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func decision(t *testing.T, r *Runner, queue string) control.Decision {
	t.Helper()
	e, ok := r.Newest()
	if !ok {
		t.Fatal("no tick yet")
	}
	for _, d := range e.Decisions {
		if d.Queue == queue {
			return d
		}
	}
	t.Fatalf("no decision about %q among %d", queue, len(e.Decisions))
	return control.Decision{}
}

var errDown = errors.New("connection refused")
