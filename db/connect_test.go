package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// serving runs serve for each connection until the test ends.
func serving(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with its connection, which the client closes
				defer func() { _ = c.Close() }()
				serve(c)
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// answers is a server that refuses every login with one SQLSTATE.
func answers(t *testing.T, code string) string {
	return serving(t, func(c net.Conn) {
		b := pgproto3.NewBackend(c, c)
		if _, err := b.ReceiveStartupMessage(); err != nil {
			return
		}
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "said by the test"})
		_ = b.Flush()
	})
}

func connectErr(t *testing.T, s string) error {
	t.Helper()
	c, err := Parse(s, Options{ConnectTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Connect(within(t))
	if err == nil {
		closeConn(conn)
		t.Fatalf("%s connected", c)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("the error holds the password: %s", text)
		}
	}
	return err
}

func TestEveryUnreachableServerHasItsSentence(t *testing.T) {
	noEnv(t)
	closedPort := serving(t, func(net.Conn) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	silent := serving(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); time.Sleep(3 * time.Second) })
	web := serving(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
	const plain = "?sslmode=disable"
	for _, c := range []struct {
		name, url string
		fatal     bool
		words     []string
	}{
		{"refused", "postgres://u:s3cr3t@" + free + "/d", false, []string{"nothing listens at " + free}},
		{"timeout", "postgres://u:s3cr3t@" + silent + "/d" + plain + "&connect_timeout=1", false, []string{"did not answer within 1s", "connect_timeout"}},
		{"name", "postgres://u:s3cr3t@nowhere.invalid/d", false, []string{`"nowhere.invalid" cannot be resolved`}},
		{"socket", "host=/nowhere user=u password=s3cr3t", false, []string{"no socket", "/nowhere"}},
		{"closed", "postgres://u:s3cr3t@" + closedPort + "/d" + plain, false, []string{"closed the connection"}},
		{"not PostgreSQL", "postgres://u:s3cr3t@" + web + "/d" + plain, false, []string{web}},
		{"starting", "postgres://u:s3cr3t@" + answers(t, "57P03") + "/d" + plain, false, []string{"starting up or shutting down"}},
		{"full", "postgres://u:s3cr3t@" + answers(t, "53300") + "/d" + plain, false, []string{"all connections", "max_connections"}},
		{"pg_hba", "postgres://u:s3cr3t@" + answers(t, "28000") + "/d" + plain, true, []string{"pg_hba.conf", "said by the test"}},
		{"setting", "postgres://u:s3cr3t@" + answers(t, "08P01") + "/d" + plain, true, []string{"ignore_startup_parameters"}},
		{"unknown state", "postgres://u:s3cr3t@" + answers(t, "XX000") + "/d" + plain, false, []string{"SQLSTATE XX000"}},
		{"the more telling of two", "postgres://u:s3cr3t@" + answers(t, "57P03") + "," + answers(t, "28P01") + "/d" + plain, true, []string{"refused the password"}},
		{"a server's word over the network's", "postgres://u:s3cr3t@" + free + "," + answers(t, "3D000") + "/d" + plain, true, []string{"no database"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := connectErr(t, c.url)
			wantFault(t, err, control.FaultNoConnection, c.words...)
			if Fatal(err) != c.fatal {
				t.Errorf("Fatal is %v", Fatal(err))
			}
			var f *control.Fault
			if errors.As(err, &f) && f.Hint == "" {
				t.Error("no next step")
			}
		})
	}
}

func TestEveryRefusedLoginHasItsSentence(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		role, limited, shut := `who "is" `+d.Name, "limited "+d.Name, "shut "+d.Name
		addRole(t, d, role, "")
		addRole(t, d, limited, "CONNECTION LIMIT 0")
		addRole(t, d, shut, "NOLOGIN")
		admin := d.Connect(t)
		right := "pw of role"
		expect := func(err error, fatal bool, words ...string) {
			t.Helper()
			wantFault(t, err, control.FaultNoConnection, words...)
			if Fatal(err) != fatal {
				t.Errorf("Fatal is %v for %v", Fatal(err), err)
			}
		}
		expect(connectErr(t, asRole(t, d, role, "s3cr3t")), true, "refused the password of role")
		expect(connectErr(t, asRole(t, d, limited, right)), false, "all connections")
		expect(connectErr(t, asRole(t, d, shut, right)), true, "does not accept role")

		noDB := strings.Replace(asRole(t, d, role, right), "/"+d.Name, "/no+such", 1)
		expect(connectErr(t, noDB), true, "there is no database")
		expect(connectErr(t, asRole(t, d, role, right)+"&sslmode=require"), true, "did not agree to TLS")
		expect(connectErr(t, asRole(t, d, role, right)+"&target_session_attrs=standby"), false, "target_session_attrs")
		expect(connectErr(t, asRole(t, d, role, right)+"&options=-c%20nonsense%3D1"), true, "refused a setting")

		run(t, admin, "REVOKE CONNECT ON DATABASE "+ident(d.Name)+" FROM PUBLIC")
		err := connectErr(t, asRole(t, d, role, right))
		expect(err, true, "may not connect", "GRANT CONNECT ON DATABASE")
		var f *control.Fault
		errors.As(err, &f)
		run(t, admin, strings.TrimPrefix(f.Hint, "have its owner run: ")) // what is printed mends it
		connectTo(t, asRole(t, d, role, right), Options{})
	})
}

func TestPasswordIsAskedForOnlyWhenThereIsNone(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	role := "asked " + d.Name
	addRole(t, d, role, "")
	with, _ := url.Parse(asRole(t, d, role, "x"))
	with.User = url.User(role)
	without := with.String()

	err := connectErr(t, without)
	wantFault(t, err, control.FaultNoConnection, "asks for a password", "PGPASSWORD")
	if !NeedsPassword(err) || !Fatal(err) {
		t.Error("a missing password is not recognised")
	}
	if err := connectErr(t, asRole(t, d, role, "s3cr3t")); NeedsPassword(err) {
		t.Error("a wrong password is not a missing one")
	}
	c, err := Parse(without, Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.WithPassword("pw of role").Connect(within(t))
	if err != nil {
		t.Fatal(err)
	}
	closeConn(conn)
	if c.pg.Password != "" {
		t.Error("WithPassword changed the original")
	}
}

func TestNextHostIsTriedWhenTheFirstIsAway(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		gone := serving(t, func(net.Conn) {})
		u, err := url.Parse(d.URL)
		if err != nil {
			t.Fatal(err)
		}
		real := u.Host
		u.Host = gone + "," + real
		conn := connectTo(t, u.String()+"&target_session_attrs=read-write", Options{})
		where, err := Where(within(t), conn)
		if err != nil {
			t.Fatal(err)
		}
		if got := net.JoinHostPort(where.Host, fmt.Sprint(where.Port)); got != real {
			t.Errorf("says it is at %s, is at %s", got, real)
		}
		if where.Name != d.Name || where.User != "postgres" || !strings.HasPrefix(where.Version, d.Version) || where.Standby || where.ReadOnly || where.StartedAt.IsZero() {
			t.Errorf("%+v", where)
		}
	})
}

func TestSessionIsBoundedNamedAndQuiet(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		var heard []string
		conn := connectTo(t, d.URL, Options{StatementTimeout: 7 * time.Second, OnNotice: func(n *pgconn.Notice) { heard = append(heard, n.Message) }})
		for setting, want := range map[string]string{
			"statement_timeout": "7s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "15s", "application_name": "shardpilot",
		} {
			if got := scan[string](t, conn, "SELECT current_setting($1)", setting); got != want {
				t.Errorf("%s is %s", setting, got)
			}
		}
		run(t, conn, `DO $$ BEGIN RAISE NOTICE 'psst'; END $$`)
		if len(heard) != 1 || heard[0] != "psst" {
			t.Errorf("heard %v", heard)
		}
		if n := scan[int](t, conn, "SELECT count(*)::int FROM pg_prepared_statements"); n != 0 {
			t.Errorf("%d named statements, which a pooler would lose", n)
		}
	})
}

func TestCancelledConnectIsNoFault(t *testing.T) {
	noEnv(t)
	silent := serving(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1024)); _, _ = c.Read(make([]byte, 1)) })
	c, err := Parse("postgres://u@"+silent+"/d?sslmode=disable", Options{ConnectTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	_, err = c.Connect(ctx)
	if !errors.Is(err, context.Canceled) || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

func TestAServerEndsStatementsWithinWhatWasAskedFor(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	cfg, err := Parse(d.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]*Config{"10s": cfg, "2500ms": cfg.Within(2500 * time.Millisecond)} {
		conn, err := c.Connect(within(t))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := conn.QueryRow(within(t), "SHOW statement_timeout").Scan(&got); err != nil || got != want {
			t.Errorf("statement_timeout %s, want %s (%v)", got, want, err)
		}
		_ = conn.Close(within(t))
	}
}
