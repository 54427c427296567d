package probe

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// Config is how to look. Connect, Discover, Where and Now are required.
type Config struct {
	// Connect opens a connection that needs no session state and prepares
	// nothing by name; its errors are best a *control.Fault. The server should end
	// a statement of it after LookLimit, so that one that takes too long costs a
	// look and not the connection.
	Connect func(context.Context) (*pgx.Conn, error)
	// ConnectSlow opens the one for slow reads, with a limit of SlowLimit; Connect
	// does when it is nil.
	ConnectSlow func(context.Context) (*pgx.Conn, error)
	// Discover says what kind of Awa the database holds.
	Discover func(context.Context, *pgx.Conn) (control.Installation, error)
	// Where says which database this is.
	Where func(context.Context, *pgx.Conn) (control.Database, error)
	// Now is our clock; it should carry a monotonic reading.
	Now func() time.Time

	Pace    float64 // divides durations, at least 1
	BaseHz  float64 // looks a second while they are cheap, 4 when 0
	MaxCost float64 // share of one backend's time that looking may cost, 0.02 when 0
}

// Durations before Pace.
const (
	windowSpan   = 30 * time.Second // behind share, causes and wait per enqueue
	windowParts  = 15               // batches of a window
	stuckAfter   = 2 * time.Second
	groupsWindow = 10 * time.Minute
	queuesEvery  = time.Second
	seqEvery     = time.Second
	depthEvery   = 2 * time.Second
	lanesEvery   = 5 * time.Second
	othersEvery  = 5 * time.Second
	whereEvery   = 10 * time.Second
	queuesStale  = 5 * time.Second // age at which a configured count is unknown
)

// What a pace cannot shorten: a window needs a few looks, and a transaction of
// a quarter of a second is nobody's stuck one.
const (
	leastLooks = 8
	leastStuck = 250 * time.Millisecond
	leastTick  = 100 * time.Millisecond
)

func (c Config) withDefaults() Config {
	if !(c.Pace >= 1) {
		c.Pace = 1
	}
	if c.ConnectSlow == nil {
		c.ConnectSlow = c.Connect
	}
	if !(c.BaseHz > 0) {
		c.BaseHz = 4
	}
	if !(c.MaxCost > 0) {
		c.MaxCost = 0.02
	}
	return c
}

func (c Config) base() time.Duration { return time.Duration(float64(time.Second) / c.BaseHz) }

func (c Config) scaled(d, least time.Duration) time.Duration {
	return max(time.Duration(float64(d)/c.Pace), least)
}

func (c Config) window() time.Duration { return c.scaled(windowSpan, leastLooks*c.base()) }
func (c Config) stuck() time.Duration  { return c.scaled(stuckAfter, leastStuck) }

// Probe looks until it is closed. Its methods may be called from any
// goroutine; Read from one at a time.
type Probe struct {
	cfg    Config
	cancel context.CancelFunc
	wg     sync.WaitGroup

	looked, listed *gate // the first attempts to look, and to find the queues

	mu     sync.Mutex
	st     *state
	readAt time.Time // our clock, the last Read, or the connecting after it
}

// Start begins to look. It returns at once; Close ends it.
func Start(ctx context.Context, cfg Config) *Probe {
	ctx, cancel := context.WithCancel(ctx)
	p := &Probe{cfg: cfg.withDefaults(), cancel: cancel, st: newState(),
		looked: newGate(), listed: newGate()}
	p.readAt = cfg.Now()
	p.st.fault = &control.Fault{Kind: control.FaultNoConnection, What: "not connected to PostgreSQL yet", Hint: "the first attempt is under way"}
	p.wg.Go(func() { p.guarded(ctx, p.sample) })
	p.wg.Go(func() { p.guarded(ctx, p.slowly) })
	return p
}

// guarded hands a panic to whoever calls Read. In a goroutine of its own it
// would end the process under a live screen.
func (p *Probe) guarded(ctx context.Context, f func(context.Context)) {
	defer func() {
		if v := recover(); v != nil {
			p.do(func(st *state) { st.defect = fmt.Sprintf("%v\n%s", v, debug.Stack()) })
			p.looked.open()
			p.listed.open()
		}
	}()
	f(ctx)
}

// Close ends looking and returns when both connections are closed.
func (p *Probe) Close() {
	p.cancel()
	p.wg.Wait()
}

// Read returns what was seen since the previous Read. While there is no
// connection its error is a *control.Fault. Only the first Read may wait, until
// the first attempt to connect and to find the queues has ended, or until ctx
// does. It panics when looking has panicked, which is a defect.
func (p *Probe) Read(ctx context.Context) (control.Snapshot, error) {
	for _, first := range []*gate{p.looked, p.listed} {
		select {
		case <-first.done:
		case <-ctx.Done():
			return control.Snapshot{}, &control.Fault{Kind: control.FaultNoConnection,
				What: "no answer from PostgreSQL yet", Hint: "check host, port and the network between", Err: ctx.Err()}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.defect != "" {
		panic(p.st.defect)
	}
	now := p.cfg.Now()
	period := now.Sub(p.readAt)
	p.readAt = now
	if p.st.fault != nil {
		return control.Snapshot{}, p.st.fault
	}
	return p.cfg.snapshot(p.st, now, period), nil
}

// gate opens once and stays open.
type gate struct {
	once sync.Once
	done chan struct{}
}

func newGate() *gate { return &gate{done: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.done) }) }

// do runs f with the state.
func (p *Probe) do(f func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.st)
}

func (p *Probe) newLink(connect func(context.Context) (*pgx.Conn, error)) *link {
	return &link{connect: connect, now: p.cfg.Now, spent: func(d time.Duration) {
		p.do(func(s *state) { s.meter.statements++; s.meter.busy += d })
	}}
}

// connect opens l, and keeps at it with growing delays until it is open or ctx
// ends. failed is told every failure.
func (p *Probe) connect(ctx context.Context, l *link, failed func(error)) bool {
	delay := firstDelay
	for ctx.Err() == nil {
		tctx, cancel := context.WithTimeout(ctx, connectTimeout)
		conn, err := l.connect(tctx)
		cancel()
		if err == nil {
			l.conn = conn
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		failed(err)
		if !pause(ctx, delay) {
			return false
		}
		delay = min(2*delay, lastDelay)
	}
	return false
}

// Delays between attempts to connect.
const (
	firstDelay = 250 * time.Millisecond
	lastDelay  = 5 * time.Second
)

// longLife is how long a connection lasts whose end is no reason to hold back.
const longLife = time.Minute

// restAfter is the pause before the next connection when the last one, which
// began after rest, lasted for lived. A statement that is given up takes its
// connection along: a server that takes too long over every one would be asked
// again at once, for ever.
func restAfter(rest, lived time.Duration) time.Duration {
	if lived >= longLife {
		return 0
	}
	return min(max(2*rest, firstDelay), slowest)
}

// pause waits, false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
