package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that is taken for one, in bytes.
const maxLine = 64 << 20

// lines reads whole lines one after the other and knows where each begins.
type lines struct {
	r    *bufio.Reader
	at   int64 // offset of the next line
	long []byte
}

func newLines(f io.ReaderAt, from, size int64) *lines {
	return &lines{r: bufio.NewReaderSize(io.NewSectionReader(f, from, size-from), 256<<10), at: from}
}

// next is the next line without its end, valid until the call after it, and
// where it begins. A last line that is torn is io.EOF, and so is the end. One
// that is too long is given as one that cannot be read.
func (l *lines) next() (line []byte, at int64, err error) {
	at = l.at
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.at += int64(len(part))
		switch {
		case err == nil && l.at-at > maxLine:
			return []byte{0}, at, nil // no line of ours, whoever reads it
		case err == nil && len(l.long) == 0:
			return bytes.TrimSuffix(part[:len(part)-1], []byte{'\r'}), at, nil
		case err == nil:
			l.long = append(l.long, part...)
			return bytes.TrimSuffix(l.long[:len(l.long)-1], []byte{'\r'}), at, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if l.at-at <= maxLine {
				l.long = append(l.long, part...)
			}
		default:
			return nil, at, err
		}
	}
}

// lineAt is the line that begins at an offset, into buf; nil when there is no
// whole one.
func lineAt(f io.ReaderAt, at, size int64, buf []byte) []byte {
	have, want := 0, 16<<10
	for at >= 0 && at < size && have < maxLine {
		if cap(buf) < want {
			buf = append(make([]byte, 0, want), buf[:have]...)
		}
		buf = buf[:min(int64(want), size-at)]
		n, _ := f.ReadAt(buf[have:], at+int64(have)) // what cannot be read is not there
		if i := bytes.IndexByte(buf[have:have+n], '\n'); i >= 0 {
			return buf[:have+i]
		}
		if have += n; n == 0 || int64(have) >= size-at {
			return nil
		}
		want = min(4*want, maxLine)
	}
	return nil
}

// lastIndex is where the last line begins that begins with word, -1 when there
// is none; the first line of a file is not looked at.
func lastIndex(f io.ReaderAt, size int64, word string) int64 {
	needle := []byte("\n" + word)
	const step = 1 << 20
	buf := make([]byte, step+len(needle))
	for end := size; end > 0; end -= step {
		from := max(end-step, 0)
		part := buf[:min(end+int64(len(needle)), size)-from]
		n, err := f.ReadAt(part, from)
		if i := bytes.LastIndex(part[:n], needle); i >= 0 {
			return from + int64(i) + 1
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return -1
		}
	}
	return -1
}
