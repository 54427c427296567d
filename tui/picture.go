package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// row is one queue as it is shown.
type row struct {
	*queue
	reading  *control.Reading
	behind   *control.Holder   // whom the waits that are shown are behind, nil when nobody
	decision *control.Decision // nil when nothing decides; the leader's where that is known
	led      *control.LogEntry // where the decision comes from when it is the leader's
	heat     float64           // sessions waiting over the last seconds, NaN when unknown
	past     bool              // made from the history: what is not kept is absent
	key      float64           // what it is sorted by, set by sort
	rank     int               // what it is sorted by before that
}

// picture is the tick that is shown. Pausing keeps it; memory moves on.
type picture struct {
	event control.Event // with a snapshot
	rows  []row         // every queue, sorted, unfiltered
}

// heatSeconds smooths the order of the queues, so that rows do not jump about.
const heatSeconds = 10

func newPicture(ev control.Event, m *memory) *picture {
	p := &picture{event: ev}
	p.rows = make([]row, 0, len(ev.Snapshot.Readings))
	decided := decisionsOf(ev.Decisions)
	for i := range ev.Snapshot.Readings {
		r := &ev.Snapshot.Readings[i]
		q := m.queue(i, r.Queue)
		d, led := q.led(&ev, decided(i, r.Queue))
		p.rows = append(p.rows, row{queue: q, reading: r, behind: q.standing(r), decision: d, led: led,
			heat: q.history.recent(seriesWaiters, ev.Snapshot.At.Unix(), heatSeconds).Or(math.NaN())})
	}
	return p
}

// decisionsOf looks decisions up by queue, nil where there is none: first where
// it would be if there is one for every reading, in their order.
func decisionsOf(list []control.Decision) func(i int, name string) *control.Decision {
	var byName map[string]*control.Decision
	return func(i int, name string) *control.Decision {
		if i < len(list) && list[i].Queue == name {
			return &list[i]
		}
		if byName == nil {
			byName = make(map[string]*control.Decision, len(list))
			for k := range list {
				byName[list[k].Queue] = &list[k]
			}
		}
		return byName[name]
	}
}

// order is what the rows are sorted by.
type order int

const (
	orderAttention order = iota
	orderWaiters
	orderShare
	orderDepth
	orderLag
	orderRate
	orderShards
	orderName
	orderCount
)

var orderNames = [orderCount]string{"what needs attention", "waiters", "share", "depth", "lag", "rate", "shards", "name"}

// sort puts the highest first, names as tie-breakers, and what is absent last.
// rank is how much a queue wants to be looked at.
func (p *picture) sort(by order, rank func(row) int) {
	key := func(r row) float64 {
		switch by {
		case orderShare:
			return r.reading.Share.Or(math.NaN())
		case orderDepth:
			return r.reading.Depth.Or(math.NaN())
		case orderLag:
			return r.reading.LagS.Or(math.NaN())
		case orderRate:
			return r.reading.EnqueueRate.Or(math.NaN())
		case orderShards:
			return float64(r.reading.Shards)
		case orderName:
			return 0
		}
		// At the precision that is shown: rows that read the same keep their order.
		return math.Round(r.heat*10) / 10
	}
	for i := range p.rows {
		r := &p.rows[i]
		r.key, r.rank = key(*r), 0
		if by == orderAttention {
			r.rank = rank(*r)
		}
	}
	slices.SortFunc(p.rows, func(a, b row) int {
		if c := cmp.Compare(b.rank, a.rank); c != 0 {
			return c
		}
		if c := highestFirst(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.label, b.label), strings.Compare(a.name, b.name))
	})
}

func highestFirst(a, b float64) int {
	switch an, bn := math.IsNaN(a), math.IsNaN(b); {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	}
	return cmp.Compare(b, a)
}

// filter gives the rows whose label holds needle, whatever the case.
func (p *picture) filter(needle string) []row {
	if needle == "" {
		return p.rows
	}
	needle = strings.ToLower(needle)
	var out []row
	for _, r := range p.rows {
		if strings.Contains(strings.ToLower(r.label), needle) {
			out = append(out, r)
		}
	}
	return out
}

// ageOf is how old the newest reading is: the delay of its tick by the server's
// clock, plus the time since by ours. Neither difference mixes the clocks, and
// neither is taken below zero, so a wrong or stepping clock cannot show.
func ageOf(ev control.Event, now time.Time) time.Duration {
	s := ev.Snapshot
	if s == nil {
		return 0
	}
	delay := ev.At.Add(s.ClockSkew).Sub(s.At)
	return max(delay, 0) + max(now.Sub(ev.At), 0)
}
