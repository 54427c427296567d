package local

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

func TestOtherUsersOfTheMachineCannotGetIn(t *testing.T) {
	s := start(t, Options{})
	if strings.Contains(s.password, " ") || len(s.password) < 20 {
		t.Errorf("a password of %d characters", len(s.password))
	}
	for _, password := range []string{"", "postgres", s.password + "x"} {
		url := strings.Replace(s.URL("postgres"), s.password, password, 1)
		conn, err := pgx.Connect(context.Background(), url)
		var refused *pgconn.PgError
		if err == nil {
			_ = conn.Close(context.Background())
		}
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, "28") {
			t.Errorf("with password %q: %v", password, err)
		}
	}
	if got := one(t, s.URL("postgres"), `SELECT current_setting('listen_addresses') || '|' || current_setting('unix_socket_directories')`); got != "127.0.0.1|" {
		t.Errorf("listens on %s", got)
	}
	if n := one(t, s.URL("postgres"), `SELECT count(*)::text FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'`); n != "0" {
		t.Errorf("%s ways in without a password", n)
	}
	for _, name := range []string{"", "data", "password", "postgresql.conf", "postgres.log", "owner"} {
		info, err := os.Stat(filepath.Join(s.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q has mode %v", name, info.Mode())
		}
	}
	list, err := exec.Command("ps", "-axww", "-o", "command").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(list), s.password) {
		t.Error("the password stands in the list of processes")
	}
}

func TestRootGivesTheServerToAnOrdinaryUser(t *testing.T) {
	s := start(t, Options{})
	info, err := os.Stat(filepath.Join(s.Dir, "data", "PG_VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	who, err := runAs()
	if err != nil {
		t.Fatal(err)
	}
	if owner := ownerOf(info); owner == 0 || owner != who.uid {
		t.Errorf("the data belongs to user %d, want %d", owner, who.uid)
	}
	if who.drop != (os.Geteuid() == 0) {
		t.Errorf("drop is %v for user %d", who.drop, os.Geteuid())
	}
}

func TestBinariesUnderAPrivateHomeWork(t *testing.T) {
	b, err := Find("17", "")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(openDir(t), "home")
	native := filepath.Join(home, "native")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (account{}).copyTree(filepath.Dir(b.Dir), native); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Bin: filepath.Join(native, "bin")})
	if got := one(t, s.URL("postgres"), "SHOW server_version"); !strings.HasPrefix(got, "17") {
		t.Errorf("server %s", got)
	}
	if !strings.Contains(s.Where, native) {
		t.Errorf("where: %s", s.Where)
	}
}

func TestAPortTakenInTheMeantimeIsNotTheEnd(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port, tries := taken.Addr().(*net.TCPAddr).Port, 0
	s := start(t, Options{ports: func() (int, error) {
		if tries++; tries <= 2 {
			return port, nil
		}
		return freePort()
	}})
	if tries != 3 || s.Port == port {
		t.Errorf("%d tries, port %d, taken was %d", tries, s.Port, port)
	}
	if got := one(t, s.URL("postgres"), "SHOW port"); got != strconv.Itoa(s.Port) {
		t.Errorf("it is on %s, not %d", got, s.Port)
	}
}

func TestServersDoNotKnowOneAnother(t *testing.T) {
	a, b := start(t, Options{}), start(t, Options{})
	if a.Port == b.Port || a.Dir == b.Dir || a.password == b.password {
		t.Fatal("two servers share something")
	}
	do(t, a.URL("postgres"), "CREATE DATABASE mine")
	if n := one(t, b.URL("postgres"), "SELECT count(*)::text FROM pg_database WHERE datname = 'mine'"); n != "0" {
		t.Error("a database of one is in the other")
	}
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	one(t, b.URL("postgres"), "SELECT 'here'")
}

func TestAServerCanGoAwayAndComeBack(t *testing.T) {
	ctx := context.Background()
	s := start(t, Options{})
	do(t, s.URL("postgres"), "CREATE TABLE kept AS SELECT 1")
	port := s.Port
	killed := func(context.Context) error {
		if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
			return err
		}
		eventually(t, "the death is noticed", func() bool { return s.PID() == 0 })
		return nil
	}
	for name, away := range map[string]func(context.Context) error{
		"stopped": s.StopServer, "crashed": s.Crash, "killed from outside": killed,
	} {
		before := s.PID()
		if err := away(ctx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if conn, err := pgx.Connect(ctx, s.URL("postgres")); err == nil {
			_ = conn.Close(ctx)
			t.Errorf("%s: still there", name)
		}
		for range 2 { // the second has nothing to do
			if err := s.StartAgain(ctx); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if s.Port != port || s.PID() == before || s.PID() == 0 {
			t.Errorf("%s: port %d then %d, process %d then %d", name, port, s.Port, before, s.PID())
		}
		one(t, s.URL("postgres"), "SELECT 'rows: ' || count(*) FROM kept")
	}
	before := s.PID()
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if s.PID() == before {
		t.Error("restarted, and it is the same process")
	}
}

func TestAStartAgainThatIsGivenUpDoesNotGoOn(t *testing.T) {
	s := start(t, Options{})
	if err := s.StopServer(context.Background()); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.StartAgain(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatalf("started with a cancelled context: %v", err)
	}
	if !portFree(s.Port) || s.PID() != 0 {
		t.Error("it was started all the same")
	}
	if err := s.StartAgain(context.Background()); err != nil {
		t.Fatal(err)
	}
	one(t, s.URL("postgres"), "SELECT 'here'")
}

func TestSettingsReachTheServerAndCannotOpenIt(t *testing.T) {
	s := start(t, Options{MaxConnections: 33, Settings: map[string]string{
		"fsync": "on", "cluster_name": `it's a \ name`, "listen_addresses": "*", "unix_socket_directories": "/tmp",
	}})
	for name, want := range map[string]string{
		"max_connections": "33", "fsync": "on", "cluster_name": `it's a \ name`,
		"listen_addresses": "127.0.0.1", "unix_socket_directories": "",
	} {
		if got := one(t, s.URL("postgres"), "SELECT current_setting('"+name+"')"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestASettingPostgresDoesNotKnowIsAFaultWithItsWords(t *testing.T) {
	_, err := Start(context.Background(), Options{Settings: map[string]string{"no_such_thing": "1"}})
	if _, hint := mustFault(t, err, control.FaultFailed); !strings.Contains(hint, "no_such_thing") {
		t.Errorf("hint %q", hint)
	}
}

func TestBinariesThatCannotRunAreAFault(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 7\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Start(context.Background(), Options{Bin: dir})
	mustFault(t, err, control.FaultUsage)
	_, err = Start(context.Background(), Options{Bin: filepath.Join(dir, "nowhere")})
	mustFault(t, err, control.FaultUsage)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cause lost: %v", err)
	}
}
