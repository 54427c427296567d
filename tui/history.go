package tui

import (
	"math"
	"time"

	"shardpilot/control"
)

// history is what is remembered of one queue: the finest ring always, the
// coarser ones from the first waiting on.
type history struct {
	rings [len(tiers)]*ring
}

func newHistory() *history {
	h := &history{}
	h.rings[0] = newRing(tiers[0])
	return h
}

// put records a reading. With the first one that shows anybody waiting the
// coarser rings begin, filled from what the finest holds.
func (h *history) put(r *control.Reading) {
	h.rings[0].put(r)
	for i := 1; i < len(tiers); i++ {
		switch {
		case h.rings[i] != nil:
			h.rings[i].put(r)
		case r.Waiters.Or(0) > 0:
			h.rings[i] = newRing(tiers[i])
			h.refill(h.rings[i])
		}
	}
}

// refill plays what the finest ring holds into a coarser one.
func (h *history) refill(to *ring) {
	from := h.rings[0]
	for slot := max(from.newest-int64(from.tier.slots)+1, 1); slot <= from.newest; slot++ {
		if i := from.index(slot); from.rest[i].cause == causeGap && from.waiters[i] == shortNone {
			continue
		}
		r := readingAt(from, slot)
		r.PeriodS = 1
		to.put(&r)
		to.wish(slot, from.wishAt(slot))
	}
}

// readingAt is a slot as a reading: what is not kept is absent.
func readingAt(h *ring, slot int64) control.Reading {
	r := control.Reading{At: time.Unix(slot*h.tier.step, 0)}
	if !h.holds(slot) {
		return r
	}
	i := h.index(slot)
	k, value := &h.rest[i], func(series int) control.Value { return h.value(series, i).value() }
	r.Waiters, r.Share, r.ShareLow, r.ShareHigh = value(seriesWaiters), value(seriesShare), value(seriesLow), value(seriesHigh)
	r.EnqueueRate, r.Depth, r.LagS = value(seriesRate), value(seriesDepth), value(seriesLag)
	r.Shards, r.Bottleneck = int(k.shards), bottleneckOf(k.cause)
	if k.parts != [len(stacked)]uint8{} {
		share := func(j int) control.Value { return control.Some(float64(k.parts[j]) / 255) }
		r.Causes = control.Causes{Lane: share(0), Notify: share(1), Stuck: share(2), Unknown: share(3)}
	}
	return r
}

// at is the ring of a span, nil when this queue has none.
func (h *history) at(s span) *ring { return h.rings[s.tier] }

// span names a stretch of time for a chart: cols columns of per slots each, or
// of one slot over wide columns; the last one holds the slot end. Columns begin
// at multiples of per, so that a picture moves only when a column is full and
// not with every reading.
type span struct {
	tier int   // place in tiers
	end  int64 // a slot
	per  int64 // slots a column
	wide int64 // columns a slot
	cols int
}

// newSpan is the last so many seconds up to end in cols columns, at the finest
// resolution that reaches so far back.
func newSpan(end, seconds int64, cols int) span {
	k := 0
	for k < len(tiers)-1 && tiers[k].step*int64(tiers[k].slots) < seconds {
		k++
	}
	s := span{tier: k, end: end / tiers[k].step, per: 1, wide: 1, cols: max(cols, 0)}
	if slots := seconds / tiers[k].step; cols > 0 && slots > 0 {
		n := int64(cols)
		s.per, s.wide = max(1, (slots+(n-1)/2)/n), max(1, (n+(slots-1)/2)/slots) // the nearest whole ones
	}
	return s
}

// step is the length of a slot in seconds.
func (s span) step() int64 { return tiers[s.tier].step }

// seconds is the time that the columns cover.
func (s span) seconds() int64 { return int64(s.cols) * s.per * s.step() / s.wide }

// first is the first slot of column c.
func (s span) first(c int) int64 {
	return (s.end/s.per - (int64(s.cols-1-c))/s.wide) * s.per
}

// column is where a moment stands, below 0 or at cols when it is out of sight.
func (s span) column(at time.Time) int {
	slot := at.Unix() / s.step()
	if slot > s.end {
		return s.cols
	}
	return s.cols - 1 - int((s.end/s.per-slot/s.per)*s.wide)
}

// means fills one value a column: the mean of its slots, NaN where there are none.
func (h *history) means(series int, s span) []float64 {
	if r := h.at(s); r != nil {
		return r.means(series, s)
	}
	out := make([]float64, s.cols)
	for c := range out {
		out[c] = math.NaN()
	}
	return out
}

// counts fills the newest configured count of every column, 0 where there is none.
func (h *history) counts(s span) []uint8 {
	return h.lasts(s, func(k *kept) uint8 { return k.shards }, false)
}

// worst fills the gravest cause of every column, causeGap where there is none.
func (h *history) worst(s span) []uint8 {
	return h.lasts(s, func(k *kept) uint8 { return k.cause }, true)
}

func (h *history) lasts(s span, of func(*kept) uint8, highest bool) []uint8 {
	out := make([]uint8, s.cols)
	r := h.at(s)
	if r == nil {
		return out
	}
	for c := range out {
		for slot := s.first(c); slot < s.first(c)+s.per && slot <= s.end; slot++ {
			if !r.holds(slot) {
				continue
			}
			if v := of(&r.rest[r.index(slot)]); v != 0 && !(highest && v < out[c]) {
				out[c] = v
			}
		}
	}
	return out
}

// shares fills for every column how the waiting divides among the causes, each
// slot weighing what was waited in it. All are zero where nobody waited.
func (h *history) shares(s span) [][len(stacked)]float64 {
	out := make([][len(stacked)]float64, s.cols)
	r := h.at(s)
	if r == nil {
		return out
	}
	for c := range out {
		sum := 0.0
		for slot := s.first(c); slot < s.first(c)+s.per && slot <= s.end; slot++ {
			if !r.holds(slot) {
				continue
			}
			i := r.index(slot)
			w := float64(r.waiters[i].float())
			if !(w > 0) {
				continue
			}
			for k := range stacked {
				part := w * float64(r.rest[i].parts[k])
				out[c][k], sum = out[c][k]+part, sum+part
			}
		}
		for k := range stacked {
			if sum > 0 {
				out[c][k] /= sum
			}
		}
	}
	return out
}

// peak is the highest column mean of the waiters within the span, 0 when empty.
func (h *history) peak(s span) float64 {
	if r := h.at(s); r != nil {
		return r.peak(s)
	}
	return 0
}

// recent is the mean of a series over the last n seconds up to end.
func (h *history) recent(series int, end, n int64) control.Value {
	r := h.rings[0]
	sum, k := 0.0, 0
	from, to := max(end-n+1, r.newest-int64(r.tier.slots)+1, 1), min(end, r.newest)
	for slot, i := from, r.index(from); slot <= to; slot++ {
		if f := r.value(series, i); f != shortNone {
			sum, k = sum+float64(f.float()), k+1
		}
		if i++; i == r.tier.slots {
			i = 0
		}
	}
	if k == 0 {
		return control.None()
	}
	return control.Some(sum / float64(k))
}

// latest is the newest value of a series within n seconds up to end.
func (h *history) latest(series int, end, n int64) control.Value {
	r := h.rings[0]
	for slot := end; slot > end-n; slot-- {
		if r.holds(slot) {
			if f := r.value(series, r.index(slot)); f != shortNone {
				return f.value()
			}
		}
	}
	return control.None()
}

// moment is the queue as it was at a time by the server's clock, from the
// finest ring that still knows it.
func (h *history) moment(at time.Time) (control.Reading, wish, bool) {
	for _, r := range h.rings {
		if r == nil {
			break
		}
		slot := at.Unix() / r.tier.step
		if !r.holds(slot) {
			continue
		}
		if i := r.index(slot); r.rest[i].cause != causeGap || r.rest[i].shards != 0 || r.waiters[i] != shortNone {
			return readingAt(r, slot), r.wishAt(slot), true
		}
	}
	return control.Reading{}, wish{}, false
}

// oldest is the first second of which anything can still be known, 0 when
// nothing is.
func (h *history) oldest() int64 {
	first := int64(0)
	for _, r := range h.rings {
		if r == nil || r.newest == 0 {
			continue
		}
		if from := (r.newest - int64(r.tier.slots) + 1) * r.tier.step; first == 0 || from < first {
			first = from
		}
	}
	return first
}
