package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"shardpilot/control"
	"shardpilot/control/plainfile"
)

// Recording is one that was opened: an index, not its content. It is not safe
// for use by several goroutines.
type Recording struct {
	Header Header // of its first part
	Torn   bool   // its last line is not whole, as a crash leaves it
	parts  []part
	index  index
}

// part is one file of a recording.
type part struct {
	name   string
	file   io.ReaderAt
	size   int64
	close  func() error
	header Header
	body   int64 // offset of the line after the header
}

// Open opens a recording. Its older files (FILE.1, FILE.2, …) belong to it when
// they lie beside it; a newest one that was just begun, when the disk was full or
// the machine went down, may be missing. Errors are Faults.
func Open(path string) (*Recording, error) {
	r := &Recording{}
	var unbegun error
	for n := 0; ; n++ {
		p, err := openPart(numbered(path, n))
		if n == 0 && (errors.Is(err, errUnbegun) || errors.Is(err, fs.ErrNotExist)) {
			unbegun, r.Torn = err, errors.Is(err, errUnbegun)
			continue
		}
		if n == 1 && unbegun != nil && err != nil { // it has no older ones
			return nil, unbegun
		}
		if n > 0 && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			_ = r.Close()
			return nil, err
		}
		if len(r.parts) > 0 && p.header.ID != r.parts[0].header.ID {
			_ = p.close()
			break
		}
		r.parts = append(r.parts, p)
	}
	slices.Reverse(r.parts)
	return r, r.prepare()
}

// errUnbegun is in the chain of what a file that ends before its first line does
// makes of itself.
var errUnbegun = errors.New("nothing was recorded")

// prepare makes the index.
func (r *Recording) prepare() error {
	for n := range r.parts {
		r.index.read(n, &r.parts[n])
	}
	r.Header = r.parts[0].header
	newest := &r.parts[len(r.parts)-1]
	last := make([]byte, 1)
	if _, err := newest.file.ReadAt(last, newest.size-1); err == nil && last[0] != '\n' {
		r.Torn = true
	}
	slices.SortStableFunc(r.index.points, func(a, b place) int { return compare(a.t, b.t) })
	slices.SortStableFunc(r.index.entries, func(a, b place) int { return compare(a.t, b.t) })
	if len(r.index.points) == 0 || r.index.last == 0 {
		damaged := slices.ContainsFunc(r.parts, func(p part) bool { return p.damaged() })
		_ = r.Close()
		if damaged {
			return unreadable(newest.name, "is damaged: it holds no reading that is whole", "copy it from where it was made again")
		}
		return unreadable(newest.name, "holds no reading", "it ended before the first one came; record for longer")
	}
	return nil
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Close closes its files.
func (r *Recording) Close() error {
	var all []error
	for _, p := range r.parts {
		all = append(all, p.close())
	}
	r.parts = nil
	return errors.Join(all...)
}

func openPart(name string) (part, error) {
	f, err := plainfile.Open(name)
	if err != nil {
		hint := "name the file that shardpilot record wrote; it is read forth and back, as no pipe can be"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "shardpilot record FILE makes one"
		}
		return part{}, &control.Fault{Kind: control.FaultUsage, What: "the recording cannot be opened: " + err.Error(), Hint: hint, Err: err}
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return part{}, unreadable(name, "cannot be read: "+err.Error(), "copy it from where it was made again")
	}
	p := part{name: name, file: f, size: info.Size(), close: f.Close}
	if err := p.readHeader(); err != nil {
		_ = f.Close()
		return part{}, err
	}
	return p, nil
}

func unreadable(name, what, hint string) error {
	return &control.Fault{Kind: control.FaultFailed, What: name + " " + what, Hint: hint}
}

func unbegun(name, what, hint string) error {
	return &control.Fault{Kind: control.FaultFailed, What: name + " " + what + ": " + errUnbegun.Error(), Hint: hint, Err: errUnbegun}
}

// readHeader reads the first line, and says what it is instead when it is none.
func (p *part) readHeader() error {
	if p.size == 0 {
		return unbegun(p.name, "is empty", "look for the messages of the process that should have")
	}
	line := lineAt(p.file, 0, min(p.size, 1<<20), nil)
	begin := make([]byte, 4)
	n, err := p.file.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadable(p.name, "cannot be read: "+err.Error(), "copy it from where it was made again")
	}
	switch begin = begin[:n]; {
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		return unreadable(p.name, "is compressed with gzip", "unpack it first: gzip -dk, and give the file that comes out")
	case bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(begin, []byte("BZh")), bytes.HasPrefix(begin, []byte{0xfd, '7', 'z', 'X'}):
		return unreadable(p.name, "is compressed", "unpack it first")
	case bytes.HasPrefix(begin, []byte("{\"sh")[:len(begin)]) && line == nil:
		return unbegun(p.name, "ends within its first line", "record again")
	}
	p.header = Header{Policy: control.DefaultPolicy()}
	if err := json.Unmarshal(line, &p.header); p.header.Shardpilot != magic {
		return &control.Fault{Kind: control.FaultFailed, What: p.name + " is no recording of shardpilot",
			Hint: "name the file that shardpilot record wrote", Err: err}
	} else if p.header.Format > Format {
		return unreadable(p.name, fmt.Sprintf("is in format %d of shardpilot %s, this one (format %d) is older", p.header.Format, p.header.Program, Format),
			"read it with that version or a newer one")
	} else if err != nil || p.header.Format < 1 {
		return unreadable(p.name, "has a damaged first line", "copy it from where it was made again")
	}
	p.body = int64(len(line)) + 1
	return nil
}

// damaged says of a part without a reading whether it holds what is no line of a
// recording. A last line that a crash tore is none such.
func (p *part) damaged() bool {
	l := newLines(p.file, p.body, p.size)
	for {
		line, at, err := l.next()
		if err != nil {
			begin := make([]byte, 2)
			n, _ := p.file.ReadAt(begin, at)
			return n > 0 && begin[0] != '[' && string(begin[:n]) != `{"`[:n]
		}
		if !json.Valid(line) || line[0] == '[' { // what a reading's line held was none
			return true
		}
	}
}

// Span is when the recording begins and ends, by the clock that Seek goes by:
// that of the machine that recorded, made to rise.
func (r *Recording) Span() (from, to time.Time) {
	return moment(r.index.points[0].t), moment(max(r.index.last, r.index.points[len(r.index.points)-1].t))
}

func moment(t int64) time.Time { return time.Unix(0, t).UTC() }

// Marks are when something happened to a count or a pending step, or somebody
// did something, in order.
func (r *Recording) Marks() []time.Time {
	var out []time.Time
	for _, e := range r.index.entries {
		if at := moment(e.t); e.mark && (len(out) == 0 || at.After(out[len(out)-1])) {
			out = append(out, at)
		}
	}
	return out
}

// Before is the part of the decision log that its first file begins with.
func (r *Recording) Before() []control.LogEntry {
	p := &r.parts[0]
	line := lineAt(p.file, p.body, p.size, nil)
	var b struct{ Before []control.LogEntry }
	if !bytes.HasPrefix(line, []byte(wordBefore)) || json.Unmarshal(line, &b) != nil {
		return nil
	}
	return b.Before
}
