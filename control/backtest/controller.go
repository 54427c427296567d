package backtest

import (
	"cmp"
	"slices"
	"time"

	"shardpilot/control"
)

// controller decides again about what was recorded, as control/loop did: the
// same reading, the same log, the same order. What its decisions want done is
// not done; the log that it learns from is the recorded one.
type controller struct {
	rules
	world   control.World
	budget  control.Budget
	members map[string]*control.Member
	order   []*control.Member // by queue
	last    int64             // newest entry learned
	lastAt  time.Time         // and the newest time, on the server's clock
	seen    bool              // an event came
}

func newController(r rules) *controller {
	return &controller{rules: r, members: map[string]*control.Member{}}
}

func (c *controller) member(queue string) *control.Member {
	m := c.members[queue]
	if m == nil {
		m = &control.Member{Policy: control.QueuePolicy{Queue: queue}, Track: control.NewTrack(c.policy)}
		c.members[queue] = m
		i, _ := slices.BinarySearchFunc(c.order, queue, func(m *control.Member, q string) int { return cmp.Compare(m.Policy.Queue, q) })
		c.order = slices.Insert(c.order, i, m)
	}
	return m
}

// anew says whether entries are of a log that was made anew.
func (c *controller) anew(entries []control.LogEntry) bool {
	return control.MadeAnew(entries, c.last, c.lastAt)
}

// learn takes entries of the log in, each once. Of a log that was made anew
// nothing counts that it held before, as in the loop.
func (c *controller) learn(entries []control.LogEntry, now time.Time) {
	if c.anew(entries) {
		c.last, c.budget = 0, control.Budget{}
		for _, m := range c.order {
			m.State = control.State{}
		}
	}
	for _, e := range entries {
		if e.ID != 0 && e.ID <= c.last {
			continue
		}
		c.last = max(c.last, e.ID)
		if e.At.After(c.lastAt) {
			c.lastAt = e.At
		}
		c.budget.Learn(e, now)
		if e.Queue != "" {
			c.member(e.Queue).State.Learn(c.policy, e, now)
		}
	}
}

// take decides about one event. The members hold what came of it.
func (c *controller) take(ev *control.Event, base control.Policy) {
	c.learn(ev.Entries, ev.World.Now)
	c.look(ev, base)
	c.budget.InFlight = ev.InFlight
	about := make(map[string]bool, len(ev.Decisions))
	for i := range ev.Decisions {
		d := &ev.Decisions[i]
		about[d.Queue] = true
		m := c.member(d.Queue)
		m.Policy = d.Policy
		if c.max > 0 && m.Policy.Auto {
			m.Policy.Max = c.max
		}
	}
	c.order = slices.DeleteFunc(c.order, func(m *control.Member) bool {
		if !about[m.Policy.Queue] {
			delete(c.members, m.Policy.Queue)
		}
		return !about[m.Policy.Queue]
	})
	control.Round(c.policy, c.world, c.budget, c.order)
}

// look moves the world and the tracks by what was read, or was not.
func (c *controller) look(ev *control.Event, base control.Policy) {
	w := &ev.World
	c.world.Process, c.world.Alone, c.world.Store = w.Process, w.Alone, w.Store
	if ev.Snapshot == nil {
		c.world = c.world.At(w.Now)
	} else {
		c.world = c.world.See(c.policy, *ev.Snapshot)
		if c.world.Stepped != 0 {
			c.budget.Step(c.world.Stepped, ev.Snapshot.At)
			for _, m := range c.order {
				m.Track.Reset()
				m.State.Step(c.world.Stepped, ev.Snapshot.At)
			}
		}
		for i := range ev.Snapshot.Readings {
			c.member(ev.Snapshot.Readings[i].Queue).Track.Observe(c.policy, ev.Snapshot.Readings[i])
		}
	}
	if c.world.Alone || c.world.ReadAt.IsZero() {
		return
	}
	before := c.world
	if w.Lead.Leading {
		c.world = c.world.Follow(c.policy, w.Lead)
	} else { // another process led: what would we have decided in its place?
		c.world = c.world.Follow(c.policy, control.Leadership{Leading: true, Name: w.Lead.Name})
		c.world.WarmUntil, c.world.WarmWhy = before.WarmUntil, before.WarmWhy
	}
	if c.seen {
		return
	}
	// The recording may begin long after the process did.
	c.seen = true
	longer := c.policy.WarmUp - base.WarmUp
	c.world.WarmWhy = w.WarmWhy
	c.world.WarmUntil, c.world.StepUntil = later(w.WarmUntil, longer), later(w.StepUntil, longer)
}

func later(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}
