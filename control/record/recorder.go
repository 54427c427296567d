package record

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"shardpilot/control"
)

// Options are what a recording says of the process that made it, and how large
// it may get.
type Options struct {
	Program string // version
	Process control.Mode
	Pace    float64
	Policy  control.Policy
	Limits  Limits // zero fields mean the usual
	// Hash replaces names by others that mean nothing outside the recording.
	Hash bool
	Now  func() time.Time
}

// Recorder writes the events it is given, when it is asked to. It may be used
// by several goroutines.
type Recorder struct {
	o Options

	mu     sync.Mutex
	tail   []control.LogEntry // newest entries of the log, oldest first
	w      *writer            // nil when it does not record
	hash   *hasher            // nil without Options.Hash
	status Status

	shown atomic.Pointer[Status] // a copy, for whoever must not wait for a disk
}

// Status is how a recording stands.
type Status struct {
	On     bool
	File   string // "" before the first
	Since  time.Time
	Ticks  int
	Queues int   // of the newest tick
	Bytes  int64 // written, files that are gone included
	Missed int   // ticks that came and went while a slow disk was written to
	Err    error // why it stopped by itself, nil when it did not
}

// NewRecorder makes a recorder that does not record yet.
func NewRecorder(o Options) *Recorder {
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = DefaultBytes
	}
	if o.Limits.Files == 0 {
		o.Limits.Files = DefaultFiles
	}
	return &Recorder{o: o}
}

// Start begins a recording in a file that must not exist.
func (r *Recorder) Start(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.w != nil {
		return &control.Fault{Kind: control.FaultRefused, What: "a recording is being made already, to " + r.w.path}
	}
	now := r.o.Now()
	h := Header{Shardpilot: magic, Format: Format, Program: r.o.Program, ID: fmt.Sprintf("%x", now.UnixNano()), Started: now.UTC(),
		Process: r.o.Process, Pace: max(r.o.Pace, 1), Hashed: r.o.Hash, Policy: r.o.Policy}
	before := append([]control.LogEntry(nil), r.tail...)
	r.hash = nil
	if r.o.Hash {
		r.hash = newHasher()
		for i := range before {
			r.hash.entry(&before[i])
		}
	}
	w, err := create(path, r.o.Limits, h, before)
	if err != nil {
		return err
	}
	r.w, r.status = w, Status{On: true, File: path, Since: now}
	r.show()
	return nil
}

// Stop ends the recording; nil when there is none.
func (r *Recorder) Stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.w == nil {
		return nil
	}
	err := r.w.close()
	r.w, r.status.On, r.status.Err = nil, false, err
	r.show()
	return err
}

func (r *Recorder) show() {
	s := r.status
	r.shown.Store(&s)
}

// Status is how the recording stands, or the last one stood at its end. It does
// not wait for what is being written.
func (r *Recorder) Status() Status {
	if s := r.shown.Load(); s != nil {
		return *s
	}
	return Status{}
}

// Run takes events until ctx is done or they end, then ends the recording. An
// error of the file ends the recording only; failed is told then.
func (r *Recorder) Run(ctx context.Context, events <-chan control.Event, failed func(error)) {
	defer func() {
		if err := r.Stop(); err != nil {
			failed(err)
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-events:
			if !ok {
				return
			}
			if err := r.Take(ev); err != nil {
				failed(err)
			}
		}
	}
}

// Take records one event, if a recording is being made. An error ends it.
func (r *Recorder) Take(ev control.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.remember(ev.Entries)
	if r.w == nil {
		return nil
	}
	queues := 0
	if ev.Snapshot != nil {
		queues = len(ev.Snapshot.Readings)
	}
	dropped := ev.Dropped
	if r.hash != nil {
		ev = r.hash.event(ev)
	}
	if err := r.w.event(&ev); err != nil {
		_ = r.w.out.Close() // the error that counts came before
		r.w, r.status.On, r.status.Err = nil, false, err
		r.show()
		return err
	}
	s := &r.status
	s.Ticks++
	s.Queues, s.Bytes = queues, r.w.total
	if s.Ticks == 1 {
		r.w.dropped = dropped
	}
	s.Missed = dropped - r.w.dropped
	r.show()
	return nil
}

// remember keeps the newest entries, with which the next recording begins.
func (r *Recorder) remember(fresh []control.LogEntry) {
	r.tail = append(r.tail, fresh...)
	if len(r.tail) > 2*tail {
		r.tail = append([]control.LogEntry(nil), r.tail[len(r.tail)-tail:]...)
	}
}
