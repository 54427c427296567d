package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"shardpilot/control"
)

// large is an event of n queues with long names, all opted in, each with a
// pending step.
func large(c *clock, n int) control.Event {
	list := make([]control.Reading, n)
	for i := range list {
		list[i] = seen(time.Time{}, fmt.Sprintf("tenant-%06d.%s", i, strings.Repeat("region-", 9)), float64(i%13))
	}
	e := c.tick(list...)
	for i := range list {
		e.Decisions = append(e.Decisions, thought(e.Snapshot.At, list[i].Queue))
	}
	return e
}

// scrape is one answer of the page, as it goes over the wire.
func scrape(t testing.TB, h http.Handler) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %.500s", w.Code, w.Body.String())
	}
	return w.Body.Len()
}

// The bound is that of the page: 200 queues, some 40 samples of each, none of
// them longer than its name, its labels and a number.
func TestAScrapeOfFiveThousandQueuesIsQuickAndNoLargerThanOfFewer(t *testing.T) {
	const limit = 100 * time.Millisecond * slowness
	size := map[int]int{}
	for _, n := range []int{250, 5000} {
		c := newClock()
		m := made(c, 0)
		for range 3 {
			m.Observe(large(c, n))
		}
		h := m.Handler()
		best := time.Hour
		for i := 0; i < 20 && (i < 3 || best > limit); i++ { // the quickest: what the collector of garbage does comes on top
			began := cpu(t)
			size[n] = scrape(t, h)
			best = min(best, cpu(t)-began)
		}
		t.Logf("%d queues: %d bytes, %v", n, size[n], best)
		if best > limit {
			t.Errorf("a scrape of %d queues takes %v at best", n, best)
		}
	}
	if most := 200 * 45 * 200; size[5000] > most || size[5000] > size[250]*101/100 {
		t.Errorf("%d bytes with 250 queues, %d with 5000, at most %d may be", size[250], size[5000], most)
	}
}

// cpu is the processor time that this process has taken: what others do on the
// machine is not in it.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkScrape(b *testing.B) {
	for _, n := range []int{10, 200, 5000} {
		b.Run(fmt.Sprintf("queues=%d", n), func(b *testing.B) {
			c := newClock()
			m := made(c, 0)
			m.Observe(large(c, n))
			h := m.Handler()
			size := 0
			for b.Loop() {
				size = scrape(b, h)
			}
			b.ReportMetric(float64(size), "bytes/scrape")
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{10, 200, 5000} {
		b.Run(fmt.Sprintf("queues=%d", n), func(b *testing.B) {
			c := newClock()
			m := made(c, 0)
			events := []control.Event{large(c, n), large(c, n), large(c, n)}
			i := 0
			for b.Loop() {
				e := events[i%len(events)]
				e.At = c.move(time.Second)
				m.Observe(e)
				i++
			}
		})
	}
}
