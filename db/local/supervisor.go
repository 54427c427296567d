package local

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed supervise.sh
var superviseScript string

// supervisor is the shell that owns the processes of one server. It outlives us
// by as long as it needs to clear up: when our end of its standard input closes,
// by Stop or because we died, it stops PostgreSQL and removes the folder.
type supervisor struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when the shell is through

	said []byte // the beginning of a line; only Write, which one goroutine calls

	mu    sync.Mutex
	ended chan int      // one exit code of the command last begun; replaced by begin
	still chan struct{} // closed by "stopped"; replaced by halt
}

// supervise starts the shell. lock is a locked file: shell and PostgreSQL inherit
// it, so the lock is held exactly as long as one of them lives.
func supervise(b Binaries, who account, folder string, keep bool, lock *os.File) (*supervisor, error) {
	fate := "remove"
	if keep {
		fate = "keep"
	}
	cmd := exec.Command("/bin/sh", "-c", superviseScript, "shardpilot-postgres",
		folder, fate, b.Dir+"/initdb", b.Dir+"/postgres")
	cmd.Dir = "/"
	cmd.Env = environment(b)
	cmd.SysProcAttr = who.attributes()
	cmd.ExtraFiles = []*os.File{lock}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s := &supervisor{cmd: cmd, in: in, done: make(chan struct{})}
	cmd.Stdout = s
	// A shell that is killed leaves its PostgreSQL behind with our pipe in hand;
	// that must not keep Wait from telling us.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start /bin/sh: %w", err), in.Close())
	}
	go s.await()
	return s, nil
}

// await closes done when the shell is through.
func (s *supervisor) await() {
	defer close(s.done)
	// The exit code says nothing: what matters was in the words.
	_ = s.cmd.Wait()
}

// Write takes what the shell says, and makes lines of it.
func (s *supervisor) Write(p []byte) (int, error) {
	s.said = append(s.said, p...)
	for {
		line, rest, whole := bytes.Cut(s.said, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		s.said = rest
		s.hear(string(line))
	}
}

// hear turns one line of the shell's into a word on a channel.
func (s *supervisor) hear(line string) {
	word, rest, _ := strings.Cut(line, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case word == "ended" && s.ended != nil:
		code, err := strconv.Atoi(rest)
		if err != nil {
			code = -1
		}
		s.ended <- code // has room: one command is begun at a time
		s.ended = nil
	case word == "stopped" && s.still != nil:
		close(s.still)
		s.still = nil
	}
}

var errGone = errors.New("the process that watches over the private PostgreSQL is gone")

// begin runs init or start. The channel gets the exit code when that is over.
func (s *supervisor) begin(word string) (<-chan int, error) {
	ended := make(chan int, 1)
	s.mu.Lock()
	s.ended = ended
	s.mu.Unlock()
	if _, err := io.WriteString(s.in, word+"\n"); err != nil {
		return nil, errors.Join(errGone, err)
	}
	return ended, nil
}

// halt stops what runs, by stop or crash, and returns when nothing runs any more.
func (s *supervisor) halt(ctx context.Context, word string) error {
	still := make(chan struct{})
	s.mu.Lock()
	s.still = still
	s.mu.Unlock()
	if _, err := io.WriteString(s.in, word+"\n"); err != nil {
		return errors.Join(errGone, err)
	}
	select {
	case <-still:
		return nil
	case <-s.done:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets go of the shell and waits until it has cleared up.
func (s *supervisor) leave(limit time.Duration) error {
	_ = s.in.Close() // twice is harmless
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("PostgreSQL did not stop within %v", limit)
	}
}
