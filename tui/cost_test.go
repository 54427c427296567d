package tui

import (
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"shardpilot/control"
)

func manyNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("queue-%04d", i)
	}
	return out
}

// jitter makes every reading a little different, as real ones are.
func jitter(w *world, busy int) func(*control.Event) {
	return func(ev *control.Event) {
		for i := range ev.Snapshot.Readings {
			r := &ev.Snapshot.Readings[i]
			noise := float64((w.sec*7919+i*104729)%100) / 50
			r.Depth, r.EnqueueRate = control.Some(100+40*noise), control.Some(210+9*noise)
			if i < busy {
				r.Waiters, r.Share = control.Some(1+noise), control.Some(0.3+noise/5)
				r.ShareLow, r.ShareHigh = control.Some(0.25+noise/5), control.Some(0.35+noise/5)
			}
		}
	}
}

// Fifteen minutes of a thousand queues stay below 64 MiB.
func TestMemoryIsBounded(t *testing.T) {
	const queues, seconds = 1000, 15 * 60
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := newWorld(t, looks["colour"], manyNames(queues)...)
	w.m.Resize(200, 60)
	// One event is enough to be repeated: what is kept of it are numbers.
	w.play(1)
	ev := w.event()
	for range seconds + 100 {
		w.sec++
		w.now = w.now.Add(time.Second)
		at := start.Add(time.Duration(w.sec) * time.Second)
		ev.At, ev.Snapshot.At = w.now, at
		for i := range ev.Snapshot.Readings {
			ev.Snapshot.Readings[i].At = at
		}
		w.m.Ingest(ev)
	}
	w.m.Advance()
	ev = control.Event{}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d queues, %d s: %.1f MiB, %.1f KiB a queue", queues, seconds, float64(used)/(1<<20), float64(used)/queues/1024)
	if used > 64<<20 {
		t.Errorf("%d bytes are held", used)
	}
	runtime.KeepAlive(w)
}

type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }

// The real renderer writes less than 10 KiB a second at 120 × 45 with 20 busy
// queues and a chart.
func TestBytesToTheTerminalAreFew(t *testing.T) {
	for _, page := range []string{"", "enter"} {
		w := newWorld(t, looks["colour"], manyNames(20)...)
		w.edit = jitter(w, 20)
		w.play(900)
		w.m.Resize(120, 45)
		if page != "" {
			w.keys(page)
		}
		var out counter
		p := tea.NewProgram(&program{m: w.m, pump: newPump(Options{})}, tea.WithInput(nil), tea.WithOutput(&out),
			tea.WithoutSignalHandler(), tea.WithAltScreen(), tea.WithFPS(120))
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		p.Send(tea.WindowSizeMsg{Width: 120, Height: 45})
		settle(&out, 4000)
		first := out.n.Load()
		const ticks = 60
		for range ticks {
			before := out.n.Load()
			w.sec++
			w.now = w.now.Add(time.Second)
			ev := w.event()
			w.edit(&ev)
			p.Send(eventMsg{ev})
			p.Send(tickMsg{})
			settle(&out, before+1)
		}
		perSecond := (out.n.Load() - first) / ticks
		p.Quit()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		t.Logf("page %q: first picture %d bytes, then %d bytes a second", page, first, perSecond)
		if perSecond > 10<<10 || perSecond == 0 {
			t.Errorf("page %q: %d bytes a second", page, perSecond)
		}
	}
}

// settle waits until at least n bytes were written and no more come.
func settle(c *counter, n int64) {
	for end := time.Now().Add(patience); c.n.Load() < n && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	for last := int64(-1); last != c.n.Load(); {
		last = c.n.Load()
		time.Sleep(12 * time.Millisecond)
	}
}

// What did not change at its shown precision is not drawn again.
func TestUnchangedLinesStayAsTheyAre(t *testing.T) {
	w := newWorld(t, looks["colour"])
	still := w.event()
	w.edit = func(ev *control.Event) {
		for i := range ev.Snapshot.Readings {
			at := ev.Snapshot.Readings[i].At
			ev.Snapshot.Readings[i] = still.Snapshot.Readings[i]
			ev.Snapshot.Readings[i].At = at
			ev.Snapshot.Readings[i].EnqueueRate = control.Some(210 + 0.4*float64(w.sec%2))
			ev.Decisions[i] = still.Decisions[i]
			ev.Decisions[i].Blockers, ev.Decisions[i].Next = nil, time.Time{} // no times that count down
		}
	}
	w.play(900)
	w.m.Resize(120, 40)
	before := w.m.View()
	w.play(60) // the span's columns have moved on by whole ones
	if changed := differingLines(before, w.m.View()); changed > 2 {
		t.Errorf("%d lines changed for new times of the same numbers", changed)
	}
}

func differingLines(a, b string) int {
	n, la, lb := 0, splitLines(a), splitLines(b)
	for i := range la {
		if la[i] != lb[i] {
			n++
		}
	}
	return n
}

func splitLines(s string) []string {
	var out []string
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '\n' {
			i++
		}
		out = append(out, s[:i])
		s = s[min(i+1, len(s)):]
	}
	return out
}

// A frame is a tick taken in, a key pressed and both drawn, at 1,000 queues.
func BenchmarkFrame(b *testing.B) {
	for _, page := range []string{"overview", "queue", "producers"} {
		b.Run(page, func(b *testing.B) {
			w := &world{names: manyNames(1000), now: start}
			o := looks["colour"]
			o.Getenv, o.Now = calm("LC_ALL=C.UTF-8"), func() time.Time { return w.now }
			w.m = New(o)
			w.edit = jitter(w, 200)
			w.play(300)
			w.m.Resize(200, 60)
			switch page {
			case "queue":
				w.keys("enter")
			case "producers":
				w.keys("tab", "tab")
			}
			events := make([]control.Event, 50)
			for i := range events {
				w.sec++
				w.now = w.now.Add(time.Second)
				events[i] = w.event()
				w.edit(&events[i])
			}
			best := time.Hour
			b.ResetTimer()
			for i := range b.N {
				began := time.Now()
				w.m.Ingest(events[i%len(events)])
				w.m.Advance()
				best = min(best, time.Since(began))
			}
			b.ReportMetric(float64(best.Microseconds()), "best-µs")
		})
	}
}

// BenchmarkKey is what a key press costs.
func BenchmarkKey(b *testing.B) {
	w := &world{names: manyNames(1000), now: start}
	o := looks["colour"]
	o.Getenv, o.Now, o.Output = calm("LC_ALL=C.UTF-8"), func() time.Time { return w.now }, io.Discard
	w.m = New(o)
	w.play(300)
	w.m.Resize(200, 60)
	best := time.Hour
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		w.m.Key("j")
		best = min(best, time.Since(began))
	}
	b.ReportMetric(float64(best.Microseconds()), "best-µs")
}
