package db

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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// bouncer puts a real pgbouncer with a pool of two in front of d and returns
// the URL that goes through it. A machine without pgbouncer fails the test.
func bouncer(t *testing.T, d *pgtest.DB, mode string) string {
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
	ini := write(t, filepath.Join(dir, "pgbouncer.ini"), fmt.Sprintf(`[databases]
* = host=%s port=%s user=postgres password='%s'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 2
`, u.Hostname(), u.Port(), password, port, mode), 0o600)

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
func as(t *testing.T, name string, paths ...string) *syscall.Credential {
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

// Several connections share two backends, so each statement may run elsewhere
// than the one before.
func TestEverythingWorksBehindATransactionPooler(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		direct := withAwa(t, d, rehearsal.Options{})
		lanesOf(t, direct, "orders", "", 2)
		through := bouncer(t, d, "transaction")

		var wg sync.WaitGroup
		for range 5 {
			conn := connectTo(t, through, Options{})
			wg.Go(func() {
				for range 10 {
					inst, err := Discover(within(t), conn, false)
					if err != nil || inst.State != control.AwaActive {
						t.Errorf("%v %+v", err, inst)
						return
					}
					if _, err := Rights(within(t), conn, inst); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()

		conn := connectTo(t, through, Options{})
		if pooled, err := Pooled(within(t), conn); err != nil || !pooled {
			t.Errorf("pooled %v %v", pooled, err)
		}
		if pooled, err := Pooled(within(t), connectTo(t, d.URL, Options{})); err != nil || pooled {
			t.Errorf("direct: pooled %v %v", pooled, err)
		}
		if _, err := Install(within(t), conn); err != nil {
			t.Error(err)
		}
		s := newStore(t, through, first)
		save(t, s, loop.Batch{Entries: []control.LogEntry{act(control.VerbPause), {Kind: control.LogDecision, Queue: "orders", Actor: "controller"}}})
		if n := len(load(t, s, 0).Entries); n != 2 {
			t.Errorf("%d entries", n)
		}
		if shown, err := Show(within(t), conn, control.Installation{Schema: "awa"}, "orders"); err != nil || shown[0].Last == nil {
			t.Errorf("%+v %v", shown, err)
		}
		report, err := Doctor(within(t), conn, DoctorOptions{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if f := find(report, "pooler"); f.State != StateWarn || !strings.Contains(f.Fix, "direct connection") {
			t.Errorf("%+v", f)
		}
		if f := find(report, "timeouts"); f.State != StateWarn {
			t.Errorf("%+v", f)
		}
		// No timeout of ours was left on a backend that others use.
		for range 20 {
			other := connectTo(t, through, Options{})
			if got := scan[string](t, other, "SELECT current_setting('lock_timeout')"); got != "0" {
				t.Fatalf("lock_timeout %s leaked into the pool", got)
			}
			closeConn(other)
		}
	})
}
