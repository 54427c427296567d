package probe

import (
	"testing"
	"time"

	"shardpilot/control"
)

func TestLevelsAreOfTheLanesAboveTheCountAndOfOneWindow(t *testing.T) {
	q := &queue{name: "orders", shards: 2, window: control.NewWindow(time.Minute, time.Second)}
	for shard := range 4 {
		q.lanes = append(q.lanes, &lane{queue: q, priority: 2, shard: shard, depth: control.Some(float64(10 * shard)), cursor: 7})
	}
	at := epoch
	read := func() []control.Level {
		at = at.Add(2 * time.Second)
		q.level(at, 10*time.Second)
		return q.levels
	}
	for range 20 {
		read()
	}
	if n := len(q.levels); n != 6 {
		t.Fatalf("%d levels in a window of five reads and the one it begins with", n)
	}
	if l := q.levels[5]; l.Jobs != 50 || l.Claimed != 14 || !l.At.Equal(at) {
		t.Errorf("the newest is %+v, want the 20 and 30 jobs of shards 2 and 3", l)
	}
	q.lanes[3].depth = control.None()
	if got := read(); got != nil {
		t.Errorf("a lane was not read, and there are levels %+v", got)
	}
	q.lanes[3].depth = control.Some(0)
	if got := read(); len(got) != 1 || got[0].Jobs != 20 {
		t.Errorf("levels %+v, want to begin anew", got)
	}
	q.lanes[2].depth = control.Some(0)
	if got := read(); got != nil {
		t.Errorf("nothing is left, and there are levels %+v", got)
	}
	q.lanes[2].depth = control.Some(9)
	read()
	s := newState()
	s.queues["orders"] = q
	s.configure(map[string]int{"orders": 1}, at, at, Config{}.withDefaults())
	if q.levels != nil {
		t.Errorf("the count changed, and levels of the old one are kept: %+v", q.levels)
	}
	q.shards = 0
	if got := read(); got != nil {
		t.Errorf("the count is not known: %+v", got)
	}
}

// The field's case: one lane stuck behind a debugger, the others busy with
// more waiters. Whoever reads "stuck" must be shown who is.
func TestTheHolderThatIsNamedIsTheOneTheWaitsAreBehind(t *testing.T) {
	type one struct {
		class   control.Bottleneck
		waiters int
		at      int // looks ago
	}
	for name, c := range map[string]struct {
		holders    []one
		bottleneck control.Bottleneck
		want       int // place among holders, -1 for none
	}{
		"nobody":                      {nil, control.BottleneckNone, -1},
		"stuck, though fewer wait":    {[]one{{control.BottleneckLane, 5, 0}, {control.BottleneckStuck, 3, 0}, {control.BottleneckLane, 4, 0}}, control.BottleneckStuck, 1},
		"a crowd, and one that sits":  {[]one{{control.BottleneckStuck, 1, 0}, {control.BottleneckLane, 9, 0}, {control.BottleneckLane, 4, 0}}, control.BottleneckLane, 1},
		"the newest look":             {[]one{{control.BottleneckLane, 9, 2}, {control.BottleneckLane, 4, 0}}, control.BottleneckLane, 1},
		"none of the kind":            {[]one{{control.BottleneckLane, 2, 0}, {control.BottleneckUnknown, 4, 0}}, control.BottleneckNotify, 1},
		"the kind, seen a look ago":   {[]one{{control.BottleneckLane, 9, 0}, {control.BottleneckStuck, 2, 1}}, control.BottleneckStuck, 1},
		"of two stuck the worse":      {[]one{{control.BottleneckStuck, 2, 0}, {control.BottleneckStuck, 6, 0}}, control.BottleneckStuck, 1},
		"a lane without waiters left": {[]one{{"", 0, 0}, {control.BottleneckLane, 1, 0}}, control.BottleneckNone, 1},
	} {
		q := &queue{}
		for i, h := range c.holders {
			l := &lane{queue: q, shard: i}
			if h.class != "" {
				l.holder, l.holderAt = &control.Holder{Class: h.class, Waiters: h.waiters, Shard: i}, epoch.Add(-time.Duration(h.at)*250*time.Millisecond)
			}
			q.lanes = append(q.lanes, l)
		}
		got := -1
		if h := q.culprit(c.bottleneck); h != nil {
			got = h.Shard
		}
		if got != c.want {
			t.Errorf("%s: holder %d, want %d", name, got, c.want)
		}
	}
}
