package tui

import (
	"math"
	"time"
)

// The picture is live, paused, or of a moment of the past. Paused and past it
// stands still while readings go on behind it; nothing can be done from it,
// since what it shows is not what would be changed.

// pause holds the picture, or lets it go on.
func (m *Model) pause() {
	if m.paused {
		m.goLive()
		return
	}
	m.paused, m.pausedA = true, m.opt.Now()
	m.held = m.picture
}

// goLive returns to the newest reading.
func (m *Model) goLive() {
	if !m.paused {
		return
	}
	m.picture, m.held = m.held, nil
	m.paused, m.at = false, time.Time{}
	m.arrange()
	m.Advance()
}

// stride is how far one step through time goes: a sixtieth of the charts.
func (m *Model) stride() time.Duration {
	return time.Duration(max(spans[m.span]/60, 1)) * time.Second
}

// step goes n strides through the recorded window, pausing first. It ends at
// the first reading that is kept, and on the other side at the paused picture.
func (m *Model) step(n int) {
	if m.picture == nil {
		return
	}
	if !m.paused {
		m.pause()
	}
	if m.held == nil { // paused before the first reading
		m.held = m.picture
	}
	now := m.held.event.Snapshot.At
	at := now
	if !m.at.IsZero() {
		at = m.at
	}
	at = at.Add(time.Duration(n) * m.stride()).Truncate(time.Second)
	if first := m.recordedFrom(); at.Before(first) {
		at = first
		m.say("nothing is kept from before")
	}
	if !at.Before(now.Truncate(time.Second)) {
		m.at, m.picture = time.Time{}, m.held
	} else {
		m.at = at
		m.picture = pictureAt(m.held, m.memory, at)
	}
	m.arrange()
}

// recordedFrom is the oldest moment that any of the queues knows.
func (m *Model) recordedFrom() time.Time {
	oldest := int64(math.MaxInt64)
	for _, r := range m.held.rows {
		if from := r.history.oldest(); from > 0 {
			oldest = min(oldest, from)
		}
	}
	first := m.memory.first
	if oldest != math.MaxInt64 && time.Unix(oldest, 0).After(first) {
		first = time.Unix(oldest, 0)
	}
	return first
}

// pictureAt is the picture of a moment of the past for the queues of base.
func pictureAt(base *picture, m *memory, at time.Time) *picture {
	p := &picture{event: base.event, rows: make([]row, 0, len(base.rows))}
	for _, b := range base.rows {
		reading, w, ok := b.history.moment(at)
		reading.Queue, reading.At = b.name, at
		r := row{queue: b.queue, reading: &reading, past: true, heat: b.history.recent(seriesWaiters, at.Unix(), heatSeconds).Or(reading.Waiters.Or(math.NaN()))}
		if ok {
			r.decision = m.decisionAt(b.name, reading.Shards, w)
		}
		p.rows = append(p.rows, r)
	}
	return p
}

// whenParts say that the picture is not live and how old it is.
func (m *Model) whenParts() []part {
	switch {
	case m.tape != nil:
		return m.replayParts()
	case !m.paused:
		return nil
	case m.at.IsZero():
		return []part{{badge(roleBanner, "PAUSED "+age(max(m.opt.Now().Sub(m.pausedA), 0))), 0}}
	}
	ago := max(m.opt.Now().Sub(m.pausedA), 0) + m.held.event.Snapshot.At.Sub(m.at)
	return []part{{badge(roleBanner, "PAST "+m.timeOf(m.at)+", "+age(ago)+" ago"), 0},
		{text(roleDim, "end returns to live"), 3}}
}

// axisEnd is what stands at the right end of time axes.
func (m *Model) axisEnd() string {
	if m.at.IsZero() {
		return " now"
	}
	return " " + m.at.In(m.opt.Now().Location()).Format("15:04:05")
}
