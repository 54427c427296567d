package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// Running is a load at work.
//
// Two ends reach its goroutines: ending closes when they should finish what
// they have in hand, and ctx is cancelled when they must let go of it. Both
// happen in Stop; the second also when the context given to Run ends.
type Running struct {
	config  *pgx.ConnConfig
	storage string
	ours    bool // the schema is the rehearsal's, no real Awa
	spec    Spec
	tally   *tally
	started time.Time

	ctx    context.Context
	cancel context.CancelFunc
	ending chan struct{}
	once   sync.Once
	all    sync.WaitGroup
	done   chan struct{} // closed when every goroutine has returned

	told    atomic.Uint64 // how often Told was called
	reports atomic.Bool   // shardpilot.producer exists
}

// Run makes the lanes of spec, sets their counts, and starts its sessions
// against the database at url (a URL or keyword string). The storage schema
// must be installed. It returns when the lanes are there; the sessions connect
// by themselves and keep trying until Stop. url must lead to the server itself
// or a session pool: each session keeps settings of its own.
//
// ctx bounds the whole run: when it ends, everything is cut off. Stop must be
// called all the same, to join.
func Run(ctx context.Context, url string, spec Spec) (*Running, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the connection string: %w", err)
	}
	return RunWith(ctx, config, spec)
}

// RunWith is Run with a connection that is described already. The config becomes
// the load's own.
func RunWith(ctx context.Context, config *pgx.ConnConfig, spec Spec) (*Running, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {} // of no interest to a load
	r := &Running{
		config:  config,
		spec:    spec,
		tally:   newTally(),
		started: time.Now(),
		ending:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.start()
	return r, nil
}

// prepare finds the storage schema and makes lanes and counts.
func (r *Running) prepare(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, r.config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer closeQuietly(conn)
	if r.storage, err = storageOf(ctx, conn); err != nil {
		return err
	}
	if err := r.recognise(ctx, conn); err != nil {
		return err
	}
	for _, q := range r.spec.Queues {
		lanes := cmp.Or(q.Lanes, q.Shards, 1)
		if err := Provision(ctx, conn, q.Name, lanes, q.Priorities...); err != nil {
			return err
		}
		if q.Shards == 0 {
			continue
		}
		if err := SetShards(ctx, conn, q.Name, q.Shards); err != nil {
			return err
		}
	}
	return nil
}

// recognise looks whose schema this is. A real Awa takes producers and holders
// that go through insert_job_compat and nothing else from us.
func (r *Running) recognise(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, statement("run/ours.sql"), r.storage).Scan(&r.ours); err != nil {
		return fmt.Errorf("look whose schema this is: %w", err)
	}
	if r.ours {
		return nil
	}
	direct := slices.ContainsFunc(r.spec.Producers, Producers.direct)
	if direct || len(r.spec.Workers) > 0 {
		return &control.Fault{
			Kind: control.FaultRefused,
			What: "this is no rehearsal schema, so only single-row producers and holders may run here",
			Hint: "Leave out workers, batches and cached counts, or install the rehearsal schema.",
		}
	}
	return nil
}

// start launches every session of the spec.
func (r *Running) start() {
	for g, p := range r.spec.Producers {
		for n := range p.Count {
			r.goroutine(newProducer(r, p, g, n).run)
		}
	}
	for _, w := range r.spec.Workers {
		inst := newInstance(r, w)
		for n := range w.Count {
			r.goroutine(newWorker(r, w, inst, n).run)
		}
		r.goroutine(inst.run)
	}
	for _, h := range r.spec.Holders {
		r.goroutine((newHolder(r, h)).run)
	}
	r.goroutine(newJanitor(r).run)
	go func() {
		r.all.Wait()
		close(r.done)
	}()
}

func (r *Running) goroutine(f func()) {
	r.all.Add(1)
	go func() {
		defer r.all.Done()
		f()
	}()
}

// Stats are the sums so far.
func (r *Running) Stats() Stats {
	now := time.Now()
	return r.tally.stats(now, now.Sub(r.started))
}

// Told lets producers that cached their shard count read it again before their
// next transaction, as a restart would.
func (r *Running) Told() { r.told.Add(1) }

// Stop ends the load and returns when every goroutine has ended and every
// connection is closed. Sessions finish the transaction they are in, holds cut
// short; when ctx ends before that they are cut off, the server rolls back,
// and Stop returns the context's error. Calling it again is harmless.
func (r *Running) Stop(ctx context.Context) error {
	r.once.Do(func() { close(r.ending) })
	defer r.cancel()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	r.cancel()
	<-r.done
	return fmt.Errorf("stop the load: %w", context.Cause(ctx))
}

// over says whether the end was announced.
func (r *Running) over() bool {
	select {
	case <-r.ending:
		return true
	case <-r.ctx.Done():
		return true
	default:
		return false
	}
}

// pause waits for d, or less when the end is announced.
func (r *Running) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ending:
	case <-r.ctx.Done():
	}
}

// report counts an error and passes it on.
func (r *Running) report(role, queue, application string, err error) {
	class := classify(r.ctx, err)
	r.tally.fail(class)
	if r.spec.OnError != nil {
		r.spec.OnError(Incident{Role: role, Queue: queue, Application: application, Class: class, Err: err})
	}
}
