package record

import (
	"path/filepath"
	"testing"
	"time"

	"shardpilot/control"
)

// BenchmarkRecording is a tick of 200 queues, all of them contended, with
// figures that never stand still.
func BenchmarkRecording(b *testing.B) {
	r := NewRecorder(options())
	if err := r.Start(filepath.Join(b.TempDir(), "x.rec")); err != nil {
		b.Fatal(err)
	}
	s := newStage(200, 200)
	var pool []control.Event // made-up events cost more than recording them
	for range 50 {
		pool = append(pool, s.event())
	}
	n := 0
	for b.Loop() {
		ev := pool[n%len(pool)]
		ev.At = epoch.Add(time.Duration(n) * time.Second)
		n++
		if err := r.Take(ev); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(r.Status().Bytes)/float64(n), "B/tick")
}
