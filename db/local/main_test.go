package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// childEnv makes this test binary a process that starts a server, says so and
// waits to be killed.
const childEnv = "SHARDPILOT_TEST_LOCAL_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(m.Run())
}

// child tells its folder as soon as that exists, and "ready" when the server is.
func child() {
	s, err := Start(context.Background(), Options{Log: func(line string) { fmt.Println(line) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready", s.Dir)
	select {}
}

const patience = 2 * time.Minute // for a machine that does other things as well

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// one asks a server for one text.
func one(t *testing.T, url, statement string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var answer string
	if err := conn.QueryRow(ctx, statement).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

func do(t *testing.T, url, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// witness opens a folder's lock file, whose lock tells whether anything that was
// started in the folder still lives, even when the folder is gone.
func witness(t *testing.T, dir string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "owner"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// alive says whether a process still holds the lock.
func alive(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return true
	}
	return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) != nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// gone waits until no process and no folder is left.
func gone(t *testing.T, dir string, w *os.File) {
	t.Helper()
	eventually(t, "no process of "+dir+" is left", func() bool { return !alive(w) })
	eventually(t, dir+" is removed", func() bool { return !exists(dir) })
}

// openDir is a folder that every user can reach, unlike t.TempDir.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "local-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustFault wants a fault of the kind, and returns what it says.
func mustFault(t *testing.T, err error, kind control.FaultKind) (what, hint string) {
	t.Helper()
	var f *control.Fault
	if !errors.As(err, &f) {
		t.Fatalf("not a fault: %v", err)
	}
	if f.Kind != kind || f.What == "" || f.Hint == "" {
		t.Fatalf("kind %d, what %q, hint %q; want kind %d", f.Kind, f.What, f.Hint, kind)
	}
	return f.What, f.Hint
}

func childCommand(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}
