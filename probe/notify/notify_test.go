package notify

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// manager listens as systemd does.
func manager(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func hear(t *testing.T, conn *net.UnixConn, patience time.Duration) (string, bool) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n]), true
}

func environment(list map[string]string) func(string) string {
	return func(name string) string { return list[name] }
}

// socketName is short: a path longer than 107 bytes is no socket.
func socketName(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "n")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func TestTheManagerHearsEachStateInOrder(t *testing.T) {
	name := socketName(t)
	conn := manager(t, name)
	n := New(environment(map[string]string{"NOTIFY_SOCKET": name}), os.Getpid())
	for _, send := range []func() error{n.Ready, func() error { return n.Status("watching\nSTOPPING=1") }, n.Alive, n.Stopping} {
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"READY=1", "STATUS=watching STOPPING=1", "WATCHDOG=1", "STOPPING=1"} {
		if got, ok := hear(t, conn, 10*time.Second); !ok || got != want {
			t.Errorf("heard %q (%v), want %q", got, ok, want)
		}
	}
}

func TestAnAbstractSocketIsReachedToo(t *testing.T) {
	name := "@shardpilot-test-" + strconv.Itoa(os.Getpid())
	conn := manager(t, name)
	if err := New(environment(map[string]string{"NOTIFY_SOCKET": name}), 1).Ready(); err != nil {
		t.Fatal(err)
	}
	if got, ok := hear(t, conn, 10*time.Second); !ok || got != "READY=1" {
		t.Errorf("heard %q (%v)", got, ok)
	}
}

func TestOutsideAServiceNothingIsSentAndNothingFails(t *testing.T) {
	n := New(environment(map[string]string{"WATCHDOG_USEC": "1000000"}), 1)
	if n.Active() || n.Interval() != 0 {
		t.Errorf("active %v, interval %v", n.Active(), n.Interval())
	}
	for _, send := range []func() error{n.Ready, n.Alive, n.Stopping} {
		if err := send(); err != nil {
			t.Error(err)
		}
	}
	n.Keep(context.Background(), func() bool { t.Error("asked without a watchdog"); return true }) // returns at once
}

func TestAManagerThatIsGoneIsAnErrorByItsType(t *testing.T) {
	n := New(environment(map[string]string{"NOTIFY_SOCKET": socketName(t)}), 1)
	if err := n.Ready(); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v, want ENOENT in its chain", err)
	}
}

func TestTheWatchdogIsForTheProcessItNames(t *testing.T) {
	const pid = 4711
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"30000000", "", 15 * time.Second},
		{"30000000", "4711", 15 * time.Second},
		{"30000000", "1", 0},
		{"", "4711", 0},
		{"0", "", 0},
		{"-5", "", 0},
		{"soon", "", 0},
		{"9223372036854775807", "", 0},
	} {
		n := New(environment(map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.pid}), pid)
		if got := n.Interval(); got != c.want {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: interval %v, want %v", c.usec, c.pid, got, c.want)
		}
	}
}

func TestTheWatchdogHearsOfUsWhileWeAreAliveAndThenNoMore(t *testing.T) {
	name := socketName(t)
	conn := manager(t, name)
	n := New(environment(map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "40000"}), 1)
	var alive atomic.Bool
	var asked atomic.Int64
	alive.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		n.Keep(ctx, func() bool { asked.Add(1); return alive.Load() })
	})
	defer wg.Wait()
	defer cancel()
	for range 3 {
		if got, ok := hear(t, conn, 10*time.Second); !ok || got != "WATCHDOG=1" {
			t.Fatalf("heard %q (%v)", got, ok)
		}
	}
	alive.Store(false)
	since := asked.Load()
	for asked.Load() < since+2 { // one asked before may still be on its way
		time.Sleep(5 * time.Millisecond)
	}
	for drained := false; !drained; {
		_, more := hear(t, conn, time.Millisecond)
		drained = !more
	}
	since = asked.Load()
	for asked.Load() < since+5 {
		time.Sleep(5 * time.Millisecond)
	}
	if got, ok := hear(t, conn, time.Millisecond); ok {
		t.Errorf("heard %q of a process that is not alive", got)
	}
}
