package record

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
)

// opening writes a file and opens it.
func opening(t testing.TB, content []byte) (*Recording, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.rec")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return r, err
}

func content(t testing.TB, ticks int) []byte {
	t.Helper()
	path, _ := recorded(t, options(), newStage(3, 2), ticks)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsNoRecordingIsToldInASentence(t *testing.T) {
	t.Parallel()
	whole := content(t, 5)
	header, _, _ := bytes.Cut(whole, []byte{'\n'})
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"empty":         {nil, "is empty"},
		"garbage":       {bytes.Repeat([]byte{0, 7, 255, '\n'}, 1000), "no recording of shardpilot"},
		"text":          {[]byte("hello\n"), "no recording of shardpilot"},
		"other JSON":    {[]byte("{\"type\":\"reading\"}\n"), "no recording of shardpilot"},
		"null":          {[]byte("null\n"), "no recording of shardpilot"},
		"gzip":          {append([]byte{0x1f, 0x8b, 8, 0}, whole...), "gzip -dk"},
		"zstd":          {[]byte{0x28, 0xb5, 0x2f, 0xfd, 1, 2}, "compressed"},
		"one byte":      {[]byte("{"), "within its first line"},
		"half a header": {header[:40], "within its first line"},
		"header alone":  {append(bytes.Clone(header), '\n'), "record for longer"},
		"garbage line":  {slices.Concat(header, []byte{'\n'}, bytes.Repeat([]byte{'x'}, 3<<20), []byte{'\n'}), "is damaged"},
		"garbage tail":  {slices.Concat(header, []byte{'\n'}, make([]byte, 3<<20)), "is damaged"},
		"other JSON on": {slices.Concat(header, []byte("\n[\"a\"]\n")), "is damaged"},
		"future": {bytes.Replace(whole, []byte(`"format":1,"program":"test"`), []byte(`"format":7,"program":"v9.1"`), 1),
			"format 7 of shardpilot v9.1"},
		"format 0":       {bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":0`), 1), "damaged first line"},
		"damaged header": {bytes.Replace(whole, []byte(`"part":1`), []byte(`"part":"x"`), 1), "damaged first line"},
	} {
		_, err := opening(t, c.content)
		var f *control.Fault
		if !errors.As(err, &f) || !strings.Contains(err.Error(), c.says) || f.Hint == "" || control.ExitCode(err) != 1 {
			t.Errorf("%s: %v (exit code %d), want a sentence with %q, a next step, and 1", name, err, control.ExitCode(err), c.says)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "nothing")); control.ExitCode(err) != 2 || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan error, 1)
	go func() {
		_, err := Open(pipe)
		said <- err
	}()
	select {
	case err := <-said:
		if control.ExitCode(err) != 2 || !strings.Contains(err.Error(), "pipe is no ordinary file\n") {
			t.Errorf("a named pipe: %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("a named pipe is waited for")
	}
	if _, err := Open(t.TempDir()); control.ExitCode(err) != 2 || !strings.Contains(err.Error(), "no ordinary file") {
		t.Errorf("a directory: %v", err)
	}
}

// However a crash tears it, a recording opens and gives what was whole.
func TestATornRecordingGivesWhatIsWhole(t *testing.T) {
	t.Parallel()
	whole := content(t, 130)
	rng := rand.New(rand.NewPCG(7, 7))
	first := bytes.Index(whole, []byte("\n[")) // the end of the first tick comes later
	for range 60 {
		cut := first + rng.IntN(len(whole)-first)
		r, err := opening(t, whole[:cut])
		if err != nil {
			if !strings.Contains(err.Error(), "record for longer") || bytes.Contains(whole[first+1:cut], []byte{'\n'}) {
				t.Errorf("torn at %d of %d: %v", cut, len(whole), err)
			}
			continue
		}
		want := 0
		for line := range bytes.Lines(whole[:cut]) {
			if line[len(line)-1] == '\n' && (line[0] == '[' || bytes.HasPrefix(line, []byte(wordFail))) {
				want++
			}
		}
		p := r.Play()
		if got := len(played(t, p)); got != want || p.Bad() != 0 {
			t.Errorf("torn at %d: %d events, %d bad stretches, want %d events", cut, got, p.Bad(), want)
		}
		if torn := whole[cut-1] != '\n'; r.Torn != torn {
			t.Errorf("torn at %d, and it says %v", cut, r.Torn)
		}
		_, to := r.Span()
		if _, _, err := r.Seek(to, func(*control.Reading) {}); err != nil {
			t.Errorf("torn at %d: %v", cut, err)
		}
	}
}

// The disk was full, or the machine went down, just when a file was begun.
func TestANewestFileWithoutALineHidesNoOlderOnes(t *testing.T) {
	t.Parallel()
	whole := content(t, 70)
	for name, newest := range map[string][]byte{"missing": nil, "empty": {}, "torn": whole[:50]} {
		path := filepath.Join(t.TempDir(), "some.rec")
		if err := os.WriteFile(path+".1", whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if newest != nil {
			if err := os.WriteFile(path, newest, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(played(t, r.Play())); n != 70 {
			t.Errorf("%s: %d events of 70", name, n)
		}
		if r.Torn != (newest != nil) {
			t.Errorf("%s: torn %v", name, r.Torn)
		}
		_ = r.Close()
	}
}

// oneLine is a file of so many letters and the end of their line.
type oneLine int64

func (l oneLine) ReadAt(b []byte, at int64) (int, error) {
	for i := range b {
		if b[i] = 'x'; at+int64(i) == int64(l) {
			b[i] = '\n'
		}
	}
	return len(b), nil
}

// A line of more than 64 MiB is none of ours, and what it swept away is missed.
func TestALineThatIsTooLongIsDamage(t *testing.T) {
	t.Parallel()
	line, _, err := newLines(oneLine(maxLine+1), 0, maxLine+2).next()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := newDecoder().line(line); err == nil {
		t.Error("a line that is too long passes for an empty one")
	}
	if lineAt(oneLine(maxLine+1), 0, maxLine+2, nil) != nil || len(lineAt(oneLine(maxLine-1), 0, maxLine, nil)) != maxLine-1 {
		t.Error("where a line is looked for, another length is too long")
	}
}

// A hole costs what lies between it and the next point, and the index is found
// without the chain.
func TestAHoleInARecordingIsStridden(t *testing.T) {
	t.Parallel()
	whole := content(t, 400)
	middle := len(whole) / 2
	holed := bytes.Clone(whole)
	copy(holed[middle:], bytes.Repeat([]byte("garbage\x00\n"), 50))
	cut := append(bytes.Clone(whole[:middle]), whole[middle+777:]...)
	for name, b := range map[string][]byte{"overwritten": holed, "cut out": cut} {
		r, err := opening(t, b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := r.Play()
		if n := len(played(t, p)); n < 330 || n >= 400 || name == "overwritten" && p.Bad() == 0 {
			t.Errorf("%s: %d events of 400, %d bad stretches", name, n, p.Bad())
		} else if lost := int(p.Lost().Seconds()); p.Bad() > 0 && (lost < 400-n || lost > 400-n+2*p.Bad()) {
			t.Errorf("%s: %d of 400 events, a second apart, and %d s are said to be lost", name, n, lost)
		}
		from, to := r.Span()
		if to.Sub(from) != 399*time.Second {
			t.Errorf("%s: it spans %v", name, to.Sub(from))
		}
		tape, gaps := r.Tape(), time.Duration(0)
		for err := error(nil); err == nil; {
			_, _, err = tape.Next()
			gaps += tape.Gap()
		}
		if gaps != p.Lost() {
			t.Errorf("%s: gaps of %v, and %v are lost", name, gaps, p.Lost())
		}
		// Where a jump lands before what cannot be read, what follows says so.
		told := 0
		for at := 180; at < 260; at += 5 {
			_, now, err := tape.Seek(from.Add(time.Duration(at)*time.Second), func(*control.Reading) {})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, next, err := tape.Next()
			if hole := next.Sub(now); err != nil || hole > 5*time.Second && p.Bad() > 0 && tape.Gap() != hole || hole <= time.Second && tape.Gap() != 0 {
				t.Errorf("%s: from %v to %v, and a gap of %v is told, %v", name, now, next, tape.Gap(), err)
			}
			if tape.Gap() > 0 {
				told++
			}
		}
		if p.Bad() > 0 && told == 0 {
			t.Errorf("%s: no jump into the hole was told of it", name)
		}
		if p, _, err := r.Seek(to.Add(-10*time.Second), func(*control.Reading) {}); err != nil || !p.At().Equal(to.Add(-10*time.Second)) {
			t.Errorf("%s: seeking failed: %v", name, err)
		}
	}
}

// A digit may be another and the line JSON as before. Where it then speaks of a
// name that nobody told, that shows.
func TestALineThatNamesWhatNobodyToldIsDamage(t *testing.T) {
	t.Parallel()
	s := newStage(1, 1)
	e := newEncoder()
	var ev control.Event
	for ev.Snapshot == nil || ev.Snapshot.Readings[0].Holder == nil {
		ev = s.event()
	}
	var lines [][]byte
	for line := range bytes.Lines(e.event(e.point(nil, &point{T: 1}), &ev, 1)) {
		lines = append(lines, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	told := func() *decoder {
		d := newDecoder()
		for _, line := range lines[:len(lines)-1] {
			if _, _, err := d.line(line); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		return d
	}
	tick := lines[len(lines)-1]
	if done, _, err := told().line(tick); !done || err != nil {
		t.Fatalf("%s: %v", tick, err)
	}
	d := told()
	d.names = d.names[:1] // the queue's own
	if _, _, err := d.line(tick); err == nil {
		t.Error("a holder without a name passes for one")
	}
	for _, line := range []string{`{"gone":[99]}`, `{"more":{"still":[99]}}`, `{"more":{"decisions":[{"q":99}]}}`} {
		if _, _, err := told().line([]byte(line)); err == nil {
			t.Errorf("%s is not missed", line)
		}
	}
}

func TestLaterVersionsMayAddLinesAndFields(t *testing.T) {
	t.Parallel()
	whole := content(t, 70)
	more := bytes.ReplaceAll(whole, []byte("\n["), []byte("\n{\"novelty\":{\"a\":[1]}}\n["))
	more = bytes.ReplaceAll(more, []byte(`{"more":{`), []byte(`{"more":{"novelty":1,`))
	r, err := opening(t, more)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Play()
	if n := len(played(t, p)); n != 70 || p.Bad() != 0 {
		t.Errorf("%d events, %d bad", n, p.Bad())
	}
}

func FuzzReadingNeverPanics(f *testing.F) {
	whole := content(f, 65)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	for _, line := range bytes.SplitAfter(whole, []byte{'\n'})[:12] {
		f.Add(append(bytes.Clone(whole[:2000]), line...))
	}
	header, _, _ := bytes.Cut(whole, []byte{'\n'})
	for _, line := range []string{`[1,2,3,4,5,6,7,8,[9]]`, `[1,1,1,0,null,null,null,null,[0,null,1,2,3,4,5,6,7,8,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,70000,1,1,99999]]`,
		`{"point":{"n":1,"t":1,"prev":-5,"log":[[-1,0,0]]}}`, `{"names":{"from":0,"list":["a"]}}`, `{"gone":[-1,99999999]}`, `{"more":{"decisions":[{"q":-1}]}}`,
		`{"past":[[0,0],[]]}`, `{"entry":{"at":"x"}}`, `{"fail":{"t":9223372036854775807}}`, `{"more":null}`, `[`, `[[`, `[9223372036854775808,`} {
		f.Add(append(append(bytes.Clone(header), '\n'), []byte(line+"\n")...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := opening(t, b)
		if err != nil {
			return
		}
		defer func() { _ = r.Close() }()
		from, to := r.Span()
		r.Marks()
		for _, at := range []time.Time{from.Add(-time.Second), from.Add(to.Sub(from) / 2), to} {
			if _, _, err := r.Seek(at, func(*control.Reading) {}); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		for p := r.Play(); ; {
			if _, err := p.Next(); err != nil {
				break
			}
		}
	})
}
