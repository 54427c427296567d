package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"shardpilot/control"
)

// patience is how long anything may take on a busy machine.
const patience = 20 * time.Second

// desk is a pseudo-terminal with a screen running on it.
type desk struct {
	t      *testing.T
	tty    *os.File // the screen's side
	ptm    *os.File // ours
	events chan control.Event
	cancel context.CancelCauseFunc
	done   chan error
	before *unix.Termios

	mu  sync.Mutex
	out bytes.Buffer

	reading sync.Mutex // held by read for each read, and by stall
	stalled bool
}

// stall lets the terminal take nothing until resume.
func (d *desk) stall() {
	d.reading.Lock()
	d.stalled = true
}

func (d *desk) resume() {
	if d.stalled {
		d.stalled = false
		d.reading.Unlock()
	}
}

func newDesk(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, tty: tty, ptm: ptm, events: make(chan control.Event), done: make(chan error, 1)}
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	if d.before, err = unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	o := Options{Events: d.events, Now: time.Now, Glyphs: "block", Color: "none", Interval: MinInterval, Input: tty, Output: tty}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	d.cancel = cancel
	var reader sync.WaitGroup
	reader.Go(d.read)
	go func() { d.done <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel(nil)
		d.resume()
		_ = ptm.Close()
		_ = tty.Close()
		reader.Wait()
	})
	return d
}

func (d *desk) read() {
	buf := make([]byte, 4096)
	for {
		n, err := d.ptm.Read(buf) // at most this one comes after stall
		d.reading.Lock()
		d.mu.Lock()
		d.out.Write(buf[:n])
		d.mu.Unlock()
		d.reading.Unlock()
		if err != nil {
			return
		}
	}
}

func (d *desk) screen() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.String()
}

// await waits until the terminal has been sent s.
func (d *desk) await(s string) {
	d.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(d.screen(), s); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("%q never came: %q", s, d.screen())
		}
	}
}

func (d *desk) tell(ev control.Event) {
	d.t.Helper()
	select {
	case d.events <- ev:
	case <-time.After(patience):
		d.t.Fatal("the screen takes no events")
	}
}

func (d *desk) ended() error {
	d.t.Helper()
	select {
	case err := <-d.done:
		return err
	case <-time.After(patience):
		d.t.Fatal("the screen does not end")
		return nil
	}
}

// restored asserts that the terminal is as it was: its settings, its cursor and
// its ordinary screen.
func (d *desk) restored() {
	d.t.Helper()
	after, err := unix.IoctlGetTermios(int(d.tty.Fd()), unix.TCGETS)
	if err != nil {
		d.t.Fatal(err)
	}
	if *after != *d.before {
		d.t.Errorf("the terminal's settings are %+v, were %+v", *after, *d.before)
	}
	for _, seq := range []string{"\x1b[?25h", "\x1b[?1049l", "\x1b[?2004l"} {
		d.await(seq)
	}
}

// tick is an event of this moment: one queue with producers in line, five quiet.
func tick(t *testing.T) control.Event {
	w := newWorld(t, Options{}, "orders", "a", "b", "c", "d", "e")
	ev := w.event()
	ev.At = time.Now()
	ev.Snapshot.At = ev.At
	for i := range ev.Snapshot.Readings {
		ev.Snapshot.Readings[i].At = ev.At
		if i > 0 {
			ev.Snapshot.Readings[i].Waiters = control.Some(0)
		}
		ev.Decisions[i].Pending = false
	}
	return ev
}

func TestKeysQuitAndRestoreTheTerminal(t *testing.T) {
	for _, key := range []string{"q", "\x03"} {
		d := newDesk(t, nil)
		d.await("no reading yet")
		d.tell(tick(t))
		d.await("orders")
		if _, err := d.ptm.WriteString(key); err != nil {
			t.Fatal(err)
		}
		if err := d.ended(); err != nil {
			t.Errorf("%q ends with %v", key, err)
		}
		d.restored()
	}
}

func TestContextEndsTheScreen(t *testing.T) {
	d := newDesk(t, nil)
	d.await("no reading yet")
	stop := errors.New("SIGTERM")
	d.cancel(stop)
	if err := d.ended(); !errors.Is(err, stop) {
		t.Errorf("ended with %v", err)
	}
	d.restored()
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	armed := make(chan struct{})
	d := newDesk(t, func(o *Options) {
		o.Now = func() time.Time {
			select {
			case <-armed:
				panic("a clock that breaks")
			default:
				return time.Now()
			}
		}
	})
	d.await("no reading yet")
	close(armed)
	d.tell(tick(t))
	var f *control.Fault
	if err := d.ended(); !errors.As(err, &f) || control.ExitCode(err) == 0 || !strings.Contains(f.Err.Error(), "a clock that breaks") {
		t.Errorf("ended with %v", err)
	}
	d.restored()
}

func TestScreenEndsWithItsTerminal(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	if err := d.ptm.Close(); err != nil {
		t.Fatal(err)
	}
	err := d.ended()
	if !errors.Is(err, errTerminalGone) || control.ExitCode(err) != 1 {
		t.Errorf("ended with %v", err)
	}
}

func TestPasteOnTheTerminalIsNoKeys(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	if _, err := d.ptm.WriteString("\x1b[200~qqq\x1b[201~"); err != nil {
		t.Fatal(err)
	}
	d.await("pasted text is not taken for keys")
	if _, err := d.ptm.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := d.ended(); err != nil {
		t.Error(err)
	}
}

// A held key comes in bunches over a slow line: each is a key of its own.
func TestHeldKeysAreAllTaken(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Glyphs = "ascii" })
	d.tell(tick(t))
	d.await("> ! orders")
	if _, err := d.ptm.WriteString("jjjjj"); err != nil {
		t.Fatal(err)
	}
	d.await(">   e") // five down
	if _, err := d.ptm.WriteString("kkkkkq"); err != nil {
		t.Fatal(err)
	}
	if err := d.ended(); err != nil {
		t.Error(err)
	}
}

func TestCopyReachesTheTerminalWhole(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	if _, err := d.ptm.WriteString("y\r"); err != nil {
		t.Fatal(err)
	}
	d.await("\x1b]52;c;b3JkZXJz\a")
	d.cancel(nil)
	if err := d.ended(); err == nil {
		t.Error("a cancelled screen ends without a cause")
	}
}

func TestEventsThatEndLeaveThePicture(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	close(d.events)
	d.await("age 1s") // it goes on ageing
	if _, err := d.ptm.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := d.ended(); err != nil {
		t.Error(err)
	}
}

// The binary asks the terminal nothing while it starts, and TERM is itself again.
func TestStartAsksTheTerminalNothing(t *testing.T) {
	if os.Getenv("SHARDPILOT_TEST_SAY_TERM") != "" {
		fmt.Println("TERM is", os.Getenv("TERM"))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStartAsksTheTerminalNothing$", "-test.v")
	cmd.Env = append(os.Environ(), "SHARDPILOT_TEST_SAY_TERM=1", "TERM=xterm-256color", "CI=")
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out bytes.Buffer
	_, _ = out.ReadFrom(f) // ends with EIO when the child is gone
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if !strings.Contains(out.String(), "TERM is xterm-256color") {
		t.Errorf("TERM is not given back: %q", out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the terminal is asked something: %q", out.String())
	}
}

// A terminal that takes nothing (a slow link, ctrl-s) stops the picture and
// nothing else: events are taken, and what is shown once it takes things again
// is the newest.
func TestASlowTerminalSlowsThePictureOnly(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	d.stall()
	for range 200 { // redraws: far more than the terminal's buffer
		if _, err := d.ptm.WriteString("\x0c"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	ev := tick(t)
	for range 300 {
		d.tell(ev)
	}
	newest := tick(t) // of its own: the screen reads those it was told
	newest.Snapshot.Readings[0].Queue, newest.Decisions[0].Queue = "the-newest", "the-newest"
	d.tell(newest)
	time.Sleep(2 * MinInterval) // the picture would have moved
	if strings.Contains(d.screen(), "the-newest") {
		t.Fatal("the terminal was not stalled")
	}
	d.resume()
	d.await("the-newest")
	if _, err := d.ptm.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := d.ended(); err != nil {
		t.Error(err)
	}
	d.restored()
}

func TestAStalledTerminalDoesNotKeepTheScreenFromEnding(t *testing.T) {
	d := newDesk(t, nil)
	d.tell(tick(t))
	d.await("orders")
	d.stall()
	for range 200 {
		if _, err := d.ptm.WriteString("\x0c"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	d.cancel(errors.New("SIGTERM"))
	if err := d.ended(); err == nil || err.Error() != "SIGTERM" {
		t.Errorf("ended with %v", err)
	}
	d.resume()
}
