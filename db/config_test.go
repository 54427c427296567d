package db

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

func parse(t *testing.T, s string, o Options) *Config {
	t.Helper()
	c, err := Parse(s, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// The strings below mean the same to pgx, whose reader is compared with libpq's
// by its own tests.
func TestConnectionStringsMeanWhatTheyMeanToPgx(t *testing.T) {
	noEnv(t)
	for _, s := range []string{
		"postgres://u@h/d", "postgresql://u:p@h:5433/d", "postgres://u:p%40ss%2Fw%3Ard@h/d%20b",
		"postgres://u@h1:1,h2:2,h3/d", "postgres://u@h1,h2/d?port=7", "postgres://u@[::1]:5433/d", "postgres://u@%2Fvar%2Frun/d",
		"postgres:///d?host=/tmp&user=u", "postgres://u@h/d?sslmode=disable&connect_timeout=3", "postgres://u@h?dbname=x",
		"host=h user=u dbname=d", "host = h user='it''s' dbname=d", `host=h user=a\ b password='p\'q\\r' dbname=d`,
		"host=h1,h2 port=1,2 user=u dbname=d", "host=h user=u dbname='' application_name='x y'", "  host=h  user=u dbname=d  ",
		"user=u host=h password= dbname=d", "postgres://u:p:q@h/d", "postgres://u:@h/d", "postgres://@h/d?user=u",
	} {
		want, wantErr := pgx.ParseConfig(s)
		got, err := Parse(s, Options{})
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%s: ours %v, pgx %v", s, err, wantErr)
			continue
		}
		if err != nil {
			continue
		}
		if want.Database == "" {
			want.Database = want.User // libpq's default, which pgx leaves to the server
		}
		a := fmt.Sprint(got.pg.Host, got.pg.Port, got.pg.Database, got.pg.User, got.pg.Password, len(got.pg.Fallbacks))
		b := fmt.Sprint(want.Host, want.Port, want.Database, want.User, want.Password, len(want.Fallbacks))
		if a != b {
			t.Errorf("%s:\nours %s\npgx  %s", s, a, b)
		}
	}
}

func TestPrecedenceIsStringThenServiceThenEnvironment(t *testing.T) {
	home := noEnv(t)
	write(t, filepath.Join(home, ".pg_service.conf"), "# comment\n[other]\nhost=wrong\n[prod]\nhost=service\nport=6001\nuser=su\nuser=second\ndbname=sd\n[after]\nport=1\n", 0o600)
	t.Setenv("PGHOST", "env")
	t.Setenv("PGPORT", "6002")
	t.Setenv("PGUSER", "eu")
	t.Setenv("PGSSLMODE", "disable")
	for _, c := range []struct{ name, s, service, want string }{
		{"environment alone", "dbname=d", "", "host=env:6002 dbname=d user=eu sslmode=disable"},
		{"string over environment", "postgres://u@string/d", "", "host=string:6002 dbname=d user=u sslmode=disable"},
		{"service over environment", "", "prod", "host=service:6001 dbname=sd user=su sslmode=disable"},
		{"string over service", "postgres://string:7", "prod", "host=string:7 dbname=sd user=su sslmode=disable"},
		{"service in the string", "service=prod dbname=d", "", "host=service:6001 dbname=d user=su sslmode=disable"},
		{"service in a URL", "postgres://?service=prod", "", "host=service:6001 dbname=sd user=su sslmode=disable"},
		{"database defaults to the user", "", "", "host=env:6002 dbname=eu user=eu sslmode=disable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PGSERVICE", c.service)
			if got := parse(t, c.s, Options{}).String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestServiceFilesAreSearchedInLibpqsOrder(t *testing.T) {
	home := noEnv(t)
	sys := t.TempDir()
	t.Setenv("PGSYSCONFDIR", sys)
	t.Setenv("PGSERVICE", "s")
	write(t, filepath.Join(sys, "pg_service.conf"), "[s]\nhost=system\n[only]\nhost=onlysystem\n", 0o644)
	host := func() string { return parse(t, "user=u", Options{}).pg.Host }
	if got := host(); got != "system" {
		t.Errorf("without a file at home: %s", got)
	}
	write(t, filepath.Join(home, ".pg_service.conf"), "[s]\nhost=home\n", 0o644)
	if got := host(); got != "home" {
		t.Errorf("with one: %s", got)
	}
	t.Setenv("PGSERVICE", "only")
	if got := host(); got != "onlysystem" {
		t.Errorf("a service that only the system's file has: %s", got)
	}
	t.Setenv("PGSERVICEFILE", write(t, filepath.Join(home, "named"), "[only]\nhost=named\n", 0o644))
	if got := host(); got != "named" {
		t.Errorf("with PGSERVICEFILE: %s", got)
	}
	t.Setenv("PGSERVICE", "nobody")
	_, err := Parse("", Options{})
	wantFault(t, err, control.FaultUsage, `"nobody" is in no service file`, "named", sys)
	t.Setenv("PGSERVICEFILE", filepath.Join(home, "missing"))
	_, err = Parse("", Options{})
	wantFault(t, err, control.FaultUsage, "missing", "cannot be used")
}

func TestPassfileIsReadByLibpqsRules(t *testing.T) {
	home := noEnv(t)
	path := filepath.Join(home, ".pgpass")
	for _, c := range []struct{ name, line, s, want string }{
		{"exact", "h:5432:d:u:pw", "postgres://u@h/d", "pw"},
		{"wildcards", "*:*:*:*:pw", "postgres://u@h/d", "pw"},
		{"first match", "h:1:d:u:no\nh:5432:d:*:yes\n*:*:*:*:no", "postgres://u@h/d", "yes"},
		{"comment", "#h:5432:d:u:no\nh:5432:d:u:yes", "postgres://u@h/d", "yes"},
		{"escapes", `h:5432:d\:b:u\\v:p\:w\\x`, `host=h dbname=d:b user=u\\v`, `p:w\x`},
		{"colons and blanks in the password", "h:5432:d:u: p:w: ", "postgres://u@h/d", " p:w: "},
		{"the database's default", "h:5432:u:u:pw", "postgres://u@h", "pw"},
		{"a socket is localhost", "localhost:5432:d:u:pw", "host=/tmp user=u dbname=d", "pw"},
		{"no match", "h:5432:other:u:pw", "postgres://u@h/d", ""},
		{"a password given wins", "h:5432:d:u:file", "postgres://u:given@h/d", "given"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, path, c.line+"\n", 0o600)
			got := parse(t, c.s, Options{})
			if got.pg.Password != c.want || len(got.Warnings) > 0 {
				t.Errorf("got %q, want %q; warnings %v", got.pg.Password, c.want, got.Warnings)
			}
		})
	}
	write(t, path, "*:*:*:*:secret\n", 0o644)
	c := parse(t, "postgres://u@h/d", Options{})
	if c.pg.Password != "" || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "chmod 600") {
		t.Errorf("a passfile that others may read was used: %q %v", c.pg.Password, c.Warnings)
	}
	t.Setenv("PGPASSFILE", write(t, filepath.Join(home, "other"), "*:*:*:*:named\n", 0o600))
	if got := parse(t, "postgres://u@h/d", Options{}).pg.Password; got != "named" {
		t.Errorf("PGPASSFILE: %q", got)
	}
	if got := parse(t, "postgres://u@h/d?passfile="+path, Options{}); got.pg.Password != "" || len(got.Warnings) != 1 {
		t.Error("passfile in the string does not win over PGPASSFILE")
	}
	t.Setenv("PGPASSWORD", "env")
	if got := parse(t, "postgres://u@h/d", Options{}).pg.Password; got != "env" {
		t.Errorf("PGPASSWORD: %q", got)
	}
}

// Both files may be named by the environment; a pipe that nobody writes to is
// not waited for.
func TestNamedPipesAreNoPassfileAndNoServiceFile(t *testing.T) {
	pipe := filepath.Join(noEnv(t), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := Parse("host=h user=u dbname=d passfile="+pipe, Options{}); err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "not a plain file") {
			t.Errorf("a pipe as the passfile: %+v, %v", c, err)
		}
		_, err := Parse("service=x servicefile="+pipe, Options{})
		if control.ExitCode(err) != 2 || !strings.Contains(err.Error(), "no ordinary file") {
			t.Errorf("a pipe as the service file: %v", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("a named pipe is waited for")
	}
}

func TestFlagThatContradictsTheStringIsRefused(t *testing.T) {
	noEnv(t)
	c := parse(t, "postgres://h/d", Options{User: "flag", Host: "h", Port: "99"})
	if got := c.String(); got != "host=h:99 dbname=d user=flag sslmode=prefer" {
		t.Error(got)
	}
	_, err := Parse("postgres://a:secret@h/d", Options{User: "b"})
	wantFault(t, err, control.FaultUsage, "--user contradicts")
	t.Setenv("PGUSER", "env") // a flag over a variable is no contradiction
	if got := parse(t, "", Options{User: "flag", Host: "h"}).pg.User; got != "flag" {
		t.Error(got)
	}
}

func TestDefaultsOfEveryConnection(t *testing.T) {
	noEnv(t)
	c := parse(t, "postgres://u@h/d", Options{})
	if got := c.pg.RuntimeParams; len(got) != 1 || got["application_name"] != "shardpilot" {
		t.Errorf("a pooler would refuse one of these: %v", got)
	}
	if c.pg.ConnectTimeout != DefaultConnectTimeout || c.pg.DefaultQueryExecMode != pgx.QueryExecModeExec || c.pg.StatementCacheCapacity != 0 {
		t.Error("timeout, mode or cache")
	}
	c = parse(t, "postgres://u@h/d?application_name=mine&connect_timeout=9&keepalives_idle=30&gssencmode=disable&client_encoding=auto&fallback_application_name=x&tcp_user_timeout=1", Options{})
	if got := c.pg.RuntimeParams; len(got) != 1 || got["application_name"] != "mine" || c.pg.ConnectTimeout != 9*time.Second {
		t.Errorf("%v %v", got, c.pg.ConnectTimeout)
	}
	if got := parse(t, "user=u hostaddr=127.0.0.1", Options{}).String(); !strings.Contains(got, "host=127.0.0.1:5432") {
		t.Error(got)
	}
	c = parse(t, "user=u host=name,other hostaddr=127.0.0.9,127.0.0.8", Options{})
	if got, err := c.pg.LookupFunc(within(t), "other"); err != nil || got[0] != "127.0.0.8" {
		t.Error(got, err)
	}
}

func TestPromisesOfSafetyThatCannotBeKeptAreRefused(t *testing.T) {
	noEnv(t)
	for _, s := range []string{"sslcrl=/x", "requirepeer=postgres", "gssencmode=require", "ssl_min_protocol_version=TLSv1.3"} {
		_, err := Parse("host=h user=u "+s, Options{})
		wantFault(t, err, control.FaultUsage, "cannot honour")
	}
	t.Setenv("PGREQUIREPEER", "postgres")
	_, err := Parse("host=h user=u", Options{})
	wantFault(t, err, control.FaultUsage, "requirepeer", "PGREQUIREPEER")
}

func TestMisspeltKeywordIsRefusedAsInLibpq(t *testing.T) {
	noEnv(t)
	_, err := Parse("postgres://u@h/d?sslmod=verify-full", Options{})
	wantFault(t, err, control.FaultUsage, "was sslmode meant?")
}

// Each string is broken or odd in a way that moves the password to where
// another part should be.
func TestNoErrorHoldsThePassword(t *testing.T) {
	home := noEnv(t)
	const pw = "s3cr3t"
	for _, s := range []string{
		"postgres://u:s3cr3t@h:port/d", "postgres://u:s3cr3t@h:99999/d", "postgres://u:s3cr3t%zz@h/d", "postgres://u:%s3cr3t@h/d",
		"postgres://u:pa/s3cr3t@h/d", "postgres://u:pa?s3cr3t@h/d", "postgres://u:a@s3cr3t:x@h/d", "postgres://u:s3cr3t@[::1/d",
		"postgres://u:s3cr3t h/d", "postgres://u:s3cr3t@h/d?sslmode=s3cr3t", "postgres://u@h/d?password=s3cr3t&x", "postgres://u@h/d?pass%77ord=s3cr3t&port=x",
		"postgres://u@h/d?s3cr3t=1", "postgres://u:s3cr3t@h/d?connect_timeout=s3cr3t", "postgres://u:s3cr3t@h/d?target_session_attrs=s3cr3t",
		"host=h password='s3cr3t", "host=h password=a s3cr3t", "host=h password=a s3cr3t=b", "host=h port=s3cr3t", "password = s3cr3t = x",
		"u:s3cr3t@h/d", "postgres://u:s3cr3t@h/d?channel_binding=s3cr3t", "postgres://u:s3cr3t@h/d?sslnegotiation=s3cr3t", "postgres://u:s3cr3t@h/d?require_auth=s3cr3t",
		"postgres://u:s3cr3t@h/d?sslmode=verify-full&sslrootcert=/missing", "postgres://u:s3cr3t@h/d?sslcert=/missing", "postgres://u:s3cr3t@h/d?service=nobody",
		"postgres://u:s3cr3t@h/d?min_protocol_version=s3cr3t", "postgres://u:s3cr3t@h/d\x00", "host=h password=s3cr3t hostaddr=1,2",
	} {
		c, err := Parse(s, Options{User: "other"})
		if err == nil {
			_, err = Parse(s, Options{})
		}
		for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), fmt.Sprint(c), fmt.Sprintf("%#v", c)} {
			if strings.Contains(text, pw) {
				t.Errorf("%s\ngives %s", s, text)
			}
		}
		if err != nil && control.ExitCode(err) != int(control.FaultUsage) {
			t.Errorf("%s: exit %d", s, control.ExitCode(err))
		}
	}
	write(t, filepath.Join(home, ".pg_service.conf"), "[s]\npassword=a\ns3cr3t = b\n", 0o600)
	if _, err := Parse("service=s", Options{}); err == nil || strings.Contains(fmt.Sprintf("%+v", err), pw) {
		t.Errorf("service file: %v", err)
	}
}
