package metrics

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
)

func TestScrapesAreAnsweredUntilTheEndAndThenThePortIsFree(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.Observe(c.full("orders"))
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Answer(ctx, ln, m.Routes()) }()
	body := get(t, "http://"+ln.Addr().String()+"/metrics")
	if !strings.Contains(body, `awa_enqueue_lane_lock_wait_seconds_total{queue="orders"} 6`) {
		t.Errorf("the page does not tell of the wait:\n%s", body)
	}
	if !strings.Contains(body, "go_goroutines") || !strings.Contains(body, "process_resident_memory_bytes") {
		t.Error("the page does not tell of the process")
	}
	if body := get(t, "http://"+ln.Addr().String()+"/"); !strings.Contains(body, "/metrics") {
		t.Errorf("/ says %q", body)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	again, err := Listen(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s is %d: %s", url, resp.StatusCode, b)
	}
	return string(b)
}

func TestAnIdleConnectionDoesNotHoldUpTheEnd(t *testing.T) {
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	hold := make(chan struct{})
	entered := make(chan struct{})
	stuck := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-hold })
	ended := make(chan error, 1)
	go func() { ended <- Answer(ctx, ln, stuck) }()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // of a test
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("an answer that never comes holds up the end")
	}
	close(hold)
}

func TestAnAddressThatCannotBeHadIsAFaultWithANextStep(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // of a test
	for addr, kind := range map[string]control.FaultKind{
		taken.Addr().String(): control.FaultFailed,
		"192.0.2.1:9187":      control.FaultFailed,
		"nonsense":            control.FaultUsage,
		"127.0.0.1:http-ish":  control.FaultUsage,
		"127.0.0.1:70000":     control.FaultUsage,
		"":                    control.FaultUsage,
	} {
		err := Serve(context.Background(), addr, http.NotFoundHandler())
		var f *control.Fault
		if !errors.As(err, &f) || f.Kind != kind || f.Hint == "" || !strings.Contains(f.What, addr) {
			t.Errorf("%q: %#v, want kind %v", addr, err, kind)
		}
	}
}

func TestEventsAndScrapesMayComeAtTheSameTime(t *testing.T) {
	c := newClock()
	m, h := made(c, 5), NewHealth(c.now, 0)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 30 {
				if code, body := answer(t, m.Routes(), "/metrics"); code != http.StatusOK {
					t.Errorf("%d: %s", code, body)
				}
				answer(t, h.Routes(), "/ready")
			}
		})
	}
	for range 100 {
		e := c.tick(fleet(12, 1, 2, 3)...)
		m.Observe(e)
		h.Observe(e)
	}
	wg.Wait()
}
