package probe

import (
	"testing"
	"time"

	"shardpilot/control"
)

// A new process knows nothing of the lanes above a lowered count, and claims
// neither that they are locked nor that they are drained.
func TestALaneIsNotCalledLockedBeforeALookSawALockOnIt(t *testing.T) {
	c, s := Config{}.withDefaults(), newState()
	at := epoch
	tick := func() time.Time { at = at.Add(time.Second); return at }
	s.configure(map[string]int{"orders": 1}, tick(), at, c)
	s.fold(look{read: true, visible: true, sent: tick(), at: at}, &estimator{}) // before the lanes are known
	var found []lane
	for shard := range 3 {
		found = append(found, lane{queue: &queue{name: "orders"}, priority: 2, shard: shard, key: int64(shard + 1)})
	}
	s.register(nil, found, tick())
	q := s.queues["orders"]
	depths := func() {
		for _, l := range q.lanes {
			l.take(0, nil, 1, s.fullAt)
		}
	}
	drain := func() control.DrainState {
		return c.reading(q, nil, tick(), at, time.Second, 4).Drain.State
	}
	if got := drain(); got != control.DrainUnknown {
		t.Errorf("no depth yet: %s", got)
	}
	depths()
	if got := drain(); got != control.DrainUnknown {
		t.Errorf("only a look from before the lanes were known: %s", got)
	}
	s.fold(look{read: true, visible: true, dated: true, sent: tick(), at: at}, &estimator{})
	depths()
	if got := drain(); got != control.DrainUnknown {
		t.Errorf("a look that was under way when they were registered: %s", got)
	}
	locked := map[*lane]who{q.lanes[0]: {7, "3/7"}}
	s.fold(look{read: true, visible: true, sent: tick(), at: at, hold: locked}, &estimator{})
	depths()
	if got := drain(); got != control.DrainDone {
		t.Errorf("a lock below the count only: %s", got)
	}
	locked[q.lanes[2]] = who{8, "3/8"}
	s.fold(look{read: true, visible: true, sent: tick(), at: at, hold: locked}, &estimator{})
	if got := drain(); got != control.DrainLocked {
		t.Errorf("a lock above the count: %s", got)
	}
}

func TestCostTellsItsLimitsAndNoShareWithoutALook(t *testing.T) {
	c, s := Config{Pace: 20, BaseHz: 8, MaxCost: 0.1}.withDefaults(), newState()
	got := c.cost(s, time.Second)
	if got.Pace != 20 || got.AimHz != 8 || got.AimShare != 0.1 || got.LocksReadShare.OK() {
		t.Errorf("%+v", got)
	}
	s.fold(look{read: true, visible: true, sent: epoch, at: epoch}, &estimator{})
	if got := c.cost(s, time.Second).LocksReadShare; got != control.Some(1) {
		t.Errorf("one look that read the lock table: %v", got)
	}
}
