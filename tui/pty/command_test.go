package pty

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take on a busy machine.
const patience = 2 * time.Minute

// soon bounds what is promised within seconds: on a busy machine it takes ten
// times that, and where it is broken it comes after many minutes or never.
const soon = time.Minute

// result is what a command without a terminal came to.
type result struct {
	out, err string
	code     int
}

// both is everything it printed.
func (r result) both() string { return r.out + r.err }

// run runs the program without a terminal until it ends by itself.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, nil, args...)
}

func runWith(t *testing.T, env []string, args ...string) result {
	t.Helper()
	const long = 2 * patience // some of them play a load or look for a while
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	prepare(t, cmd, env)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("shardpilot %q still ran after %v:\n%s%s", args, long, &out, &errs)
	}
	return result{out.String(), errs.String(), exitCode(err)}
}

// prepare gives a command a clean environment; entries of env go over it.
func prepare(t *testing.T, cmd *exec.Cmd, env []string) {
	t.Helper()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8",
		"SHARDPILOT_PG_BIN=" + os.Getenv("SHARDPILOT_PG_BIN"), "TMPDIR=" + os.TempDir()}, env...)
	cmd.Dir = root(t)
}

func root(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(wd))
}

// background is the program without a terminal while it runs.
type background struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error

	mu       sync.Mutex
	out, log bytes.Buffer
}

// launch starts the program without a terminal.
func launch(t *testing.T, env []string, args ...string) *background {
	t.Helper()
	b := &background{cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	prepare(t, b.cmd, env)
	b.cmd.Stdout, b.cmd.Stderr = locked{b, &b.out}, locked{b, &b.log}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		b.err = b.cmd.Wait()
		close(b.exited)
	}()
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill()
		<-b.exited
	})
	return b
}

type locked struct {
	b *background
	w *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.w.Write(p)
}

func (b *background) written() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// lines are the whole lines of standard output so far.
func (b *background) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	whole, _, _ := cutLast(b.out.String(), "\n")
	if whole == "" {
		return nil
	}
	return strings.Split(whole, "\n")
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// objects are the lines as JSON; a line that is none fails the test.
func (b *background) objects(t *testing.T) []object {
	t.Helper()
	return objects(t, b.lines())
}

// await waits until done says so, or the program ends.
func (b *background) await(t *testing.T, what string, within time.Duration, done func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !done(); {
		select {
		case <-b.exited:
			if !done() {
				t.Fatalf("the program ended (%v) before %s\n%s\n%s", b.err, what, strings.Join(tail(b.lines(), 8), "\n"), b.written())
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s\n%s\n%s", within, what, strings.Join(tail(b.lines(), 8), "\n"), b.written())
		}
	}
}

func (b *background) ended(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-b.exited:
	case <-time.After(within):
		t.Fatalf("still running after %s", within)
	}
	return exitCode(b.err)
}

func tail[T any](all []T, n int) []T { return all[max(len(all)-n, 0):] }

// object is one line of a stream.
type object map[string]any

func (o object) text(field string) string    { s, _ := o[field].(string); return s }
func (o object) number(field string) float64 { f, _ := o[field].(float64); return f }
func (o object) has(field string) bool       { _, ok := o[field]; return ok }

func objects(t *testing.T, lines []string) []object {
	t.Helper()
	var all []object
	for _, line := range lines {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("not JSON: %q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// pick are the objects of a type about a queue.
func pick(all []object, kind, queue string) []object {
	var out []object
	for _, o := range all {
		if o.text("type") == kind && o.text("queue") == queue {
			out = append(out, o)
		}
	}
	return out
}

// until waits for a condition.
func until(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
