package control

import "time"

// ring keeps the newest cells of one length. Slot i of time is the span
// (i·step, (i+1)·step] since the Unix epoch; it lies at i mod len(cells).
type ring[T any] struct {
	step  time.Duration
	cells []T   // nil until there is something to keep
	head  int64 // newest slot written
}

func slotOf(at time.Time, step time.Duration) int64 {
	n := at.UnixNano() - 1 // a sample at a boundary belongs to the batch it ends
	i := n / int64(step)
	if n < 0 && n%int64(step) != 0 {
		i--
	}
	return i
}

func (r *ring[T]) place(slot int64) *T {
	n := int64(len(r.cells))
	i := slot % n
	if i < 0 {
		i += n
	}
	return &r.cells[i]
}

// at is the cell to add to for a slot, nil when the slot is older than the
// ring. A slot ahead of the head clears everything between.
func (r *ring[T]) at(slot int64) *T {
	n := int64(len(r.cells))
	switch {
	case slot <= r.head-n:
		return nil
	case slot > r.head:
		if slot-r.head >= n {
			clear(r.cells)
		} else {
			var zero T
			for i := r.head + 1; i <= slot; i++ {
				*r.place(i) = zero
			}
		}
		r.head = slot
	}
	return r.place(slot)
}

// get is the cell of a slot, zero when the ring does not hold it.
func (r *ring[T]) get(slot int64) T {
	if slot > r.head || slot <= r.head-int64(len(r.cells)) {
		var zero T
		return zero
	}
	return *r.place(slot)
}

// between is what the ring holds of the slots first to last, oldest first, in
// two pieces; from is the first slot it holds of them.
func (r *ring[T]) between(first, last int64) (older, newer []T, from int64) {
	n := int64(len(r.cells))
	first, last = max(first, r.head-n+1), min(last, r.head)
	if first > last {
		return nil, nil, first
	}
	i := (first%n + n) % n
	end := i + last - first + 1
	if end <= n {
		return r.cells[i:end], nil, first
	}
	return r.cells[i:], r.cells[:end-n], first
}
