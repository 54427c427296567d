package local

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestNothingIsLeftWhenTheParentIsKilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     string // the line of the child after which it is killed
		signal syscall.Signal
	}{
		{"SIGKILL while it runs", "ready ", syscall.SIGKILL},
		{"SIGTERM while it runs", "ready ", syscall.SIGTERM},
		{"SIGKILL during initdb", "making a database cluster in ", syscall.SIGKILL},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := childCommand(t)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines, dir := bufio.NewScanner(out), ""
			for dir == "" && lines.Scan() {
				if rest, ok := strings.CutPrefix(lines.Text(), c.at); ok {
					dir = rest
				}
			}
			if dir == "" {
				_ = cmd.Process.Kill()
				t.Fatalf("the child never said %q: %v", c.at, cmd.Wait())
			}
			w := witness(t, dir)
			if !alive(w) {
				t.Error("nothing runs before the kill")
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the child survived")
			}
			gone(t, dir, w)
		})
	}
}

func TestStopLeavesNothingAndMayBeCalledAgain(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := start(t, Options{})
	w := witness(t, s.Dir)
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if alive(w) || exists(s.Dir) {
			t.Fatalf("processes left: %v, folder left: %v", alive(w), exists(s.Dir))
		}
	}
	if s.PID() != 0 {
		t.Error("a stopped server has a process")
	}
	for _, again := range []func(context.Context) error{s.StartAgain, s.StopServer, s.Crash, s.Restart} {
		if err := again(context.Background()); !errors.Is(err, errStopped) {
			t.Errorf("after Stop: %v", err)
		}
	}
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, late := range []time.Duration{0, 50 * time.Millisecond, 400 * time.Millisecond, 900 * time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		var dir string
		s, err := Start(ctx, Options{Log: func(line string) {
			if rest, ok := strings.CutPrefix(line, "making a database cluster in "); ok {
				dir = rest
				time.AfterFunc(late, cancel)
			}
		}})
		cancel()
		if err == nil { // the machine was faster
			err = s.Stop()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %v: %v", late, err)
			err = nil
		} else {
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
		if dir == "" || exists(dir) {
			t.Errorf("cancelled after %v: %q is left", late, dir)
		}
	}
}

func TestStopClearsUpAfterASupervisorThatWasKilled(t *testing.T) {
	for _, keep := range []bool{false, true} {
		opts := Options{}
		if keep {
			opts.Keep = openDir(t) + "/kept"
		}
		s := start(t, opts)
		w := witness(t, s.Dir)
		if err := s.super.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the death of the supervisor is noticed", func() bool {
			select {
			case <-s.super.done:
				return true
			default:
				return false
			}
		})
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if alive(w) || exists(s.Dir) != keep {
			t.Errorf("keep %v: processes left: %v, folder there: %v", keep, alive(w), exists(s.Dir))
		}
	}
}

func TestCtrlCInTheTerminalDoesNotReachTheServer(t *testing.T) {
	s := start(t, Options{})
	ours, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]int{"supervisor": s.super.cmd.Process.Pid, "postmaster": s.PID()} {
		theirs, err := unix.Getsid(pid)
		if err != nil {
			t.Fatal(err)
		}
		if theirs == ours {
			t.Errorf("the %s is in the terminal's session", name)
		}
	}
}
