package tui

import (
	"io"
	"os"
	"sync"
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

// watchedWriter also keeps writes whole: the renderer's and the clipboard's.
type watchedWriter struct {
	mu   *sync.Mutex
	w    io.Writer
	gone func()
}

func (w watchedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.w.Write(p)
	if err != nil {
		w.gone()
	}
	return n, err
}

type watchedOutput struct {
	*os.File
	watchedWriter
}

func (w watchedOutput) Write(p []byte) (int, error) { return w.watchedWriter.Write(p) }

// watchOutput gives the writer for bubbletea and one for whole sequences that
// go past it.
func watchOutput(w io.Writer, gone func()) (io.Writer, func(string)) {
	if w == nil {
		w = io.Discard
	}
	ww := watchedWriter{mu: &sync.Mutex{}, w: w, gone: gone}
	raw := func(s string) { _, _ = io.WriteString(ww, s) } // a failure has been told to gone
	if f, ok := w.(*os.File); ok {
		return watchedOutput{f, ww}, raw
	}
	return ww, raw
}
