package tui

import (
	"testing"

	"shardpilot/control"
)

// A reading in which nobody looked shows what was waiting before it, and that in
// every place of the picture.
func TestEveryPlaceOfAPictureShowsTheSameWaiters(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newWorld(t, looks["none"], "orders")
		w.edit = func(ev *control.Event) {
			r := &ev.Snapshot.Readings[0]
			r.Waiters = control.Some(15)
			if w.sec >= 30 { // nobody looked from here on
				r.Waiters, r.Holders, r.Inside, r.Holder, r.Bottleneck = control.None(), control.None(), control.None(), nil, control.BottleneckUnknown
				r.EnqueueRate, r.Depth, r.LagS, r.Share = control.None(), control.None(), control.None(), control.None()
			}
		}
		w.play(29)
		w.m.Resize(160, 50)
		places := []string{"waiting 15", "5 sessions behind pid 48213"}
		if open {
			w.keys("enter")
			places = []string{"15 now", "5 sessions behind pid 48213"}
		}
		has(t, w.m, places...)
		w.play(2)
		has(t, w.m, places...)
		lacks(t, w.m, "n/a jobs/s", "lag n/a", "was not seen", "nobody stands behind", "waiting n/a", "n/a now")
		w.play(lateFor)
		lacks(t, w.m, places...)
		if !open {
			has(t, w.m, "waiting n/a", "share n/a", "was not seen")
		}
	}
}

// What an instance does not report was not measured: it is not 0.
func TestSessionsOfAProducerThatOnlyReportsAreNotZero(t *testing.T) {
	w := newWorld(t, looks["none"], "orders")
	w.edit = func(ev *control.Event) {
		ev.Snapshot.Readings[0].ProducerList = []control.Producer{{ID: "checkout-7", Queue: "orders", State: control.AppliedOn,
			How: control.HowReported, Shards: control.Some(2), Detail: "reports 2", SeenAgoS: control.Some(1)}}
	}
	w.play(3)
	w.m.Resize(120, 40)
	w.keys("tab", "tab")
	has(t, w.m, "reported      n/a   n/a")
}

func TestTheHealthPageSaysWhatLookingAimsAt(t *testing.T) {
	for name, c := range map[string]struct {
		cost  control.Cost
		says  []string
		lacks []string
	}{
		"as shipped":       {control.Cost{SampleHz: 4, Pace: 1, AimHz: 4, AimShare: 0.02}, []string{"aims at 4.0 looks a second and at most 2% of", "n/a of them at the lock table"}, []string{"pace of", "costs more"}},
		"at a pace":        {control.Cost{SampleHz: 8, Pace: 20, AimHz: 8, AimShare: 0.1, BusyShare: 0.14}, []string{"a pace of 20 asks for 8.0 looks a second and allows up to 10% of"}, []string{"costs more"}},
		"reads held back":  {control.Cost{SampleHz: 8, Pace: 20, AimHz: 8, AimShare: 0.1, SlowedDown: true}, []string{"counts, depth or rates are read less often"}, []string{"looks less often"}},
		"looks held back":  {control.Cost{SampleHz: 2, Pace: 1, AimHz: 4, AimShare: 0.02, SlowedDown: true}, []string{"it looks less often than that"}, []string{"counts, depth"}},
		"an old recording": {control.Cost{SampleHz: 4, SlowedDown: true}, []string{"looking holds itself back"}, []string{"aims", "pace of"}},
	} {
		w := newWorld(t, looks["none"], "orders")
		w.edit = func(ev *control.Event) { ev.Snapshot.Cost = c.cost }
		w.play(2)
		w.m.Resize(200, 50)
		w.keys("!")
		t.Run(name, func(t *testing.T) {
			has(t, w.m, c.says...)
			lacks(t, w.m, c.lacks...)
		})
	}
}

// What nobody has looked at yet is not called draining.
func TestUpperLanesNobodyLookedAtAreUnknown(t *testing.T) {
	w := newWorld(t, looks["none"], "orders")
	w.edit = func(ev *control.Event) {
		r := &ev.Snapshot.Readings[0]
		r.Drain = &control.Drain{From: r.Shards, State: control.DrainUnknown, Jobs: control.Some(0)}
	}
	w.play(3)
	w.m.Resize(160, 50)
	has(t, w.m, "upper lanes unknown", "no job is left from shard 2 up; whether a producer")
	lacks(t, w.m, "DRAINING", "Draining", "awaits")
	w.keys("enter")
	has(t, w.m, "upper lanes unknown", "up not known")
	lacks(t, w.m, "DRAINING", "Draining", "draining")
}
