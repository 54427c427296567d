// Package notify tells systemd how the process is: ready, alive, stopping. It
// speaks the protocol of sd_notify over the socket named by NOTIFY_SOCKET, and
// does nothing where there is none.
package notify

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Notifier sends datagrams to the service manager. The zero Notifier, and one
// made outside a service, sends nothing. Its methods may be called from any
// goroutine.
type Notifier struct {
	addr     string // "" outside a service
	watchdog time.Duration
}

// New reads what a service manager left in the environment (getenv is
// os.Getenv, pid our own): NOTIFY_SOCKET, and WATCHDOG_USEC unless WATCHDOG_PID
// means another process.
func New(getenv func(string) string, pid int) Notifier {
	n := Notifier{addr: getenv("NOTIFY_SOCKET")}
	if n.addr == "" {
		return Notifier{}
	}
	if p := getenv("WATCHDOG_PID"); p != "" && p != strconv.Itoa(pid) {
		return n
	}
	if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 && us <= longestWatchdog.Microseconds() {
		n.watchdog = time.Duration(us) * time.Microsecond
	}
	return n
}

// longestWatchdog is beyond any use, and below what a Duration can hold.
const longestWatchdog = 365 * 24 * time.Hour

// Active says whether somebody listens.
func (n Notifier) Active() bool { return n.addr != "" }

// Interval is how often the watchdog wants to hear of us: half of what it is
// set to, 0 when it is off.
func (n Notifier) Interval() time.Duration { return n.watchdog / 2 }

// Ready says that the start is over. Call it when the process does its work.
func (n Notifier) Ready() error { return n.send("READY=1") }

// Stopping says that the end has begun.
func (n Notifier) Stopping() error { return n.send("STOPPING=1") }

// Alive satisfies the watchdog for another interval.
func (n Notifier) Alive() error { return n.send("WATCHDOG=1") }

// Status is a line for systemctl status. Line breaks become blanks: a line of
// its own would be a message of its own.
func (n Notifier) Status(line string) error {
	return n.send("STATUS=" + strings.NewReplacer("\n", " ", "\r", " ").Replace(line))
}

// Keep satisfies the watchdog for as long as alive says so, and returns when
// ctx ends or when there is no watchdog. A process that is not alive says
// nothing, and the service manager does what it was told to. A datagram that
// could not be sent is followed by the next one.
func (n Notifier) Keep(ctx context.Context, alive func() bool) {
	every := n.Interval()
	if every <= 0 {
		return
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if alive() {
			_ = n.Alive() // the next one may get through; if none does, that is what a watchdog is for
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// send takes a connection for one datagram: they are rare, and a manager that
// was replaced listens on a new socket.
func (n Notifier) send(state string) error {
	if n.addr == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.addr, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is buffered that closing could lose
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}
