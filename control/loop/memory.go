package loop

import (
	"context"
	"slices"
	"sync"

	"shardpilot/control"
)

// memory is the store of a runner that has none: the same rules, nothing kept
// beyond the process.
type memory struct {
	mu       sync.Mutex
	last     int64
	entries  []control.LogEntry
	policies map[string]control.QueuePolicy
	pending  map[string]control.Pending
}

// memoryEntries is how much of the log is kept in memory.
const memoryEntries = 2000

func newMemory() *memory {
	return &memory{policies: map[string]control.QueuePolicy{}, pending: map[string]control.Pending{}}
}

// Load implements Store.
func (m *memory) Load(_ context.Context, after int64) (Saved, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Saved{Last: m.last}
	if m.last < after {
		after = 0
	}
	for _, e := range m.entries {
		if e.ID > after {
			s.Entries = append(s.Entries, e)
		}
	}
	for _, q := range m.policies {
		s.Policies = append(s.Policies, q)
	}
	for _, p := range m.pending {
		s.Pending = append(s.Pending, p)
	}
	return s, nil
}

// Save implements Store.
func (m *memory) Save(_ context.Context, b Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range b.Policies {
		if have := m.policies[q.Queue].Generation; have != q.Generation {
			return refused("the settings of the queue were changed meanwhile", "Look at them, then decide again")
		}
	}
	for _, u := range b.UseUp {
		if p, ok := m.pending[u.Queue]; u.Must && (!ok || p.Generation != u.Generation) {
			return refused("the step is no longer pending", "")
		}
	}
	for _, q := range b.Policies {
		q.Generation++
		m.policies[q.Queue] = q
	}
	for _, u := range b.UseUp {
		if p, ok := m.pending[u.Queue]; ok && p.Generation == u.Generation {
			delete(m.pending, u.Queue)
		}
	}
	for _, p := range b.Propose {
		m.pending[p.Queue] = p
	}
	for _, e := range b.Entries {
		m.last++
		e.ID = m.last
		m.entries = append(m.entries, e)
	}
	if extra := len(m.entries) - memoryEntries; extra > 0 {
		m.entries = slices.Delete(m.entries, 0, extra)
	}
	return nil
}
