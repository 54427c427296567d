package probe

import (
	"time"

	"shardpilot/control"
)

// session is what pg_stat_activity showed of a backend.
type session struct {
	user, app, client, state, event string
	xactAge, stateAge               control.Value // s
	hidden                          bool
	asked                           time.Time // our clock, when this was asked
	began                           time.Time // server clock, start of its transaction; zero when unknown
}

// causes are sums of waiting sessions by what stands in front of them.
type causes struct{ lane, notify, stuck, unknown float64 }

func (c causes) sum() float64 { return c.lane + c.notify + c.stuck + c.unknown }

func (c *causes) put(class control.Bottleneck, n float64) {
	switch class {
	case control.BottleneckNotify:
		c.notify += n
	case control.BottleneckStuck:
		c.stuck += n
	case control.BottleneckUnknown:
		c.unknown += n
	default:
		c.lane += n
	}
}

func (c *causes) add(o causes) {
	c.lane += o.lane
	c.notify += o.notify
	c.stuck += o.stuck
	c.unknown += o.unknown
}

// shares are the causes as shares of all waiting, absent when nobody waited.
func (c causes) shares() control.Causes {
	all := c.sum()
	return control.Causes{
		Lane: control.Some(c.lane / all), Notify: control.Some(c.notify / all),
		Stuck: control.Some(c.stuck / all), Unknown: control.Some(c.unknown / all),
	}
}

// quiet is the mean of waiting sessions below which nobody is said to wait: a
// session that waits one twentieth of the time.
const quiet = 0.05

// bottleneck names what a queue's producers wait for; waiters is W over the
// window.
func (c causes) bottleneck(waiters control.Value) control.Bottleneck {
	all := c.sum()
	switch w, ok := waiters.Get(); {
	case !ok:
		return control.BottleneckUnknown
	case w < quiet:
		return control.BottleneckNone
	case all == 0: // waiters without a holder in any look
		return control.BottleneckUnknown
	case c.stuck > all/2:
		return control.BottleneckStuck
	case c.notify >= all/2:
		return control.BottleneckNotify
	case c.unknown >= all/2:
		return control.BottleneckUnknown
	}
	return control.BottleneckLane
}

// classify says what a holder does: it stands in the NOTIFY queue, or it is
// ahead there, committing, with others behind it. held is for how long our looks
// saw this transaction with the lane.
func classify(notify, ahead bool, held, stuckAfter time.Duration, s session, known bool) control.Bottleneck {
	limit := stuckAfter.Seconds()
	switch {
	case notify:
		return control.BottleneckNotify
	case held >= stuckAfter:
		return control.BottleneckStuck
	case ahead:
		return control.BottleneckNotify
	case !known || s.hidden:
		return control.BottleneckUnknown
	case idleInTransaction(s.state) && s.stateAge.Or(0) >= limit && s.xactAge.Or(0) >= limit:
		return control.BottleneckStuck
	}
	return control.BottleneckLane
}

func idleInTransaction(state string) bool {
	return state == "idle in transaction" || state == "idle in transaction (aborted)"
}

// describe makes the holder of a lane presentable.
func describe(ln *lane, by who, waiters int, class control.Bottleneck, s session, known bool) *control.Holder {
	h := &control.Holder{
		PID: int(by.pid), Waiters: waiters, Class: class, Priority: ln.priority, Shard: ln.shard,
		Application: s.app, User: s.user, Client: s.client, State: s.state, WaitEvent: s.event,
		XactAgeS: s.xactAge, Hidden: s.hidden || !known,
	}
	if by.pid == 0 {
		h.State = "prepared transaction"
	}
	return h
}

// then is the session as far as it still is in the transaction that the look
// saw. One that has moved on meanwhile keeps only who it is.
func (s session) then(look time.Time) session {
	if s.hidden || !s.began.IsZero() && !s.began.After(look) {
		return s
	}
	s.state, s.event, s.xactAge, s.stateAge = "", "", control.None(), control.None()
	return s
}

// culprit is the holder that the waits of a queue are behind: one of the kind
// that the bottleneck names before all others, then of the newest look, then
// with most waiters.
func (q *queue) culprit(bottleneck control.Bottleneck) *control.Holder {
	var found *lane
	for _, l := range q.lanes {
		switch {
		case l.holder == nil:
		case found == nil || l.blamed(bottleneck).after(found.blamed(bottleneck)):
			found = l
		}
	}
	if found == nil {
		return nil
	}
	return found.holder
}

// blame is what holders are compared by, the first thing first.
type blame struct {
	kind    bool
	at      time.Time
	waiters int
}

func (l *lane) blamed(kind control.Bottleneck) blame {
	return blame{l.holder.Class == kind, l.holderAt, l.holder.Waiters}
}

func (b blame) after(o blame) bool {
	switch {
	case b.kind != o.kind:
		return b.kind
	case !b.at.Equal(o.at):
		return b.at.After(o.at)
	}
	return b.waiters > o.waiters
}
