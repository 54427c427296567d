// Package pgtest gives tests real PostgreSQL servers, one of each version for
// the whole test process, and a fresh database for each test.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestX(t *testing.T) {
//		pgtest.Each(t, func(t *testing.T, d *pgtest.DB) { conn := d.Connect(t); … })
//	}
//
// Each shared server keeps goroutines until Main ends: a test that looks for
// leaked ones takes a server first and passes goleak.IgnoreCurrent.
//
// A version that is missing fails the test: a skipped promise is not kept.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local"
)

// VersionsEnv narrows Each, as in SHARDPILOT_PG_VERSIONS="17,18".
const VersionsEnv = "SHARDPILOT_PG_VERSIONS"

// startLimit is generous: the machine may be busy with other tests.
const startLimit = 3 * time.Minute

// Versions are the major versions that Each runs on, oldest first.
func Versions() []string {
	if narrowed := os.Getenv(VersionsEnv); narrowed != "" {
		return strings.FieldsFunc(narrowed, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return []string{"15", "17", "18"}
}

// DB is a fresh database on a private server, dropped when its test ends.
type DB struct {
	URL     string // the superuser's, with the password
	Name    string
	Version string // major, such as "17"
	Server  *local.Server
}

// servers are the process's own, one a version, started when first asked for.
// They are the one thing tests share, hence the one package variable.
var servers = registry{running: map[string]*entry{}}

type registry struct {
	mu      sync.Mutex
	running map[string]*entry

	cleanups []func() // in the order they were given

	made atomic.Int64 // numbers databases
}

type entry struct {
	once   sync.Once
	server *local.Server
	err    error
}

// Main runs the tests, stops the servers they started, and exits. Call it as
// all of TestMain. (A test process that dies without it leaves nothing behind
// either: see package local.)
func Main(m *testing.M) {
	code := m.Run()
	servers.cleanUp()
	for version, err := range servers.stop() {
		fmt.Fprintf(os.Stderr, "stopping PostgreSQL %s: %v\n", version, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Cleanup has Main call f when the tests are over and before the servers stop,
// the one given last first. It is for what a whole test process shares.
func Cleanup(f func()) {
	servers.mu.Lock()
	defer servers.mu.Unlock()
	servers.cleanups = append(servers.cleanups, f)
}

// Each runs f as a subtest on every version, named pg15, pg17, …
func Each(t *testing.T, f func(t *testing.T, d *DB)) {
	t.Helper()
	versions := Versions()
	if len(versions) == 0 {
		t.Fatalf("%s names no version", VersionsEnv)
	}
	for _, v := range versions {
		t.Run("pg"+v, func(t *testing.T) { f(t, On(t, v)) })
	}
}

// One gives a fresh database on the newest version that Each runs on.
func One(t testing.TB) *DB {
	t.Helper()
	versions := Versions()
	if len(versions) == 0 {
		t.Fatalf("%s names no version", VersionsEnv)
	}
	return On(t, slices.MaxFunc(versions, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	}))
}

// On gives a fresh database on the shared server of a major version.
func On(t testing.TB, version string) *DB {
	t.Helper()
	s, err := servers.get(version)
	if err != nil {
		t.Fatalf("PostgreSQL %s: %v", version, err)
	}
	return fresh(t, version, s)
}

// NewServer gives a fresh database on a server of the test's own, which it may
// stop, start again and configure. It ends with the test.
func NewServer(t testing.TB, version string, settings map[string]string) *DB {
	t.Helper()
	s, err := start(version, settings)
	if err != nil {
		t.Fatalf("PostgreSQL %s: %v", version, err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop PostgreSQL %s: %v", version, err)
		}
	})
	return create(t, version, s)
}

// Connect opens a connection as superuser that closes when the test ends.
func (d *DB) Connect(t testing.TB) *pgx.Conn {
	t.Helper()
	return d.ConnectAs(t, d.URL)
}

// ConnectAs is Connect with a URL of the caller's making.
func (d *DB) ConnectAs(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connect to %s: %v", d.Name, err)
	}
	t.Cleanup(func() {
		// The server may be away by now, and that may be what was tested.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

// ConnectSpread is ConnectAs for number n of many sessions, whose pids are to be
// spread evenly modulo over: the lane of a producer without an ordering key
// follows from its backend's pid, and by chance some lanes would get none.
func (d *DB) ConnectSpread(t testing.TB, url string, n, over int) *pgx.Conn {
	t.Helper()
	for range 1000 {
		conn := d.ConnectAs(t, url)
		if int(conn.PgConn().PID())%over == n%over {
			return conn
		}
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		err := conn.Close(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no backend's pid is %d modulo %d", n%over, over)
	return nil
}

func (r *registry) get(version string) (*local.Server, error) {
	r.mu.Lock()
	e := r.running[version]
	if e == nil {
		e = &entry{}
		r.running[version] = e
	}
	r.mu.Unlock()
	e.once.Do(func() { e.server, e.err = start(version, nil) })
	return e.server, e.err
}

func (r *registry) cleanUp() {
	r.mu.Lock()
	fs := r.cleanups
	r.cleanups = nil
	r.mu.Unlock()
	for _, f := range slices.Backward(fs) {
		f()
	}
}

// stop stops all servers; the errors are by version.
func (r *registry) stop() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := map[string]error{}
	for version, e := range r.running {
		if e.server == nil {
			continue
		}
		if err := e.server.Stop(); err != nil {
			failed[version] = err
		}
	}
	clear(r.running)
	return failed
}

func start(version string, settings map[string]string) (*local.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return local.Start(ctx, local.Options{Version: version, Settings: settings, MaxConnections: 200})
}

// fresh makes a database and drops it, connections and all, when the test ends.
func fresh(t testing.TB, version string, s *local.Server) *DB {
	t.Helper()
	d := create(t, version, s)
	t.Cleanup(func() {
		if err := admin(s, `DROP DATABASE IF EXISTS `+pgx.Identifier{d.Name}.Sanitize()+` WITH (FORCE)`); err != nil {
			t.Errorf("drop %s: %v", d.Name, err)
		}
	})
	return d
}

func create(t testing.TB, version string, s *local.Server) *DB {
	t.Helper()
	name := fmt.Sprintf("t_%d", servers.made.Add(1))
	// template0, so that nothing a test did to template1 is inherited.
	if err := admin(s, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()+` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return &DB{URL: s.URL(name), Name: name, Version: version, Server: s}
}

// admin runs one statement on the server's postgres database.
func admin(s *local.Server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	if closeErr := conn.Close(ctx); err == nil {
		err = closeErr
	}
	return err
}
