package pty

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var clusterIn = regexp.MustCompile(`making a database cluster in (\S+)`)

// folderOf is where a demo that says so keeps its data.
func folderOf(t *testing.T, said string) string {
	t.Helper()
	m := clusterIn.FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("the demo did not say where its data is:\n%s", said)
	}
	return m[1]
}

// remains lists what is left of a demo: its folder, and every process that has
// the folder in its command line or works in it (as PostgreSQL's do).
func remains(t *testing.T, folder string) []string {
	t.Helper()
	var left []string
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		left = append(left, folder)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes { // any of them may end while we look
		words, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		if strings.Contains(string(words), folder) || strings.HasPrefix(cwd, folder) {
			left = append(left, filepath.Base(p)+" "+strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return left
}

// gone waits until nothing is left of a demo.
func gone(t *testing.T, folder string, within time.Duration) {
	t.Helper()
	var left []string
	for end := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		if left = remains(t, folder); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left %v after the end:\n%s", within, strings.Join(left, "\n"))
		}
	}
}

// However a demo on a terminal ends, nothing of it stays.
func TestDemoLeavesNothingBehind(t *testing.T) {
	const screen = `\[Overview\]`
	idle := []string{"demo", "--shape", "idle"}
	for _, c := range []struct {
		name string
		at   string // what the screen shows when it ends
		end  func(*terminal)
		code int
		lost bool // the terminal is gone, or the program could not put it back
	}{
		{"q", screen, func(tm *terminal) { tm.keys("q") }, 0, false},
		{"ctrl-c", screen, func(tm *terminal) { tm.keys("\x03") }, 0, false},
		{"SIGINT", screen, func(tm *terminal) { tm.signal(syscall.SIGINT) }, 128 + 2, false},
		{"SIGTERM", screen, func(tm *terminal) { tm.signal(syscall.SIGTERM) }, 128 + 15, false},
		{"SIGHUP", screen, func(tm *terminal) { tm.signal(syscall.SIGHUP) }, 128 + 1, false},
		{"SIGKILL", screen, func(tm *terminal) { tm.signal(syscall.SIGKILL) }, 128 + 9, true},
		{"the terminal closes", screen, (*terminal).hangUp, 128 + 1, true},
		{"ctrl-c before there is a screen", `takes connections on`, func(tm *terminal) { tm.keys("\x03") }, 128 + 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tm := open(t, 100, 30, nil, idle...)
			tm.see(c.at, patience)
			folder := folderOf(t, tm.written())
			if len(remains(t, folder)) < 3 {
				t.Fatalf("no server to be seen in %s: %v", folder, remains(t, folder))
			}
			c.end(tm)
			code, want := tm.ended(patience), c.code
			if c.at != screen && strings.Contains(tm.written(), "\x1b[?1049h") {
				want = code // the screen was quicker than we, and this is for another case
			}
			if code != want {
				t.Errorf("exit code %d, want %d; last words:\n%s", code, want, tm.screen())
			}
			if !c.lost {
				tm.restored()
			}
			gone(t, folder, patience)
		})
	}
}

// A SIGHUP that is ignored (nohup) leaves only the broken terminal to notice.
func TestDashboardUnderNohupEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", `trap '' HUP; exec "$0" demo --shape idle`, binary)
	tm := openCommand(t, 100, 30, nil, cmd)
	tm.see(`\[Overview\]`, patience)
	folder := folderOf(t, tm.written())
	tm.hangUp()
	started := time.Now()
	code := tm.ended(patience)
	gone(t, folder, patience)
	// Two seconds are promised; a loaded machine may take some to stop a server.
	if took := time.Since(started); took > soon {
		t.Errorf("gone %v after its terminal", took)
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// Nobody reads on: `shardpilot demo | head -1`.
func TestHeadlessDemoEndsWithItsPipe(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", `"$0" demo --headless --json --shape idle 2>"$1" | head -n 1`, binary, filepath.Join(t.TempDir(), "said"))
	prepare(t, cmd, nil)
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("the pipe gave %q (%v)", out, err)
	}
	said, err := os.ReadFile(cmd.Args[len(cmd.Args)-1])
	if err != nil {
		t.Fatal(err)
	}
	gone(t, folderOf(t, string(said)), patience)
	if strings.Contains(string(said), "shardpilot:") {
		t.Errorf("a reader that has had enough is no error: %s", said)
	}
}

func TestHeadlessDemoLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	b := launch(t, nil, "demo", "--headless", "--shape", "idle")
	b.await(t, "lines about the queue", patience, func() bool { return len(b.lines()) > 0 })
	folder := folderOf(t, b.written())
	reachable(t, b.written())
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(t, patience); code != 128+15 {
		t.Errorf("exit code %d, want 143:\n%s", code, b.written())
	}
	gone(t, folder, patience)
	last := tail(b.lines(), 1)
	if len(last) == 0 || !strings.Contains(last[0], "enqueued") {
		t.Errorf("no summary after the signal: %q", last)
	}
}

// reachable types what the demo says to type in another terminal, as it stands
// and somewhere else.
func reachable(t *testing.T, said string) {
	t.Helper()
	_, rest, ok := strings.Cut(said, "from another terminal: ")
	line, _, _ := strings.Cut(rest, "\n")
	if words := strings.Fields(line); !ok || len(words) != 4 || words[1] != binary {
		t.Fatalf("nothing says how to reach the demo: %s", said)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	prepare(t, cmd, nil)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "orders") {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}
