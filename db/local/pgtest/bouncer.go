package pgtest

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Bouncer puts a real pgbouncer with a pool of two in front of d and returns
// the URL that goes through it; every client gets there as d's own role. A machine without pgbouncer fails the test.
func (d *DB) Bouncer(t testing.TB, mode string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/pgbouncer") // Debian's place, which is not on every PATH
	}
	if err != nil {
		t.Fatalf("pgbouncer is needed (Debian: apt-get install pgbouncer): %v", err)
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ini := filepath.Join(dir, "pgbouncer.ini")
	err = os.WriteFile(ini, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=%s password='%s'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 2
`, u.Hostname(), u.Port(), u.User.Username(), password, port, mode), 0o600)
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(path, ini)
	var said bytes.Buffer
	cmd.Stderr = &said
	if os.Geteuid() == 0 { // it refuses to run as root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as(t, "postgres", dir, ini)}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ending error
	ended := make(chan struct{})
	go func() { defer close(ended); ending = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
			break
		}
		select {
		case <-ended:
			t.Fatalf("pgbouncer ended: %v\n%s", ending, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgbouncer does not listen: %v", err)
		}
	}
	u.Host = addr
	return u.String()
}

// as gives the folder and everything named to another user.
func as(t testing.TB, name string, paths ...string) *syscall.Credential {
	t.Helper()
	who, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(who.Gid)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if err := os.Chown(p, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	// The folder above belongs to the test and must let the other user pass.
	if err := os.Chmod(filepath.Dir(paths[0]), 0o755); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
