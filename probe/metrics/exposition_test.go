package metrics

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/probe/metrics/promtest"
	"shardpilot/probe/notify"
)

// exposed is an exposition of a service whose manager listens, with a port of
// its own for metrics.
func exposed(t *testing.T) (x *Exposition, addr string, heard func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "x") // short: a path longer than 107 bytes is no socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "s")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = manager.Close() })
	systemd := notify.New(func(v string) string { return map[string]string{"NOTIFY_SOCKET": name}[v] }, os.Getpid())
	addr = promtest.FreeAddr(t)
	if x, err = Expose(Addresses{Metrics: addr}, Options{Now: time.Now}, systemd); err != nil {
		t.Fatal(err)
	}
	return x, addr, func() string {
		if err := manager.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 256)
		n, err := manager.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestTheManagerHearsOfTheEndBeforeEverythingHasEnded(t *testing.T) {
	x, addr, heard := exposed(t)
	ctx, cancel := context.WithCancel(context.Background())
	events, ended := make(chan control.Event), make(chan error, 1)
	go func() { ended <- x.Run(ctx, events) }()
	e := newClock().tick(seen(time.Time{}, "orders", 1))
	e.At = time.Now()
	events <- e
	if said := heard(); said != "READY=1" {
		t.Errorf("the manager heard %q", said)
	}
	cancel()
	if said := heard(); said != "STOPPING=1" { // the runner has not ended: events is open
		t.Errorf("the manager heard %q", said)
	}
	e.At = time.Now()
	events <- e // the last word of the runner
	close(events)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	free(t, addr)
}

func TestAddressesThatAreNeverServedAreGivenBack(t *testing.T) {
	x, addr, _ := exposed(t)
	if ln, err := net.Listen("tcp", addr); err == nil {
		_ = ln.Close()
		t.Fatal("the address was not taken")
	}
	x.Close()
	free(t, addr)

	first := promtest.FreeAddr(t)
	if _, err := Expose(Addresses{Metrics: first, Health: "nonsense"}, Options{Now: time.Now}, notify.Notifier{}); err == nil {
		t.Fatal("nonsense was listened on")
	}
	free(t, first)
}

func free(t *testing.T, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("it is still taken: %v", err)
	}
	_ = ln.Close()
}
