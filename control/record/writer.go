package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"shardpilot/control"
)

// Limits are how large a recording may get.
type Limits struct {
	Bytes int64 // of all its files together; at least MinBytes
	Files int   // the newest so many are kept
}

// The least and the usual size of a recording in bytes, and how many files it
// is spread over.
const (
	MinBytes     = 4 << 20
	DefaultBytes = 1 << 30
	DefaultFiles = 4
)

const (
	pointEvery = int64(time.Minute)
	syncEvery  = int64(5 * time.Second)
)

// writer writes the files of one recording. Each event is one write of whole
// lines, so that whatever ends the process tears the last line at most.
type writer struct {
	path   string
	limits Limits
	header Header
	before []control.LogEntry // of the log, from before the file begins
	enc    *encoder
	out    file

	size   int64
	total  int64 // of all files, those that are gone too
	t      int64 // of the newest event
	point  int64 // t of the newest point of the file, 0 before the first
	since  int64 // t of the newest point of any
	prev   int64 // its offset
	n      int   // its number
	synced int64
	log    [][3]int64
	buf    []byte

	dropped int // ticks that were missed before the recording began
}

// file is what a writer needs of an *os.File.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// create begins a recording. It overwrites nothing: neither the file nor one
// of those that it would become when it is full may exist.
func create(path string, limits Limits, h Header, before []control.LogEntry) (*writer, error) {
	for n := range limits.Files {
		if _, err := os.Lstat(numbered(path, n)); !errors.Is(err, os.ErrNotExist) {
			what := "there is already a file " + numbered(path, n)
			if err != nil {
				what = "the recording cannot be begun: " + err.Error()
			}
			return nil, &control.Fault{Kind: control.FaultUsage, What: what, Hint: "give another name; a recording overwrites nothing", Err: err}
		}
	}
	w := &writer{path: path, limits: limits, header: h, before: before, enc: newEncoder()}
	return w, w.begin()
}

// numbered is the name of a full file, n rotations ago.
func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

func (w *writer) begin() error {
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return &control.Fault{Kind: control.FaultFailed, What: "the recording cannot be written: " + err.Error(),
			Hint: "choose a file that can be made", Err: err}
	}
	w.out, w.size, w.prev, w.n, w.point = f, 0, 0, 0, 0
	w.header.Part++
	w.log = nil
	return nil
}

// event writes one event.
func (w *writer) event(ev *control.Event) error {
	if ev.Snapshot == nil && ev.Err == nil {
		return nil
	}
	if ev.Snapshot != nil && w.header.Server == (control.Database{}) {
		w.header.Server = ev.Snapshot.Database
	}
	w.t = max(w.t+1, ev.At.UnixNano())
	lines := w.lines(ev)
	if limit := w.limits.Bytes / int64(w.limits.Files); w.size > 0 && w.size+int64(len(lines)) > limit {
		if err := w.rotate(); err != nil {
			return err
		}
		lines = w.lines(ev)
	}
	if n, err := w.out.Write(lines); err != nil {
		if n > 0 { // no torn line, if that can be helped
			_ = w.out.Truncate(w.size)
		}
		return stopped(err)
	}
	w.size += int64(len(lines))
	w.total += int64(len(lines))
	for i := range ev.Entries {
		if w.before = append(w.before, ev.Entries[i]); len(w.before) > 2*tail {
			w.before = append([]control.LogEntry(nil), w.before[len(w.before)-tail:]...)
		}
	}
	if w.t-w.synced > syncEvery {
		w.synced = w.t
		if err := w.out.Sync(); err != nil {
			return stopped(err)
		}
	}
	return nil
}

// lines are those of an event, with a point before it when one is due.
func (w *writer) lines(ev *control.Event) []byte {
	b := w.buf[:0]
	if w.size == 0 {
		b = appendLine(b, "", w.header)
		b = append(b[:len(b)-2], '\n') // a header has no word before it
		old := w.before[max(0, len(w.before)-tail):]
		b = appendLine(b, wordBefore, old)
	}
	if w.point == 0 || w.t-w.point >= pointEvery {
		p := point{N: w.n + 1, T: w.t, At: serverTime(ev).UnixNano(), Prev: w.prev, Log: w.log, From: w.since}
		w.prev, w.n, w.point, w.since, w.log = w.size+int64(len(b)), p.N, w.t, w.t, nil
		b = w.enc.point(b, &p)
	}
	for i := range ev.Entries {
		e := &ev.Entries[i]
		mark := int64(0)
		if marks(e) && !w.old(ev, e) {
			mark = 1
		}
		w.log = append(w.log, [3]int64{w.size + int64(len(b)), w.t, mark})
		b = appendLine(b, wordEntry, e)
	}
	b = w.enc.event(b, ev, w.t)
	w.buf = b
	return b
}

func serverTime(ev *control.Event) time.Time {
	switch {
	case ev.Snapshot != nil:
		return ev.Snapshot.At
	case !ev.World.Now.IsZero():
		return ev.World.Now
	}
	return ev.At
}

// old says whether an entry is from before the recording, as those are with
// which a process begins.
func (w *writer) old(ev *control.Event, e *control.LogEntry) bool {
	return ev.Snapshot != nil && e.At.Before(w.header.Started.Add(ev.Snapshot.ClockSkew))
}

// tail is how many entries of the log from before a recording it begins with.
const tail = 500

// rotate makes the full file the youngest of the full ones, drops the oldest,
// and begins another.
func (w *writer) rotate() error {
	if err := errors.Join(w.out.Sync(), w.out.Close()); err != nil {
		return stopped(err)
	}
	if err := os.Remove(numbered(w.path, w.limits.Files-1)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return stopped(err)
	}
	for n := w.limits.Files - 2; n >= 0; n-- {
		if err := os.Rename(numbered(w.path, n), numbered(w.path, n+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return stopped(err)
		}
	}
	return w.begin()
}

func (w *writer) close() error {
	if err := errors.Join(w.out.Sync(), w.out.Close()); err != nil {
		return stopped(err)
	}
	return nil
}

func stopped(err error) error {
	return &control.Fault{Kind: control.FaultFailed, What: fmt.Sprintf("the recording stopped: %v", err),
		Hint: "what was written can be replayed; make room, then record to another file", Err: err}
}
