package tui

import (
	"math"

	"shardpilot/control"
)

// The resolution kept of every queue: 15 minutes in seconds. Coarser rings for
// longer spans are further tiers of the same type.
var finest = tier{step: 1, slots: 900}

// tier is one resolution of history: slots of step seconds each.
type tier struct {
	step  int64
	slots int
}

// The series of a queue, by place in history.v.
const (
	seriesWaiters = iota
	seriesShare
	seriesLow
	seriesHigh
	seriesRate
	seriesDepth
	seriesCount
)

// What the waits of a slot were behind, as one byte.
const (
	causeGap byte = iota
	causeNone
	causeLane
	causeNotify
	causeStuck
	causeUnknown
)

func causeOf(b control.Bottleneck) byte {
	switch b {
	case control.BottleneckNone:
		return causeNone
	case control.BottleneckLane:
		return causeLane
	case control.BottleneckNotify:
		return causeNotify
	case control.BottleneckStuck:
		return causeStuck
	case control.BottleneckUnknown:
		return causeUnknown
	}
	return causeGap
}

// history is what is remembered of one queue at one resolution: rings that
// share their position. A slot without a reading holds NaN. About 23 KB a
// queue at the finest tier.
type history struct {
	tier   tier
	newest int64 // number of the newest slot: unix seconds / step; 0 when empty
	v      [seriesCount][]float32
	shards []uint8
	cause  []byte
}

func newHistory(t tier) *history {
	h := &history{tier: t, shards: make([]uint8, t.slots), cause: make([]byte, t.slots)}
	all := make([]float32, t.slots*seriesCount)
	nan := float32(math.NaN())
	for i := range all {
		all[i] = nan
	}
	for i := range h.v {
		h.v[i] = all[i*t.slots : (i+1)*t.slots : (i+1)*t.slots]
	}
	return h
}

// put records a reading in every slot its period touches and no other reading
// has taken, so a period slightly above a slot leaves no false gap.
func (h *history) put(r control.Reading) {
	at := r.At.Unix() / h.tier.step
	if at <= 0 {
		return
	}
	first := at
	if p := r.PeriodS; p > 0 && p < 60 {
		first = int64(math.Floor((float64(r.At.UnixNano())/1e9-p)/float64(h.tier.step))) + 1
	}
	first = min(first, at)
	before := h.newest
	h.moveTo(at)
	if before > 0 && before < at {
		first = max(first, before+1)
	} else {
		first = at
	}
	for s := max(first, at-int64(h.tier.slots)+1); s <= at; s++ {
		h.set(h.index(s), r)
	}
}

func (h *history) set(i int, r control.Reading) {
	h.v[seriesWaiters][i] = single(r.Waiters)
	h.v[seriesShare][i] = single(r.Share)
	h.v[seriesLow][i] = single(r.ShareLow)
	h.v[seriesHigh][i] = single(r.ShareHigh)
	h.v[seriesRate][i] = single(r.EnqueueRate)
	h.v[seriesDepth][i] = single(r.Depth)
	h.shards[i] = uint8(min(max(r.Shards, 0), 255))
	h.cause[i] = causeOf(r.Bottleneck)
}

func single(v control.Value) float32 {
	f, ok := v.Get()
	if !ok || math.Abs(f) > math.MaxFloat32 {
		return float32(math.NaN())
	}
	return float32(f)
}

// moveTo makes slot at the newest and empties those that come into sight. A
// clock that went back takes the slots after it away again.
func (h *history) moveTo(at int64) {
	n := int64(h.tier.slots)
	switch {
	case h.newest == 0 || at >= h.newest+n || at <= h.newest-n:
		for i := range h.tier.slots {
			h.clear(i)
		}
	case at > h.newest:
		for s := h.newest + 1; s <= at; s++ {
			h.clear(h.index(s))
		}
	default:
		for s := at + 1; s <= h.newest; s++ {
			h.clear(h.index(s))
		}
	}
	h.newest = at
}

func (h *history) clear(i int) {
	nan := float32(math.NaN())
	for k := range h.v {
		h.v[k][i] = nan
	}
	h.shards[i], h.cause[i] = 0, causeGap
}

func (h *history) index(slot int64) int { return int(slot % int64(h.tier.slots)) }

func (h *history) holds(slot int64) bool {
	return slot > 0 && slot <= h.newest && slot > h.newest-int64(h.tier.slots)
}

// span names a stretch of time for a chart: cols columns of per slots each, the
// last one holding the slot end. Columns begin at multiples of per, so that a
// picture moves only when a column is full and not with every reading.
type span struct {
	end  int64
	per  int64
	cols int
}

func newSpan(end, seconds int64, cols int, t tier) span {
	per := int64(1)
	if cols > 0 {
		per = max(1, seconds/t.step/int64(cols))
	}
	return span{end: end / t.step, per: per, cols: max(cols, 0)}
}

// first is the first slot of column c.
func (s span) first(c int) int64 {
	return (s.end/s.per - int64(s.cols-1-c)) * s.per
}

// means fills one value a column: the mean of its slots, NaN where there are none.
func (h *history) means(series int, s span) []float64 {
	out := make([]float64, s.cols)
	for c := range out {
		sum, n := 0.0, 0
		for slot := s.first(c); slot < s.first(c)+s.per && slot <= s.end; slot++ {
			if !h.holds(slot) {
				continue
			}
			if f := h.v[series][h.index(slot)]; f == f {
				sum, n = sum+float64(f), n+1
			}
		}
		out[c] = math.NaN()
		if n > 0 {
			out[c] = sum / float64(n)
		}
	}
	return out
}

// lasts fills the newest byte of every column, 0 where there is none.
func (h *history) lasts(ring []uint8, s span) []uint8 {
	out := make([]uint8, s.cols)
	for c := range out {
		for slot := s.first(c); slot < s.first(c)+s.per && slot <= s.end; slot++ {
			if h.holds(slot) && ring[h.index(slot)] != 0 {
				out[c] = ring[h.index(slot)]
			}
		}
	}
	return out
}

// peak is the highest column mean of a series within the span, 0 when empty. It
// is asked of every queue for every picture, so it walks the ring without
// looking up each slot.
func (h *history) peak(series int, s span) float64 {
	from := max(s.first(0), h.newest-int64(h.tier.slots)+1, 1)
	to := min(s.end, h.newest)
	if s.cols == 0 || from > to {
		return 0
	}
	v := h.v[series]
	i := h.index(from)
	top, sum, n := float32(0), float32(0), float32(0)
	left := s.per - from%s.per
	for slot := from; slot <= to; slot++ {
		if f := v[i]; f == f {
			sum, n = sum+f, n+1
		}
		if left--; left == 0 || slot == to {
			if sum > top*n {
				top = sum / n
			}
			sum, n, left = 0, 0, s.per
		}
		if i++; i == len(v) {
			i = 0
		}
	}
	return float64(top)
}

// recent is the mean of a series over the last n slots up to end.
func (h *history) recent(series int, end, n int64) control.Value {
	sum, k := 0.0, 0
	for slot := end - n + 1; slot <= end; slot++ {
		if h.holds(slot) {
			if f := h.v[series][h.index(slot)]; f == f {
				sum, k = sum+float64(f), k+1
			}
		}
	}
	if k == 0 {
		return control.None()
	}
	return control.Some(sum / float64(k))
}
