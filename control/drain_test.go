package control

import (
	"strings"
	"testing"
	"time"
)

func TestADrainSaysWhatIsLeftAndOnlyWhatWasMeasured(t *testing.T) {
	type level struct {
		at      int // seconds
		jobs    float64
		claimed int64
	}
	falling := []level{{0, 300, 10}, {10, 250, 60}, {20, 200, 110}}
	for name, c := range map[string]struct {
		shards int
		depths []Value // of shards 0, 1, ...
		drain  []bool  // Reading.Drained
		levels []level
		state  DrainState
		lanes  int
		left   float64 // -1: absent
		rate   Value
		says   []string
	}{
		"falling":            {2, []Value{Some(5), Some(5), Some(150), Some(50)}, []bool{false, false, false, false}, falling, DrainFalling, 2, 40, Some(5), []string{"200 jobs left in 2 lanes from shard 2 up", "5.00/s fewer over 20s", "about 40s more"}},
		"one job":            {1, []Value{Some(0), Some(1)}, []bool{false, false}, []level{{0, 3, 1}, {5, 2, 2}, {10, 1, 3}}, DrainFalling, 1, 5, Some(0.2), []string{"1 job left in 1 lane"}},
		"too short":          {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{0, 300, 1}, {1, 250, 2}, {2, 200, 3}}, DrainMeasuring, 1, -1, None(), []string{"200 jobs left in 1 lane", "not known yet"}},
		"too few":            {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{0, 300, 1}, {20, 200, 3}}, DrainMeasuring, 1, -1, None(), []string{"not known yet"}},
		"first look":         {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), nil, DrainMeasuring, 1, -1, None(), []string{"not known yet"}},
		"not falling":        {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{0, 200, 1}, {5, 200, 20}, {10, 200, 40}}, DrainStanding, 1, -1, Some(0), []string{"do not become fewer over 10s", "older count"}},
		"growing":            {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{0, 100, 1}, {5, 150, 20}, {10, 200, 40}}, DrainStanding, 1, -1, Some(-10), []string{"do not become fewer"}},
		"nothing claims":     {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{0, 200, 7}, {5, 200, 7}, {10, 200, 7}}, DrainUnclaimed, 1, -1, Some(0), []string{"nothing has claimed from them over 10s", "worker"}},
		"a clock stood":      {2, []Value{Some(5), Some(5), Some(200), Some(0)}, make([]bool, 4), []level{{10, 300, 7}, {10, 250, 7}, {10, 200, 7}}, DrainMeasuring, 1, -1, None(), nil},
		"done":               {2, []Value{Some(5), Some(5), Some(0), Some(0)}, []bool{false, false, true, true}, falling, DrainDone, 0, -1, None(), []string{"the lanes from shard 2 up are drained"}},
		"a producer inside":  {2, []Value{Some(5), Some(5), Some(0), Some(0)}, make([]bool, 4), falling, DrainLocked, 0, -1, None(), []string{"no job is left from shard 2 up", "holds or awaits"}},
		"empty, not vouched": {2, []Value{Some(5), Some(5), Some(0), Some(0)}, nil, falling, DrainUnknown, 0, -1, None(), []string{"no job is left from shard 2 up; whether a producer has a lane there is not known yet"}},
		"locked below":       {2, []Value{Some(0), Some(0), Some(0), Some(0)}, []bool{false, false, true, true}, nil, DrainDone, 0, -1, None(), []string{"drained"}},
		"one depth hidden":   {2, []Value{Some(5), Some(5), Some(9), None()}, nil, falling, DrainUnknown, 1, -1, None(), []string{"not known"}},
	} {
		r := Reading{Shards: c.shards, Drained: c.drain, HighestShard: len(c.depths)}
		for shard, depth := range c.depths {
			r.Lanes = append(r.Lanes, LaneReading{Priority: 2, Shard: shard, Depth: depth})
		}
		var levels []Level
		for _, l := range c.levels {
			levels = append(levels, Level{At: epoch.Add(time.Duration(l.at) * time.Second), Jobs: l.jobs, Claimed: l.claimed})
		}
		d := DrainOf(r, levels, 5*time.Second)
		if d == nil {
			t.Errorf("%s: no drain", name)
			continue
		}
		if d.State != c.state || d.Lanes != c.lanes || d.From != c.shards || d.LeftS.Or(-1) != c.left || d.Rate != c.rate || d.Active() != (c.state != DrainDone) {
			t.Errorf("%s: %+v", name, *d)
		}
		for _, s := range c.says {
			if !strings.Contains(d.Words(), s) {
				t.Errorf("%s: says %q, must say %q", name, d.Words(), s)
			}
		}
		if known := c.state != DrainUnknown && c.state != DrainLocked && c.state != DrainDone; d.Short() == "" || known && !strings.Contains(d.Short(), "DRAINING") || c.state == DrainUnknown && strings.Contains(d.Short(), "DRAINING") {
			t.Errorf("%s: in short %q", name, d.Short())
		}
	}
}

func TestThereIsNoDrainWithoutLanesAboveTheCount(t *testing.T) {
	lanes := []LaneReading{{Priority: 2, Shard: 0, Depth: Some(9)}, {Priority: 2, Shard: 1, Depth: Some(9)}}
	for name, r := range map[string]Reading{
		"all below":         {Shards: 2, Lanes: lanes, Drained: []bool{false, false}},
		"count not known":   {Shards: 0, Lanes: lanes, Drained: []bool{false, false}},
		"no lanes":          {Shards: 1},
		"count above lanes": {Shards: 8, Lanes: lanes},
	} {
		if d := DrainOf(r, nil, time.Second); d.Active() || d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAnEstimateIsNeverMoreThanATimeCanHold(t *testing.T) {
	r := Reading{Shards: 1, Drained: make([]bool, 2), Lanes: []LaneReading{{Shard: 1, Depth: Some(1e12)}}}
	levels := []Level{{At: epoch, Jobs: 1e12 + 1}, {At: epoch.Add(5 * time.Second), Jobs: 1e12 + 1}, {At: epoch.Add(10 * time.Second), Jobs: 1e12}}
	if d := DrainOf(r, levels, time.Second); d.State != DrainFalling || !strings.Contains(d.Words(), "1000h") {
		t.Errorf("%+v: %s", d, d.Words())
	}
}
