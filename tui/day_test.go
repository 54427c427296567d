package tui

import (
	"runtime"
	"testing"
	"time"

	"shardpilot/control"
)

// Over a day of readings and of decisions that keep changing the model holds
// what it held after its rings were full.
func TestAModelDoesNotGrowOverADay(t *testing.T) {
	w := newWorld(t, looks["colour"], "orders", "email")
	w.m.Resize(120, 40)
	w.play(1)
	ev := w.event()
	run := func(seconds int) uint64 {
		for range seconds {
			w.sec++
			w.now = w.now.Add(time.Second)
			at := start.Add(time.Duration(w.sec) * time.Second)
			snapshot := *ev.Snapshot
			snapshot.At, ev.At, ev.Snapshot = at, w.now, &snapshot
			for i := range ev.Decisions {
				ev.Snapshot.Readings[i].At, ev.Decisions[i].At = at, at
			}
			if w.sec%20 == 0 { // every entry of the log falls out again, and every mark
				next := append([]control.Decision(nil), ev.Decisions...)
				next[0].Action, next[0].To = control.ActionGrow, 2+w.sec/20%2
				ev.Decisions = next
			}
			w.m.Ingest(ev)
		}
		w.m.Advance()
		var mem runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&mem)
		return mem.HeapAlloc
	}
	early := run(12_000)
	late := run(24*3600 - 12_000)
	if late > early+64<<10 {
		t.Errorf("%d bytes after 12,000 s, %d after a day", early, late)
	}
	if n := len(w.m.memory.log); n != logLimit {
		t.Errorf("the log has %d entries, so nothing was bounded", n)
	}
	if n := len(w.m.memory.queues["orders"].marks); n != marksLimit {
		t.Errorf("the queue has %d marks, so nothing was bounded", n)
	}
	runtime.KeepAlive(w)
}
