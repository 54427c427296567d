// Package pty drives the real program in a pseudo-terminal and asserts both
// the screen and the database behind it.
package pty

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"shardpilot/db/local/pgtest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shardpilot-pty-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "shardpilot")
	build := exec.Command("go", "build", "-o", binary, "shardpilot")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	pgtest.Cleanup(func() { _ = os.RemoveAll(dir) })
	// A SIGHUP that this process was started to ignore would be ignored by the
	// programs it starts; one that it catches is not.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	// These tests wait much more than they work.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("4"); err != nil {
			panic(err)
		}
	}
	pgtest.Main(m)
}

// terminal is the program behind a pseudo-terminal, with an emulator that
// draws what it writes.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	ptmx *os.File
	emu  *vt.SafeEmulator

	before unix.Termios // settings of a terminal that nobody has touched

	mu     sync.Mutex
	raw    bytes.Buffer
	clears int           // how often the screen was cleared
	pieces int           // that have come, drawn or not
	whole  bool          // the emulator shows all of raw, and no half of a picture
	drawn  chan struct{} // closed when nothing more can come
	exited chan struct{}
	err    error
}

// open starts the program with w × h cells. Env entries go over a clean
// environment with TERM=xterm-256color and a UTF-8 locale.
func open(t *testing.T, w, h int, env []string, args ...string) *terminal {
	t.Helper()
	return openCommand(t, w, h, env, exec.Command(binary, args...))
}

func openCommand(t *testing.T, w, h int, env []string, cmd *exec.Cmd) *terminal {
	t.Helper()
	prepare(t, cmd, append([]string{"TERM=xterm-256color"}, env...))
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, cmd: cmd, ptmx: ptmx, emu: vt.NewSafeEmulator(w, h), before: fresh(t),
		whole: true, drawn: make(chan struct{}), exited: make(chan struct{})}
	go tm.draw()
	go tm.answer()
	go func() {
		tm.err = cmd.Wait()
		close(tm.exited)
	}()
	t.Cleanup(tm.close)
	return tm
}

// draw copies what the program writes into the emulator, until nobody has the
// terminal open any more.
func (tm *terminal) draw() {
	defer close(tm.drawn)
	buf := make([]byte, 32<<10)
	for {
		n, err := tm.ptmx.Read(buf)
		if n > 0 {
			tm.mu.Lock()
			from := max(tm.raw.Len()-len(cleared)+1, 0) // one may come in two pieces
			tm.raw.Write(buf[:n])
			tm.clears += bytes.Count(tm.raw.Bytes()[from:], []byte(cleared))
			tm.pieces, tm.whole = tm.pieces+1, false
			tm.mu.Unlock()
			_, _ = tm.emu.Write(buf[:n])
			tm.mu.Lock()
			tm.whole = isWhole(tm.raw.Bytes())
			tm.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// isWhole says whether what was written ends between two pictures. A picture
// begins with the cursor at home and ends with it in the last line; before the
// screen is opened and after it is closed there is none.
func isWhole(raw []byte) bool {
	const home = "\x1b[H"
	begun := bytes.LastIndex(raw, []byte(home))
	switch {
	case begun < 0:
		return true
	case begun == len(raw)-len(home): // nothing of the next one is there, but for what was cleared
		return !bytes.HasSuffix(raw, []byte(cleared+home))
	}
	const enough = 4 << 10 // for what follows the end of a picture
	end := raw[max(begun, len(raw)-enough):]
	return pictureEnds.Match(end) || bytes.Contains(end, []byte("\x1b[?1049l"))
}

// cleared is sent when the screen is cleared.
const cleared = "\x1b[2J"

var pictureEnds = regexp.MustCompile(`\x1b\[\d+;H`)

// answer sends back what a terminal replies to queries.
func (tm *terminal) answer() {
	buf := make([]byte, 1024)
	for {
		n, err := tm.emu.Read(buf)
		if err != nil {
			return
		}
		if _, err := tm.ptmx.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (tm *terminal) close() {
	_ = tm.cmd.Process.Kill()
	<-tm.exited
	_ = tm.ptmx.Close()
	// The emulator's own Close writes what its Read reads, unguarded.
	if in, ok := tm.emu.InputPipe().(io.Closer); ok {
		_ = in.Close()
	}
}

// hangUp takes the terminal away, as a lost connection does.
func (tm *terminal) hangUp() {
	tm.t.Helper()
	if err := tm.ptmx.Close(); err != nil {
		tm.t.Fatal(err)
	}
}

// signal sends the program a signal.
func (tm *terminal) signal(s syscall.Signal) {
	tm.t.Helper()
	if err := tm.cmd.Process.Signal(s); err != nil {
		tm.t.Fatal(err)
	}
}

// keys types s; each of them is one write, as a key press is. Escape and a key
// that are read together are one other key (alt), so that nothing is typed after
// an escape before the program has read it.
func (tm *terminal) keys(s ...string) {
	tm.t.Helper()
	for _, k := range s {
		if _, err := tm.ptmx.WriteString(k); err != nil {
			tm.t.Fatalf("typing %q: %v", k, err)
		}
		if strings.HasSuffix(k, "\x1b") {
			until(tm.t, "the escape is read", patience, func() bool { return !tm.unread() })
		}
	}
}

// unread says whether the program still has something to read.
func (tm *terminal) unread() bool {
	tm.t.Helper()
	select {
	case <-tm.exited:
		return false
	default:
	}
	n, err := unix.IoctlGetUint32(int(tm.ptmx.Fd()), unix.TIOCGPTN)
	if err != nil {
		tm.t.Fatal(err)
	}
	// Only a poll at the program's side first moves on what is on its way to it.
	tty, err := unix.Open("/dev/pts/"+strconv.FormatUint(uint64(n), 10), unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // nobody has it open any more
	}
	defer func() { _ = unix.Close(tty) }()
	fds := []unix.PollFd{{Fd: int32(tty), Events: unix.POLLIN}}
	for {
		switch _, err := unix.Poll(fds, 0); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			tm.t.Fatal(err)
		default:
			return fds[0].Revents&unix.POLLIN != 0
		}
	}
}

func (tm *terminal) resize(w, h int) {
	tm.t.Helper()
	if w > 0 && h > 0 {
		tm.emu.Resize(w, h)
	}
	if err := pty.Setsize(tm.ptmx, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		tm.t.Fatal(err)
	}
}

// screen is what a person sees, without colours. A picture comes in pieces, and
// what is shown is never half of one: neither what is there nor what is not there
// any more could be judged by that.
func (tm *terminal) screen() string {
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		before, _ := tm.progress()
		s := ansi.Strip(tm.emu.Render())
		after, whole := tm.progress()
		if whole && before == after || time.Now().After(end) {
			return s
		}
		select {
		case <-tm.drawn: // it ended in the middle
			return ansi.Strip(tm.emu.Render())
		default:
		}
	}
}

func (tm *terminal) progress() (pieces int, whole bool) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.pieces, tm.whole
}

func (tm *terminal) cleared() int {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.clears
}

// written is everything the program has sent so far.
func (tm *terminal) written() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.raw.String()
}

// see waits until the screen matches the pattern.
func (tm *terminal) see(pattern string, within time.Duration) string {
	tm.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.Now().Add(within)
	for {
		if s := tm.screen(); re.MatchString(s) {
			return s
		}
		select {
		case <-tm.drawn:
			if s := tm.screen(); re.MatchString(s) {
				return s
			}
			tm.t.Fatalf("the program ended before the screen showed %q:\n%s", pattern, tm.screen())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			tm.t.Fatalf("the screen never showed %q:\n%s", pattern, tm.screen())
		}
	}
}

// without waits until the screen shows none of the words: what goes away may do
// so pictures after what see has found.
func (tm *terminal) without(words ...string) {
	tm.t.Helper()
	shown := func(word string) bool { return strings.Contains(tm.screen(), word) }
	for end := time.Now().Add(patience); slices.ContainsFunc(words, shown); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tm.t.Fatalf("the screen still shows one of %q:\n%s", words, tm.screen())
		}
	}
}

// ended waits for the exit and returns the code, 128 + signal when killed. The
// program's last words are on the screen by then, unless something that it left
// behind still has the terminal open.
func (tm *terminal) ended(within time.Duration) int {
	tm.t.Helper()
	select {
	case <-tm.exited:
	case <-time.After(within):
		tm.t.Fatalf("still running after %s:\n%s", within, tm.screen())
	}
	select {
	case <-tm.drawn:
	case <-time.After(within):
	}
	return exitCode(tm.err)
}

// fresh are the settings with which every pseudo-terminal begins.
func fresh(t *testing.T) unix.Termios {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ptmx.Close(), tty.Close() }()
	return settings(t, ptmx)
}

func settings(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// restored asserts that the program gave the terminal back as it found it:
// its settings, normal screen, visible cursor, no bracketed paste.
func (tm *terminal) restored() {
	tm.t.Helper()
	if now := settings(tm.t, tm.ptmx); now != tm.before {
		tm.t.Errorf("the terminal's settings are %+v, were %+v", now, tm.before)
	}
	out := tm.written()
	for _, pair := range [][2]string{
		{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?2004h", "\x1b[?2004l"},
	} {
		if on, off := strings.LastIndex(out, pair[0]), strings.LastIndex(out, pair[1]); on >= 0 && off < on {
			tm.t.Errorf("the terminal was left with %q on", pair[0])
		}
	}
}

// Wherever a picture is cut, the beginning of it is not taken for all of it; a
// screen that is closed, and one line by itself, are.
func TestHalfAPictureIsNotTakenForOne(t *testing.T) {
	const opens, frame = "a question? y\r\n\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l", "\x1b[H\r\x1b[1mone\x1b[0m\x1b[K\r\ntwo\x1b[K\x1b[2;H"
	for before, whole := range map[string]bool{"": true, "a question?": true, opens: false, opens + frame: true, opens + frame + "\x1b[2J\x1b[H": false,
		opens + frame + "\x1b[H": true, opens + "\x1b[H\rone\x1b[K\x1b[H": true, opens + frame + "\x1b[2K\r\x1b[?1049l\x1b[?25h": true} {
		if isWhole([]byte(before)) != whole {
			t.Errorf("%q: whole is %v", before, !whole)
		}
	}
	for n := len("\x1b[H") + 1; n < len(frame); n++ {
		if isWhole([]byte(opens + frame + frame[:n])) {
			t.Errorf("%q is taken for a picture", frame[:n])
		}
	}
}
