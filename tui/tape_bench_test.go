package tui

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"shardpilot/control"
	"shardpilot/control/record"
)

// shift is a recording of 8 h of 200 queues: 20 of them contended all the time,
// and none with a figure that stands still.
func shift(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "shift.rec")
	w := &world{names: manyNames(200), now: start}
	r := record.NewRecorder(record.Options{Program: "bench", Pace: 1, Policy: control.DefaultPolicy(), Limits: record.Limits{Bytes: 1 << 40, Files: 1},
		Now: func() time.Time { return w.now }})
	if err := r.Start(path); err != nil {
		b.Fatal(err)
	}
	edit := jitter(w, 20)
	var pool []control.Event // made-up events cost more than recording them
	for w.sec = range 97 {
		ev := w.event()
		edit(&ev)
		pool = append(pool, ev)
	}
	for w.sec = range 8 * 3600 {
		w.now = start.Add(time.Duration(w.sec) * time.Second)
		ev := pool[w.sec%len(pool)]
		s := *ev.Snapshot
		ev.At, s.At = w.now, w.now
		s.Readings = append([]control.Reading(nil), s.Readings...)
		for i := range s.Readings {
			s.Readings[i].At = w.now
		}
		ev.Snapshot, ev.Changes = &s, nil
		if err := r.Take(ev); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.Stop(); err != nil {
		b.Fatal(err)
	}
	return path
}

// spent is the processor time of this process in milliseconds.
func spent(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// stageOf opens a recording and shows its first tick.
func stageOf(b *testing.B, path string) (*record.Recording, *deck) {
	r, err := record.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	tape := r.Tape()
	m := New(Options{Tape: tape, Now: func() time.Time { return start }, Getenv: calm("LC_ALL=C.UTF-8", "TERM=xterm-256color")})
	m.Resize(200, 60)
	d := newDeck(tape, m.g)
	d.send = func(msg tea.Msg) { m.played(msg.(tapeMsg)) }
	from, _ := tape.Span()
	d.seek(from)
	return r, d
}

// BenchmarkReplay opens a recording up to its first picture, and goes to moments
// in its last hour, which have the longest past, until they are drawn.
func BenchmarkReplay(b *testing.B) {
	path := shift(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		began := spent(b)
		for b.Loop() {
			r, _ := stageOf(b, path)
			_ = r.Close()
		}
		b.ReportMetric((spent(b)-began)/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(info.Size())/(1<<20), "file-MiB")
	})
	b.Run("seek", func(b *testing.B) {
		before := inUse()
		r, d := stageOf(b, path)
		defer func() { _ = r.Close() }()
		_, to := r.Span()
		n, began := 0, spent(b)
		for b.Loop() {
			n++
			d.seek(to.Add(time.Duration(n%59) * -61 * time.Second))
		}
		b.ReportMetric((spent(b)-began)/float64(b.N), "cpu-ms/op")
		b.ReportMetric(inUse()-before, "kept-MiB")
		runtime.KeepAlive(d)
	})
}
