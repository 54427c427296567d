package probe

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience is a deadline for things that take milliseconds on an idle machine.
const patience = 60 * time.Second

func ctxOf(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func exec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(ctxOf(t), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask1[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var out T
	if err := conn.QueryRow(ctxOf(t), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// awa installs the rehearsal schema with queues on the given counts.
func awa(t testing.TB, d *pgtest.DB, queues map[string]int) *pgx.Conn {
	t.Helper()
	conn := d.Connect(t)
	if err := rehearsal.Install(ctxOf(t), conn, rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, shards := range queues {
		if err := rehearsal.Provision(ctxOf(t), conn, name, shards, 2); err != nil {
			t.Fatal(err)
		}
		if err := rehearsal.SetShards(ctxOf(t), conn, name, shards); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// as makes a role for this database and returns a URL like d's for it.
func as(t testing.TB, d *pgtest.DB, admin *pgx.Conn, role, grants string) string {
	t.Helper()
	name := role + "_" + d.Name
	exec(t, admin, `CREATE ROLE `+name+` LOGIN PASSWORD 'pw'`)
	if grants != "" {
		exec(t, admin, grants+" TO "+name)
	}
	t.Cleanup(func() {
		// The database goes with its grants; the role is left without any.
		_, _ = admin.Exec(context.Background(), `DROP OWNED BY `+name+` CASCADE`)
		_, _ = admin.Exec(context.Background(), `DROP ROLE IF EXISTS `+name)
	})
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "pw")
	return u.String()
}

func config(dsn string) Config {
	return Config{
		Connect: func(ctx context.Context) (*pgx.Conn, error) {
			c, err := pgx.ParseConfig(dsn)
			if err != nil {
				return nil, err
			}
			c.DefaultQueryExecMode = pgx.QueryExecModeExec
			c.RuntimeParams["application_name"] = "shardpilot"
			return pgx.ConnectConfig(ctx, c)
		},
		Discover: discover,
		Where: func(ctx context.Context, conn *pgx.Conn) (db control.Database, err error) {
			err = conn.QueryRow(ctx, `select current_database(), current_user, pg_is_in_recovery(), pg_postmaster_start_time()`).
				Scan(&db.Name, &db.User, &db.Standby, &db.StartedAt)
			return db, err
		},
		Now: time.Now,
		// Tests are quick and the machine may be busy: what the bounds on cost
		// do has tests of its own.
		Pace: 5, BaseHz: 10, MaxCost: 0.5,
	}
}

// discover is enough of discovery for the rehearsal schema.
func discover(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
	there := false
	err := conn.QueryRow(ctx, `select to_regclass('awa.queue_enqueue_heads') is not null`).Scan(&there)
	if err != nil || !there {
		return control.Installation{State: control.AwaNotInstalled, Sentence: "Awa is not installed here"}, err
	}
	return control.Installation{State: control.AwaActive, Schema: "awa", Version: 43, MayWatch: true, MayWrite: true}, nil
}

// start runs a probe that is closed, and leaves no goroutine, at the end.
func start(t testing.TB, cfg Config) *Probe {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	p := Start(context.Background(), cfg)
	t.Cleanup(func() {
		p.Close()
		if err := goleak.Find(leaks, goleak.IgnoreAnyFunction("shardpilot/db/local.(*supervisor).listen"),
			goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1")); err != nil {
			t.Errorf("after Close: %v", err)
		}
	})
	return p
}

// read reads once, which has to work.
func read(t testing.TB, p *Probe) control.Snapshot {
	t.Helper()
	s, err := p.Read(ctxOf(t))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return s
}

// until reads until ok is content.
func until(t testing.TB, p *Probe, what string, ok func(control.Snapshot) bool) control.Snapshot {
	t.Helper()
	var s control.Snapshot
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(150 * time.Millisecond) {
		if s, err = p.Read(ctxOf(t)); err == nil && ok(s) {
			return s
		}
	}
	t.Fatalf("never: %s\nlast: %+v\nerror: %v", what, s, err)
	return s
}

func of(s control.Snapshot, queue string) control.Reading {
	for _, r := range s.Readings {
		if r.Queue == queue {
			return r
		}
	}
	return control.Reading{}
}

func problemIn(s control.Snapshot, part string) (control.Problem, bool) {
	for _, p := range s.Problems {
		if p.Part == part {
			return p, true
		}
	}
	return control.Problem{}, false
}

const insert = `select id from awa.insert_job_compat('k', $1)`

// begun is a session inside a transaction that has enqueued into queue.
func begun(t testing.TB, d *pgtest.DB, queue, app string) (*pgx.Conn, pgx.Tx) {
	t.Helper()
	conn := d.Connect(t)
	exec(t, conn, `select set_config('application_name', $1, false)`, app)
	tx, err := conn.Begin(ctxOf(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctxOf(t), insert, queue); err != nil {
		t.Fatal(err)
	}
	return conn, tx
}

// inLine starts n sessions that enqueue into queue once and end; join waits
// for them.
func inLine(t testing.TB, d *pgtest.DB, queue string, n int) (join func()) {
	t.Helper()
	done := make(chan error, n)
	for range n {
		conn := d.Connect(t)
		go func() {
			_, err := conn.Exec(context.Background(), insert, queue)
			done <- err
		}()
	}
	return func() {
		t.Helper()
		for range n {
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("enqueue: %v", err)
				}
			case <-time.After(patience):
				t.Fatal("a producer never came through")
			}
		}
	}
}
