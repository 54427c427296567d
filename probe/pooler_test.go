package probe

import (
	"fmt"
	"net"
	"net/url"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// pooled puts a transaction pooler with two server connections before d.
func pooled(t *testing.T, d *pgtest.DB) string {
	t.Helper()
	path, err := osexec.LookPath("pgbouncer")
	if err != nil {
		path = "/usr/sbin/pgbouncer" // Debian's place, which is not on every PATH
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	_ = l.Close() // to free the port
	password, _ := u.User.Password()
	dir := t.TempDir()
	ini := filepath.Join(dir, "pgbouncer.ini")
	err = os.WriteFile(ini, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=postgres password='%s'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`, u.Hostname(), u.Port(), password, addr.Port), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(path, ini)
	if os.Geteuid() == 0 { // it refuses to run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		for _, folder := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("pgbouncer is needed (Debian: apt-get install pgbouncer): %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr.String())
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("pgbouncer does not listen: %v", err)
		}
	}
	u.Host = addr.String()
	return u.String()
}

// Three probes share two server connections, so every statement may run on
// another one than the last.
func TestTheProbeWorksBehindATransactionPooler(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		awa(t, d, map[string]int{"orders": 2})
		_, tx := begun(t, d, "orders", "holder-app")
		through := pooled(t, d)
		var all []*Probe
		for range 3 {
			all = append(all, start(t, config(through)))
		}
		for range 3 {
			for _, p := range all {
				s := until(t, p, "everything read", func(s control.Snapshot) bool {
					r := of(s, "orders")
					return r.Samples > 0 && r.Depth.OK() && r.EnqueueRate.OK() && r.Holders == control.Some(1)
				})
				if len(s.Problems) > 0 {
					t.Errorf("problems: %+v", s.Problems)
				}
			}
		}
		_ = tx.Rollback(ctxOf(t))
	})
}
