package db

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// within is a context for one test; the machine may be busy.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func run(t testing.TB, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(within(t), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// withAwa is a database with an Awa-compatible schema.
func withAwa(t *testing.T, d *pgtest.DB, o rehearsal.Options) *pgx.Conn {
	t.Helper()
	conn := d.Connect(t)
	if err := rehearsal.Install(within(t), conn, o); err != nil {
		t.Fatal(err)
	}
	return conn
}

// addRole makes a login role of the server that goes with the test.
func addRole(t testing.TB, d *pgtest.DB, name, options string) {
	t.Helper()
	if !strings.Contains(options, "NOLOGIN") {
		options += " LOGIN"
	}
	run(t, d.Connect(t), "CREATE ROLE "+ident(name)+" PASSWORD 'pw of role' "+options)
	t.Cleanup(func() {
		conn := d.Connect(t)
		run(t, conn, "DROP OWNED BY "+ident(name)+" CASCADE", "DROP ROLE "+ident(name))
	})
}

// asRole is d's URL for another role.
func asRole(t testing.TB, d *pgtest.DB, role, password string) string {
	t.Helper()
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// connectTo parses and connects as the program does.
func connectTo(t testing.TB, connString string, o Options) *pgx.Conn {
	t.Helper()
	c, err := Parse(connString, o)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Connect(within(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeConn(conn) })
	return conn
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the backend may be gone already, which is what was tested
}

// wantFault checks kind and words of a Fault.
func wantFault(t testing.TB, err error, kind control.FaultKind, words ...string) {
	t.Helper()
	var f *control.Fault
	if !errors.As(err, &f) {
		t.Fatalf("not a Fault: %v", err)
	}
	if f.Kind != kind {
		t.Errorf("kind %d, want %d: %v", f.Kind, kind, f)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			t.Errorf("%q is not in: %s", w, f.Error())
		}
	}
}

// noEnv takes PG* variables and the home directory away from a test.
func noEnv(t *testing.T) (home string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, value) // puts it back
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PGSYSCONFDIR", home+"/nowhere")
	return home
}

func scan[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(within(t), sql, args...).Scan(&v); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", sql, err))
	}
	return v
}
