package tui

import (
	"io"
	"os"
	"sync"
	"time"
)

// bubbletea takes the end of its input and failing writes for granted and goes
// on. The wrappers here notice, so that a dashboard never outlives its terminal.
// They keep the file beneath visible, which bubbletea needs for raw mode.

type watchedReader struct {
	r    io.Reader
	gone func()
}

func (w watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil {
		w.gone()
	}
	return n, err
}

type watchedInput struct {
	*os.File
	watchedReader
}

func (w watchedInput) Read(p []byte) (int, error) { return w.watchedReader.Read(p) }

func watchInput(r io.Reader, gone func()) io.Reader {
	if r == nil {
		return nil
	}
	if f, ok := r.(*os.File); ok {
		return watchedInput{f, watchedReader{f, gone}}
	}
	return watchedReader{r, gone}
}

// terminal is what is written to the terminal on its way there. bubbletea
// writes while it holds a lock that its loop needs, so a terminal that takes
// nothing (a slow link, ctrl-s) would stop the program. Here a write only
// queues; behind says whether the terminal keeps up, and as long as it does
// not no new picture is made (see program.View). So at most a picture and what
// starts or ends the screen are waiting, and nothing is ever cut in two.
type terminal struct {
	w     io.Writer
	gone  func()
	ready func() // called when everything is written, after behind said no

	mu     sync.Mutex
	more   sync.Cond
	queue  []byte
	busy   bool // the writing goroutine has something in hand
	asked  bool // somebody was told that the terminal is behind
	closed bool
	done   chan struct{}
}

func newTerminal(w io.Writer, gone, ready func()) *terminal {
	if w == nil {
		w = io.Discard
	}
	t := &terminal{w: w, gone: gone, ready: ready, done: make(chan struct{})}
	t.more.L = &t.mu
	go t.run()
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, os.ErrClosed
	}
	t.queue = append(t.queue, p...)
	t.more.Signal()
	return len(p), nil
}

// run hands on what was queued until the terminal is closed and all is written.
func (t *terminal) run() {
	defer close(t.done)
	var hand []byte
	for {
		t.mu.Lock()
		for len(t.queue) == 0 && !t.closed {
			t.more.Wait()
		}
		if len(t.queue) == 0 {
			t.mu.Unlock()
			return
		}
		hand, t.queue = t.queue, hand[:0]
		t.busy = true
		t.mu.Unlock()
		_, err := t.w.Write(hand)
		t.mu.Lock()
		t.busy = false
		tell := t.asked && len(t.queue) == 0
		if tell {
			t.asked = false
		}
		t.mu.Unlock()
		if err != nil {
			t.gone()
		}
		if tell {
			t.ready()
		}
	}
}

// behind says whether something still waits for the terminal. Whoever is told
// so is called back through ready.
func (t *terminal) behind() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy || len(t.queue) > 0 {
		t.asked = true
		return true
	}
	return false
}

// close lets what is queued be written, and waits for that so long. A terminal
// that takes nothing keeps its goroutine, which ends with the process.
func (t *terminal) close(wait time.Duration) {
	t.mu.Lock()
	t.closed = true
	t.more.Signal()
	t.mu.Unlock()
	give := time.NewTimer(wait)
	defer give.Stop()
	select {
	case <-t.done:
	case <-give.C:
	}
}

// terminalFile keeps the file beneath visible, which bubbletea needs for its
// size. It has no more of the file's methods than that: io.WriteString would
// find WriteString and go past the queue.
type terminalFile struct {
	file *os.File
	*terminal
}

func (t terminalFile) Fd() uintptr                { return t.file.Fd() }
func (t terminalFile) Read(p []byte) (int, error) { return t.file.Read(p) }
func (t terminalFile) Close() error               { return t.file.Close() }

// output is the terminal as bubbletea wants it.
func (t *terminal) output() io.Writer {
	if f, ok := t.w.(*os.File); ok {
		return terminalFile{f, t}
	}
	return t
}
