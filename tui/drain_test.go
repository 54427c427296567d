package tui

import (
	"testing"

	"shardpilot/control"
)

func TestADrainIsShownUntilItIsDone(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = withDrain
	w.play(300)
	w.m.Resize(120, 40)
	has(t, w.m, "DRAINING 100 jobs, 50s")
	w.open("orders")
	has(t, w.m, "▼ DRAINING", "100 jobs left in 2 lanes from shard 2 up", "about 50s more", "▼ 2", "▼ 3", "4 lanes, ▼ from shard 2 up draining", "the order of each key is")
	w.play(60)
	has(t, w.m, "4 lanes, ▼ from shard 2 up drained")
	lacks(t, w.m, "DRAINING", "left in 2 lanes", "about")
	w.keys("esc", "esc")
	lacks(t, w.m, "DRAINING")
}

// A step that waits for a hand comes first, and what drains is not lost.
func TestADrainDoesNotHideAStep(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"})
	w.edit = func(ev *control.Event) { withStep(ev); withDrain(ev) }
	w.play(300)
	w.m.Resize(200, 60)
	has(t, w.m, "pending ×1.9 · DRAINING 100 jobs, 50s")
}

func TestStaleProducersAreNamedWithWhatHelps(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none"}, "orders")
	w.edit = func(ev *control.Event) {
		r := &ev.Snapshot.Readings[0]
		r.ProducerList = []control.Producer{
			{ID: "pod-7", Queue: "orders", State: control.AppliedStale, How: control.HowReported, Shards: control.Some(1), Detail: "reports 1, 2 is configured"},
			{ID: "10.0.0.9 web", Application: "web", Client: "10.0.0.9", Queue: "orders", State: control.AppliedStale, How: control.HowInferred, Shards: control.Some(8), Detail: "uses shard 7"},
			{ID: "10.0.0.8 api", Application: "api", Client: "10.0.0.8", Queue: "orders", State: control.AppliedOn, How: control.HowInferred, Shards: control.Some(2), Detail: "uses shard 1"}}
		if w.sec == 1 {
			ev.Changes = []control.Change{{At: r.At, Queue: "orders", From: 1, To: 2, Actor: "controller", Outcome: control.OutcomeApplied}}
		}
	}
	w.play(20)
	w.open("orders")
	w.m.Resize(200, 60)
	has(t, w.m, "1 reported, 2 inferred · 2 stale, 0 unknown", "! instance pod-7", "It reports the count it works with: restart", "! application web at 10.0.0.9",
		"No SQL producer does", "see it at their next call", "maintenance leader")
	w.keys("tab", "tab")
	for range 12 {
		w.keys("k")
	}
	has(t, w.m, "started before the count of orders changed")
	w.keys("j", "j", "j")
	has(t, w.m, "instance pod-7, reported", "reports 1, 2 is configured", "restart it")
}
