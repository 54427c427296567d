package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
)

// shift records 8 h of 200 queues: so many of them contended all the time, with
// figures that never stand still, the rest quiet.
func shift(b *testing.B, busy int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "shift.rec")
	o := options()
	o.Limits = Limits{Bytes: 1 << 40, Files: 1}
	r := NewRecorder(o)
	if err := r.Start(path); err != nil {
		b.Fatal(err)
	}
	s := newStage(200, busy)
	var pool []control.Event // made-up events cost more than recording them
	for range 97 {
		pool = append(pool, s.event())
	}
	for sec := range 8 * 3600 {
		at := epoch.Add(time.Duration(sec) * time.Second)
		ev := pool[sec%len(pool)]
		ev.At = at
		if ev.Snapshot != nil {
			snap := *ev.Snapshot
			snap.At = at
			snap.Readings = append([]control.Reading(nil), snap.Readings...)
			for i := range snap.Readings {
				snap.Readings[i].At = at
			}
			ev.Snapshot = &snap
		}
		if err := r.Take(ev); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.Stop(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkReplay(b *testing.B) {
	for _, busy := range []int{20, 200} {
		path := shift(b, busy)
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size := float64(info.Size()) / (1 << 20)
		b.Run(fmt.Sprintf("open/busy=%d", busy), func(b *testing.B) {
			b.ReportMetric(size, "MiB")
			began := spent(b)
			for b.Loop() {
				r, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				_ = r.Close()
			}
			b.ReportMetric((spent(b)-began)/float64(b.N)*1e3, "cpu-ms/op")
		})
		b.Run(fmt.Sprintf("seek/busy=%d", busy), func(b *testing.B) {
			before := heap()
			r := opened(b, path)
			index := float64(heap()-before) / (1 << 20)
			from, to := r.Span()
			n, began := 0, spent(b)
			for b.Loop() {
				n++ // late ones, which have the longest past
				at := to.Add(-to.Sub(from) / 10 * time.Duration(n%5) / 5)
				if _, _, err := r.Seek(at, func(*control.Reading) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((spent(b)-began)/float64(b.N)*1e3, "cpu-ms/op")
			b.ReportMetric(index, "index-MiB")
		})
	}
}

// spent is the processor time of this process in seconds.
func spent(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkRecording is a tick of 200 queues, all of them contended.
func BenchmarkRecording(b *testing.B) {
	r := NewRecorder(options())
	if err := r.Start(filepath.Join(b.TempDir(), "x.rec")); err != nil {
		b.Fatal(err)
	}
	s := newStage(200, 200)
	var pool []control.Event
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
}
