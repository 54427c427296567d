package record

import (
	"slices"
	"time"

	"shardpilot/control"
)

// reading appends one queue as a row.
func (e *encoder) reading(b []byte, r *control.Reading, number int, head *control.Reading, at time.Time) []byte {
	b = append(b, '[')
	b = appendChart(b, r, number)
	unless := func(same bool, v float64, digits int) {
		if same {
			b = append(b, "null,"...)
		} else {
			b = appendNumber(b, control.Some(v), digits)
		}
	}
	unless(r.PeriodS == head.PeriodS, r.PeriodS, -1)
	unless(r.Expected == head.Expected, r.Expected, -1)
	unless(r.Samples == head.Samples, float64(r.Samples), -1)
	unless(r.WindowS == head.WindowS, r.WindowS, 6)
	for _, v := range [...]control.Value{control.Some(r.WaitSum), control.Some(r.HoldSum), r.Holders, r.Inside} {
		b = appendExact(b, v)
	}
	b = appendRound(b, r.WaitPerEnqueueS)
	b = appendExact(b, r.Applied)
	b = appendExact(b, r.Producers)
	b = appendInt(b, int64(r.Stale))
	b = appendInt(b, int64(r.HighestShard))
	b = appendExact(b, drainedFrom(r.Drained))
	b = appendInt(b, int64(r.At.Sub(at)))
	b = appendInt(b, int64(len(r.Lanes)))
	for _, l := range r.Lanes {
		b = appendInt(b, int64(l.Priority))
		b = appendInt(b, int64(l.Shard))
		b = appendExact(b, l.Waiters)
		b = appendExact(b, l.Busy)
		b = appendRound(b, l.Depth)
		b = appendRound(b, l.LagS)
		b = appendRound(b, l.Rate)
	}
	return closeArray(e.drain(e.holders(b, r), r.Drain))
}

// holders appends how many there are, each, and which of them the waits are
// behind, -1 for none.
func (e *encoder) holders(b []byte, r *control.Reading) []byte {
	var list [2*control.MaxShards + 1]*control.Holder
	n, culprit := 0, -1
	for i := range r.Lanes {
		if h := r.Lanes[i].Holder; h != nil && n < len(list)-1 {
			if r.Holder != nil && *h == *r.Holder {
				culprit = n
			}
			list[n] = h
			n++
		}
	}
	if r.Holder != nil && culprit < 0 {
		list[n], culprit = r.Holder, n
		n++
	}
	b = appendInt(b, int64(n))
	for _, h := range list[:n] {
		b = e.holder(b, h)
	}
	return appendInt(b, int64(culprit))
}

func (e *encoder) drain(b []byte, d *control.Drain) []byte {
	if d == nil {
		return b
	}
	b = appendInt(b, int64(d.From))
	b = appendInt(b, int64(e.number(string(d.State))))
	b = appendInt(b, int64(d.Lanes))
	for _, v := range [...]control.Value{d.Jobs, d.Rate, control.Some(d.WindowS), d.LeftS} {
		b = appendRound(b, v)
	}
	return b
}

// appendChart appends the fields of a row that charts are drawn from.
func appendChart(b []byte, r *control.Reading, number int) []byte {
	b = appendInt(b, int64(number))
	b = appendInt(b, int64(r.Shards))
	b = appendExact(b, r.Waiters)
	b = appendRound(b, r.Share)
	b = appendRound(b, r.ShareLow)
	b = appendRound(b, r.ShareHigh)
	b = appendExact(b, r.EnqueueRate)
	b = appendExact(b, r.Depth)
	b = appendRound(b, r.LagS)
	b = appendInt(b, bottleneckNumber(r.Bottleneck))
	for _, v := range [...]control.Value{r.Causes.Lane, r.Causes.Notify, r.Causes.Stuck, r.Causes.Unknown} {
		b = appendExact(b, v)
	}
	return b
}

// drainedFrom is the lane from which on all are empty: a list of those is
// false up to there and true from there on.
func drainedFrom(list []bool) control.Value {
	if list == nil {
		return control.None()
	}
	n := slices.Index(list, true)
	if n < 0 {
		n = len(list)
	}
	return control.Some(float64(n))
}

func (e *encoder) holder(b []byte, h *control.Holder) []byte {
	b = appendInt(b, int64(h.PID))
	for _, s := range [...]string{h.Application, h.User, h.Client, h.State, h.WaitEvent} {
		b = appendInt(b, int64(e.number(s)))
	}
	b = appendRound(b, h.XactAgeS)
	b = appendInt(b, int64(h.Waiters))
	b = appendInt(b, bottleneckNumber(h.Class))
	b = appendInt(b, int64(h.Priority))
	b = appendInt(b, int64(h.Shard))
	hidden := int64(0)
	if h.Hidden {
		hidden = 1
	}
	return appendInt(b, hidden)
}
