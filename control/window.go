package control

import (
	"math"
	"time"
)

// Interval is a share with its 95% confidence interval.
type Interval struct {
	Mean    Value   // Σw / Σ(w+h); 0 when samples exist but nobody was there; absent without samples
	Low     Value   // absent, like High, with fewer than 10 batches
	High    Value   // 0..1
	Batches int     // batches with samples behind the interval
	Samples int     // samples in the span
	SpanS   float64 // seconds from the start of the oldest batch with samples to the end of the newest
}

// The shape of a window. Two rings keep it small: a fine one for the short
// spans a controller grows on and a coarse one for the long calm it shrinks on.
const (
	fineSlots   = 128
	coarseSlots = 128
	// maxGap is the number of batches without a call after which an idle
	// window forgets what came before.
	maxGap = 8
)

// cell is what one batch saw.
type cell struct {
	wait, hold float32 // Σw, Σh over the samples
	samples    uint32
}

func (c *cell) add(o cell) {
	c.wait += o.wait
	c.hold += o.hold
	c.samples += o.samples
}

// Window keeps the waiting and holding sessions of one queue over a rolling
// span and estimates its wait share from them.
//
// Its memory is bounded (about 3 KB) and a queue at which nobody is ever seen
// takes none of it: as long as every sample is empty the window is three
// numbers. Add allocates only when somebody shows up after a whole span
// without anybody.
//
// A Window is not safe for concurrent use.
type Window struct {
	span, batch  time.Duration
	fine, coarse ring[cell]
	busyAt       time.Time // newest sample at which somebody was there

	// The idle form: samples of an empty queue, evenly spread over (from, to].
	from, to time.Time
	idle     int
}

// NewWindow makes a window over span that tells batches of the given length
// apart. Spans of up to 128 batches are estimated at that length, longer ones
// from batches of 1/128 of the span. Lengths that make no sense (zero,
// negative, a batch longer than the span) become the nearest that do.
func NewWindow(span, batch time.Duration) *Window {
	batch = max(batch, time.Millisecond)
	span = max(span, batch)
	step := (span + coarseSlots*batch - 1) / (coarseSlots * batch) * batch
	return &Window{
		span: span, batch: batch,
		fine:   ring[cell]{step: batch},
		coarse: ring[cell]{step: step},
	}
}

// Add records the sums of waiting and holding sessions over samples that ended
// at the given time. Calls may repeat a time; one that is older than the
// window is ignored, one without samples says nothing, sums that are no numbers
// are no samples.
func (w *Window) Add(at time.Time, waiting, holding float64, samples int) {
	if samples <= 0 || !finite(waiting) || !finite(holding) {
		return
	}
	c := cell{wait: float32(max(waiting, 0)), hold: float32(max(holding, 0)), samples: uint32(samples)}
	if c.wait == 0 && c.hold == 0 {
		if w.fine.cells == nil || at.Sub(w.busyAt) > w.span+w.coarse.step {
			w.addIdle(at, samples)
			return
		}
	} else {
		w.open(at)
		if at.After(w.busyAt) {
			w.busyAt = at
		}
	}
	for _, r := range [...]*ring[cell]{&w.fine, &w.coarse} {
		if slot := r.at(slotOf(at, r.step)); slot != nil {
			slot.add(c)
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// addIdle lengthens the idle run. After a gap the run starts anew: an empty
// queue may look less observed than it was, never more.
func (w *Window) addIdle(at time.Time, samples int) {
	if w.fine.cells != nil { // a whole span without anybody: back to the idle form
		w.from, w.to, w.idle = at.Add(-w.span), at, w.count(at)
		w.fine.cells, w.coarse.cells = nil, nil
	}
	if w.idle == 0 || at.Sub(w.to) > maxGap*w.coarse.step || at.Before(w.from) {
		w.from, w.to, w.idle = at, at, 0
	}
	if w.from.Equal(w.to) && at.After(w.to) { // the second call tells how long the first one's samples took
		w.from = w.to.Add(-at.Sub(w.to))
	}
	w.idle += samples
	if at.After(w.to) {
		w.to = at
	}
	if long := w.to.Sub(w.from); long > w.span {
		w.idle = int(float64(w.idle) * float64(w.span) / float64(long))
		w.from = w.to.Add(-w.span)
	}
}

func (w *Window) count(at time.Time) int {
	n, head := 0, slotOf(at, w.coarse.step)
	for i := head - int64(w.span/w.coarse.step) + 1; i <= head; i++ {
		n += int(w.coarse.get(i).samples)
	}
	return n
}

// open turns the idle form into rings, the idle samples spread over them.
func (w *Window) open(at time.Time) {
	if w.fine.cells != nil {
		return
	}
	w.fine.cells, w.coarse.cells = make([]cell, fineSlots), make([]cell, coarseSlots)
	for _, r := range [...]*ring[cell]{&w.fine, &w.coarse} {
		r.head = slotOf(at, r.step)
		if w.idle == 0 {
			continue
		}
		last := slotOf(w.to, r.step)
		first := max(slotOf(w.from, r.step)+1, r.head-int64(len(r.cells))+1)
		each := float64(w.idle) * float64(r.step) / float64(max(w.to.Sub(w.from), r.step))
		for i := first; i <= last && i <= r.head; i++ {
			n := int(each*float64(i-first+1)) - int(each*float64(i-first))
			r.place(i).samples = uint32(n)
		}
	}
	w.idle = 0
}

// Reset forgets everything.
func (w *Window) Reset() {
	*w = Window{span: w.span, batch: w.batch, fine: ring[cell]{step: w.fine.step}, coarse: ring[cell]{step: w.coarse.step}}
}

// Share estimates the wait share over the span that ends at now. The newest
// batch may be unfinished.
func (w *Window) Share(now time.Time, span time.Duration) Interval {
	span = min(max(span, w.batch), w.span)
	if w.fine.cells == nil {
		return w.idleShare(now, span)
	}
	var buf [fineSlots]cell
	out, seq := w.glance(now, span, buf[:0])
	if len(seq) > 0 {
		out.estimate(seq)
	}
	return out
}

// glance is the share over a span without the ends of its interval, which are
// most of the work, and the batches with samples, put into seq.
func (w *Window) glance(now time.Time, span time.Duration, seq []cell) (Interval, []cell) {
	span = min(max(span, w.batch), w.span)
	if w.fine.cells == nil {
		return w.idleShare(now, span), seq
	}
	r, first, last := w.slots(now, span)
	older, newer, from := r.between(first, last)
	var out Interval
	var sum cell
	var oldest, newest int64
	for _, piece := range [...][]cell{older, newer} {
		for i := range piece {
			c := &piece[i]
			if c.samples == 0 {
				continue
			}
			newest = from + int64(i)
			if len(seq) == 0 {
				oldest = newest
			}
			sum.add(*c)
			seq = append(seq, *c)
		}
		from += int64(len(piece))
	}
	if len(seq) == 0 {
		return out, seq
	}
	out.Mean, out.Batches, out.Samples = sum.share(), len(seq), int(sum.samples)
	out.SpanS = (time.Duration(newest-oldest+1) * r.step).Seconds()
	return out, seq
}

// share is the wait share of a cell, absent without samples.
func (c *cell) share() Value {
	switch d := float64(c.wait) + float64(c.hold); {
	case c.samples == 0:
		return None()
	case d == 0:
		return Some(0)
	default:
		return Some(float64(c.wait) / d)
	}
}

// slots are the ring that answers for a span, and its slots from first to last.
func (w *Window) slots(now time.Time, span time.Duration) (r *ring[cell], first, last int64) {
	r = &w.fine
	if span > fineSlots*w.batch {
		r = &w.coarse
	}
	last = slotOf(now, r.step)
	return r, last - max(int64((span+r.step/2)/r.step), 1) + 1, last
}

// mean is the share over a span without its interval, which is most of the
// work.
func (w *Window) mean(now time.Time, span time.Duration) Value {
	span = min(max(span, w.batch), w.span)
	if w.fine.cells == nil {
		if _, samples := w.idleOver(now, span); samples == 0 {
			return None()
		}
		return Some(0)
	}
	var sum cell
	r, first, last := w.slots(now, span)
	older, newer, _ := r.between(first, last)
	for i := range older {
		sum.add(older[i])
	}
	for i := range newer {
		sum.add(newer[i])
	}
	return sum.share()
}

// began is when the oldest batch of a span began.
func (w *Window) began(now time.Time, span time.Duration) time.Time {
	if w.fine.cells == nil {
		return now.Add(-span)
	}
	r, first, _ := w.slots(now, min(max(span, w.batch), w.span))
	return time.Unix(0, first*int64(r.step))
}

// idleShare answers for a window in its idle form: the overlap of the span
// with the idle run, in which every batch was empty.
func (w *Window) idleShare(now time.Time, span time.Duration) Interval {
	over, samples := w.idleOver(now, span)
	if samples == 0 {
		return Interval{}
	}
	step := w.batch
	if span > fineSlots*w.batch {
		step = w.coarse.step
	}
	out := Interval{Mean: Some(0), SpanS: over.Seconds(), Samples: samples}
	out.Batches = min(max(1, int((over+step/2)/step)), samples, fineSlots)
	if out.Batches >= minBatches {
		out.Low, out.High = Some(0), Some(empty(out.Batches).bound(1, +1))
	}
	return out
}

// idleOver is how much of a span the idle run covers, and its samples there.
func (w *Window) idleOver(now time.Time, span time.Duration) (time.Duration, int) {
	from, to, began := now.Add(-span), now, w.from
	if began.Equal(w.to) { // one call so far: a batch at most
		began = w.to.Add(-w.batch)
	}
	if began.After(from) {
		from = began
	}
	if w.to.Before(to) {
		to = w.to
	}
	over := to.Sub(from)
	if w.idle == 0 || over <= 0 {
		return 0, 0
	}
	return over, max(1, int(float64(w.idle)*float64(over)/float64(max(w.to.Sub(began), 1))+0.5))
}
