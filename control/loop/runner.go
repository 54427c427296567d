package loop

import (
	"context"
	"errors"
	"sync"
	"time"

	"shardpilot/control"
)

// Config is what a runner is made of. Everything that touches the outside
// comes in through it.
type Config struct {
	Policy  control.Policy
	Queues  map[string]control.Policy // in its stead for single queues
	Process control.Mode              // control.ModeEnforced, or anything else for shadow

	// Read takes one snapshot of the database. It is called from one goroutine
	// at a time and must end when its context does.
	Read func(ctx context.Context) (control.Snapshot, error)

	// Store, Leader and Gate are the way to write. Without a store the runner
	// watches only: everything is shadow, kept in memory, and Memory says why.
	// Without a gate counts cannot be written, by nobody.
	Store  Store
	Leader Leader
	Gate   Gate
	Memory string // why there is no store, one sentence; goes into every event

	Tick <-chan time.Time // when to read; a tick during a read is skipped
	Now  func() time.Time // our clock

	// Timeout bounds each call of the store and the gate, Reload is how often
	// the log is asked for what others wrote. Zero means 10 s and 5 s.
	Timeout time.Duration
	Reload  time.Duration
}

// Runner owns the state of all queues: at each tick it reads, decides, records
// or applies, and tells its subscribers.
//
//	         tick                  snapshot or error
//	─────────────────▶ read ───────────────────────────▶ decide ──▶ event
//	                (goroutine)                             │
//	Do ──▶ command ─────────────────────────────────────▶ effects
//	                                                        │ one errand at a time
//	                                                        ▼
//	          learn ◀────── new log entries ◀────── save, apply, load
//	                                                    (goroutine)
//
// The goroutine of Run owns the state and never waits for the database or for
// a subscriber. What is to be written goes out as one errand at a time; while
// it is out, what later ticks want is dropped, since they will want it again.
// An errand ends with loading the log, and the state moves by what the log
// says, be it ours or another process's. So a write that failed, or whose
// answer got lost, leaves no trace in memory that the database does not have.
type Runner struct {
	c     Config
	alone bool // no store was given; the log is kept in memory

	asks    chan ask
	uses    chan control.Rules
	stopped chan struct{} // closed when Run has ended
	subs    subscribers
	shown   shown

	// Below: owned by the goroutine of Run.
	wg      sync.WaitGroup
	rules   control.Rules
	world   control.World
	budget  control.Budget
	members map[string]*member
	order   []*member     // by queue name
	skew    time.Duration // server clock minus ours

	reads      chan readResult
	reading    bool
	held       *readResult // the first read, until the log is there
	failures   int
	failed     *control.Failure // the newest, nil while reads succeed
	retryAt    time.Time
	errands    chan errandResult
	errand     *errand // the one that is out, nil when none is
	asked      []ask   // commands that wait for it
	last       int64   // newest log entry known
	loaded     bool
	loadedAt   time.Time // our clock, when the newest successful load began
	loadTried  time.Time
	ledAt      time.Time // our clock, when this process began to lead
	wantLoad   bool
	storeSince time.Time
	news       news
	fatal      error
}

// news is what was learned since the last event.
type news struct {
	changes       []control.Change
	verifications []control.Verification
	entries       []control.LogEntry
}

// New checks a config. The runner does nothing before Run.
func New(c Config) (*Runner, error) {
	rules := control.Rules{Policy: c.Policy, Queues: c.Queues}
	if err := rules.Validate(); err != nil {
		return nil, err
	}
	if c.Read == nil || c.Tick == nil || c.Now == nil {
		return nil, errors.New("loop: Read, Tick and Now are needed")
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Reload <= 0 {
		c.Reload = 5 * time.Second
	}
	r := &Runner{
		c: c, rules: rules, asks: make(chan ask), uses: make(chan control.Rules), stopped: make(chan struct{}), members: map[string]*member{},
		reads: make(chan readResult, 1), errands: make(chan errandResult, 1),
	}
	if c.Store == nil {
		r.alone = true
		r.c.Store, r.c.Leader, r.c.Gate = newMemory(), nil, nil
	}
	r.world = control.World{Process: control.ModeShadow, Alone: r.alone, Store: notLoaded}
	if c.Process == control.ModeEnforced && r.c.Gate != nil {
		r.world.Process = control.ModeEnforced
	}
	return r, nil
}

const notLoaded = "the decision log has not been read yet"

// Run works until the context ends, and returns when every goroutine it
// started has; then subscriptions are closed and commands refused. The error is
// nil, or what should not have happened: a defect in Read, the store or the
// gate, as a *control.Fault. Run may be called once.
func (r *Runner) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer r.stop(cancel)
	tick := r.c.Tick
	for r.fatal == nil {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-tick:
			if !ok {
				tick = nil
				continue
			}
			r.tick(ctx)
		case got := <-r.reads:
			r.reading = false
			r.take(ctx, got)
		case done := <-r.errands:
			r.finish(done)
			if held := r.held; held != nil {
				r.held = nil
				r.take(ctx, *held)
			}
			r.dispatch(ctx)
		case rules := <-r.uses:
			r.use(rules)
		case a := <-r.asks:
			r.asked = append(r.asked, a)
			r.dispatch(ctx)
		}
	}
	return r.fatal
}

func (r *Runner) stop(cancel context.CancelFunc) {
	cancel()
	r.wg.Wait()
	if r.errand != nil {
		r.finish(<-r.errands)
	}
	close(r.stopped)
	for _, a := range r.asked {
		a.reply <- answer{err: stopping()}
	}
	r.subs.close()
}

func stopping() error {
	return &control.Fault{Kind: control.FaultFailed, What: "the controller is stopping", Hint: "Nothing was done"}
}

// serverNow is the server's clock as far as we know it.
func (r *Runner) serverNow() time.Time { return r.c.Now().Add(r.skew) }
