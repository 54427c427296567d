package loop

import (
	"sync"

	"shardpilot/control"
)

// subscribers receive events. Whoever is slow misses some: the runner never
// waits for a screen.
type subscribers struct {
	mu     sync.Mutex
	list   []*subscriber
	closed bool
}

type subscriber struct {
	events  chan control.Event
	dropped int
	missed  news // of dropped events
}

// Subscribe returns a channel of events that holds up to buffer of them
// (at least one), and a function that ends the subscription. When the channel
// is full the event is dropped and counted in Event.Dropped of the next one
// that gets through; log entries, changes and verifications of a dropped event
// are carried over to that one. The channel is closed when Run ends or the
// subscription does.
func (r *Runner) Subscribe(buffer int) (<-chan control.Event, func()) {
	s := &subscriber{events: make(chan control.Event, max(buffer, 1))}
	r.subs.mu.Lock()
	defer r.subs.mu.Unlock()
	if r.subs.closed {
		close(s.events)
		return s.events, func() {}
	}
	r.subs.list = append(r.subs.list, s)
	return s.events, func() { r.subs.remove(s) }
}

func (s *subscribers) remove(gone *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.list {
		if x == gone {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			close(x.events)
			return
		}
	}
}

func (s *subscribers) send(e control.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		own := e
		own.Dropped = x.dropped
		own.Changes = after(x.missed.changes, e.Changes)
		own.Verifications = after(x.missed.verifications, e.Verifications)
		own.Entries = after(x.missed.entries, e.Entries)
		select {
		case x.events <- own:
			x.missed = news{}
		default:
			x.dropped++
			x.missed = news{own.Changes, own.Verifications, own.Entries}
		}
	}
}

// after is both lists in one, the newest of them; nothing is copied as long as
// one is empty.
func after[T any](missed, fresh []T) []T {
	if len(missed) == 0 {
		return fresh
	}
	all := append(missed[:len(missed):len(missed)], fresh...)
	return all[max(0, len(all)-tail):]
}

func (s *subscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		close(x.events)
	}
	s.list, s.closed = nil, true
}

// shown is the newest event, for whoever asks.
type shown struct {
	mu sync.Mutex
	e  control.Event
	ok bool
}

func (s *shown) set(e control.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.e, s.ok = e, true
}

// Newest is the newest event with the current decision of every queue; ok is
// false before the first tick. It may be called from any goroutine; what it
// holds must not be changed.
func (r *Runner) Newest() (e control.Event, ok bool) {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	return r.shown.e, r.shown.ok
}
