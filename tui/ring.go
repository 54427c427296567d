package tui

import (
	"math"

	"shardpilot/control"
)

// tier is one resolution of history: slots of step seconds each.
type tier struct {
	step  int64
	slots int
}

// The resolutions: 15 minutes in seconds of every queue; 4 hours in steps of
// 10 s and 24 hours in minutes of those that ever had somebody waiting.
var tiers = [...]tier{{1, 900}, {10, 1440}, {60, 1440}}

// The series of a queue, by place in ring.v.
const (
	seriesWaiters = iota
	seriesShare
	seriesLow
	seriesHigh
	seriesRate
	seriesDepth
	seriesLag
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

// stacked are the causes of which shares are kept, in the order they stand in.
var stacked = [...]byte{causeLane, causeNotify, causeStuck, causeUnknown}

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

func bottleneckOf(c byte) control.Bottleneck {
	switch c {
	case causeNone:
		return control.BottleneckNone
	case causeLane:
		return control.BottleneckLane
	case causeNotify:
		return control.BottleneckNotify
	case causeStuck:
		return control.BottleneckStuck
	case causeUnknown:
		return control.BottleneckUnknown
	}
	return ""
}

// short is a measured number in 16 bits: a float of 6 bits of exponent and 10
// of fraction without a sign, which is three digits from 1e-9 to 8e9.
// What is below zero is zero, what is above is the highest; the top value is
// "absent". Of a thousand queues over a day this halves what is held.
type short uint16

const (
	shortNone short = 0xffff
	shortMost short = 0xfffe
	shortBias       = 127 - 31 // of the exponent, against float32's
)

func shortOf(v control.Value) short {
	f, ok := v.Get()
	switch {
	case !ok:
		return shortNone
	case !(f > 0):
		return 0
	}
	bits := math.Float32bits(float32(min(f, math.MaxFloat32))) + 1<<12 // to nearest
	n := int64(bits>>13) - shortBias<<10
	return short(min(max(n, 1), int64(shortMost)))
}

// float is the number, NaN when absent.
func (s short) float() float32 {
	switch s {
	case shortNone:
		return float32(math.NaN())
	case 0:
		return 0
	}
	return math.Float32frombits((uint32(s) + shortBias<<10) << 13)
}

// value is the number as the rest of the program knows numbers.
func (s short) value() control.Value {
	if s == shortNone {
		return control.None()
	}
	return control.Some(float64(s.float()))
}

// ring is what is remembered of one queue at one resolution, 24 bytes a slot: 21
// KiB a queue at the finest tier, 34 KiB at each of the others. Of a thousand
// queues none is in the processor's cache when its reading comes, so what a
// reading writes lies together; the waiters, which are read along time for every
// queue and picture, lie apart.
type ring struct {
	tier    tier
	newest  int64 // number of the newest slot: unix seconds / step; 0 when empty
	waited  int64 // the newest slot in which anybody waited, or one after it
	waiters []short
	rest    []kept
	sums    *sums // of the newest slot; nil where a slot holds one reading
}

// kept is what a slot holds beside its waiters.
type kept struct {
	v      [seriesCount - 1]short // the series after seriesWaiters
	parts  [len(stacked)]uint8    // shares of the waiting by cause, 0..255
	shards uint8
	cause  byte
	// What the controller wanted at the newest reading of the slot.
	want   uint8 // count
	reason uint8 // place in memory.reasons
	state  uint8 // mode, action and pending: see wishOf
}

// emptySlot is what clear leaves.
var emptySlot = func() (k kept) {
	for i := range k.v {
		k.v[i] = shortNone
	}
	return k
}()

// sums are the means of a slot in the making.
type sums struct {
	v [seriesCount]float64
	n [seriesCount]int
}

func newRing(t tier) *ring {
	h := &ring{tier: t, waiters: make([]short, t.slots), rest: make([]kept, t.slots)}
	for i := range h.rest {
		h.clear(i)
	}
	if t.step > 1 {
		h.sums = &sums{}
	}
	return h
}

// value is a series in a slot, by its place.
func (h *ring) value(series, i int) short {
	if series == seriesWaiters {
		return h.waiters[i]
	}
	return h.rest[i].v[series-1]
}

// put records a reading in every slot its period touches and no other reading
// has taken, so a period slightly above a slot leaves no false gap. A second
// reading in a slot is averaged into it, of a second the newest counts.
func (h *ring) put(r *control.Reading) {
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
	now := h.figures(r, before != at)
	if w := now[seriesWaiters]; w != 0 && w != shortNone {
		h.waited = at
	}
	for s := max(first, at-int64(h.tier.slots)+1); s <= at; s++ {
		h.set(h.index(s), &now, r)
	}
}

// figures are those of the newest slot once a reading is in it, the first there
// or one more.
func (h *ring) figures(r *control.Reading, first bool) (now [seriesCount]short) {
	if first && h.sums != nil {
		*h.sums = sums{}
	}
	for k, v := range [seriesCount]control.Value{r.Waiters, r.Share, r.ShareLow, r.ShareHigh, r.EnqueueRate, r.Depth, r.LagS} {
		f, ok := v.Get()
		ok = ok && math.Abs(f) <= math.MaxFloat32
		if s := h.sums; s != nil {
			if ok {
				s.v[k], s.n[k] = s.v[k]+f, s.n[k]+1
			}
			if ok = s.n[k] > 0; ok {
				f = s.v[k] / float64(s.n[k])
			}
		}
		now[k] = shortNone
		if ok {
			now[k] = shortOf(control.Some(f))
		}
	}
	return now
}

func (h *ring) set(i int, now *[seriesCount]short, r *control.Reading) {
	h.waiters[i] = now[seriesWaiters]
	k := &h.rest[i]
	copy(k.v[:], now[1:])
	c := r.Causes
	for j, v := range [len(stacked)]control.Value{c.Lane, c.Notify, c.Stuck, c.Unknown} {
		k.parts[j] = uint8(math.Round(min(max(v.Or(0), 0), 1) * 255))
	}
	k.shards = uint8(min(max(r.Shards, 0), 255))
	if now := causeOf(r.Bottleneck); h.tier.step == 1 || now > k.cause { // of many the gravest
		k.cause = now
	}
}

// moveTo makes slot at the newest and empties those that come into sight. A
// clock that went back takes the slots after it away again.
func (h *ring) moveTo(at int64) {
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

func (h *ring) clear(i int) { h.waiters[i], h.rest[i] = shortNone, emptySlot }

func (h *ring) index(slot int64) int { return int(slot % int64(h.tier.slots)) }

func (h *ring) holds(slot int64) bool {
	return slot > 0 && slot <= h.newest && slot > h.newest-int64(h.tier.slots)
}

func (h *ring) means(series int, s span) []float64 {
	out := make([]float64, s.cols)
	for c := range out {
		sum, n := 0.0, 0
		for slot := s.first(c); slot < s.first(c)+s.per && slot <= s.end; slot++ {
			if !h.holds(slot) {
				continue
			}
			if f := h.value(series, h.index(slot)); f != shortNone {
				sum, n = sum+float64(f.float()), n+1
			}
		}
		out[c] = math.NaN()
		if n > 0 {
			out[c] = sum / float64(n)
		}
	}
	return out
}

// peak is the highest column mean of the waiters within the span, 0 when empty.
// It is asked of every queue for every picture, so it walks the ring without
// looking up each slot, and not at all where nobody has waited.
func (h *ring) peak(s span) float64 {
	from := max(s.first(0), h.newest-int64(h.tier.slots)+1, 1)
	to := min(s.end, h.newest)
	if s.cols == 0 || from > to || h.waited < from {
		return 0
	}
	i := h.index(from)
	top, sum, n := float32(0), float32(0), float32(0)
	left := s.per - from%s.per
	for slot := from; slot <= to; slot++ {
		if w := h.waiters[i]; w != shortNone {
			sum, n = sum+w.float(), n+1
		}
		if left--; left == 0 || slot == to {
			if sum > top*n {
				top = sum / n
			}
			sum, n, left = 0, 0, s.per
		}
		if i++; i == len(h.waiters) {
			i = 0
		}
	}
	return float64(top)
}
