package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shardpilot/control"
)

func TestARecordingIsRotatedAndBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "long.rec")
	o := options()
	o.Limits = Limits{Bytes: 400 << 10, Files: 4}
	r := NewRecorder(o)
	if err := r.Start(path); err != nil {
		t.Fatal(err)
	}
	s := newStage(20, 10)
	for range 600 {
		if err := r.Take(s.event()); err != nil {
			t.Fatal(err)
		}
		if all := sizes(t, dir); all > o.Limits.Bytes {
			t.Fatalf("%d bytes lie there, %d are allowed", all, o.Limits.Bytes)
		}
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(path + "*"); len(names) != 4 {
		t.Errorf("files %v, want 4", names)
	}
	rec := opened(t, path)
	if rec.Header.Part < 2 || len(rec.parts) != 4 {
		t.Errorf("%d parts from part %d on", len(rec.parts), rec.Header.Part)
	}
	p := rec.Play()
	events := played(t, p)
	if len(events) < 40 || p.Bad() != 0 || !events[len(events)-1].At.Equal(s.at().Add(50e6)) {
		t.Errorf("%d events up to %v, %d bad stretches; the newest are kept, up to %v", len(events), events[len(events)-1].At, p.Bad(), s.at())
	}
	for i := 1; i < len(events); i++ {
		if d := events[i].At.Sub(events[i-1].At); d != 1e9 {
			t.Fatalf("between two events lie %v", d)
		}
	}
	if len(rec.Before()) == 0 {
		t.Error("the oldest file that is left does not say what the log held before it")
	}
}

func sizes(t *testing.T, dir string) (sum int64) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func TestARecordingOverwritesNothing(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"a.rec", "a.rec.1", "a.rec.3"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, there), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := NewRecorder(options()).Start(filepath.Join(dir, "a.rec"))
		if control.ExitCode(err) != 2 || !strings.Contains(err.Error(), there) {
			t.Errorf("with %s there: %v", there, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, there)); err != nil || string(b) != "mine" {
			t.Errorf("%s holds %q, %v", there, b, err)
		}
	}
	if err := NewRecorder(options()).Start(filepath.Join(t.TempDir(), "no", "such", "a.rec")); control.ExitCode(err) != 1 {
		t.Errorf("in a directory that is not there: %v", err)
	}
}

// fullDisk takes so many bytes.
type fullDisk struct {
	left      int
	truncated int64
}

func (f *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}
func (f *fullDisk) Sync() error            { return nil }
func (f *fullDisk) Truncate(n int64) error { f.truncated = n; return nil }
func (f *fullDisk) Close() error           { return nil }

func TestAFullDiskEndsTheRecordingAndNothingElse(t *testing.T) {
	t.Parallel()
	r := NewRecorder(options())
	if err := r.Start(filepath.Join(t.TempDir(), "a.rec")); err != nil {
		t.Fatal(err)
	}
	disk := &fullDisk{left: 20_000}
	_ = r.w.out.Close()
	r.w.out = disk
	s := newStage(3, 3)
	events, told := make(chan control.Event), make(chan error, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(t.Context(), events, func(err error) { told <- err })
	}()
	for range 300 {
		events <- s.event() // it goes on taking them
	}
	close(events)
	<-done
	close(told)
	err := <-told
	var f *control.Fault
	if !errors.As(err, &f) || !strings.Contains(f.What, "no space left") || f.Hint == "" {
		t.Errorf("it was told %v", err)
	}
	if err, more := <-told; more {
		t.Errorf("it was told again: %v", err)
	}
	if st := r.Status(); st.On || st.Err == nil || disk.truncated != st.Bytes {
		t.Errorf("status %+v, truncated to %d", st, disk.truncated)
	}
	if err := r.Start(filepath.Join(t.TempDir(), "b.rec")); err != nil {
		t.Errorf("another recording cannot be begun: %v", err)
	}
}
