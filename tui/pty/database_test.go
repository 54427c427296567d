package pty

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func do(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(bounded(t), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var out T
	if err := conn.QueryRow(bounded(t), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// furnish installs an Awa-compatible schema in d, shardpilot's own beside it,
// and queues on the given counts.
func furnish(t testing.TB, d *pgtest.DB, queues map[string]int) *pgx.Conn {
	t.Helper()
	conn := d.Connect(t)
	installAwa(t, conn, rehearsal.Options{})
	if _, err := db.Install(bounded(t), conn); err != nil {
		t.Fatal(err)
	}
	for name, shards := range queues {
		addQueue(t, conn, name, shards)
	}
	return conn
}

func installAwa(t testing.TB, conn *pgx.Conn, o rehearsal.Options) {
	t.Helper()
	if err := rehearsal.Install(bounded(t), conn, o); err != nil {
		t.Fatal(err)
	}
}

func addQueue(t testing.TB, conn *pgx.Conn, name string, shards int) {
	t.Helper()
	if err := rehearsal.Provision(bounded(t), conn, name, shards, 2); err != nil {
		t.Fatal(err)
	}
	if err := rehearsal.SetShards(bounded(t), conn, name, shards); err != nil {
		t.Fatal(err)
	}
}

// load runs a shape of the demo on d until the test ends.
func load(t testing.TB, d *pgtest.DB, shape string, change func(*rehearsal.Spec)) *rehearsal.Running {
	t.Helper()
	spec, err := rehearsal.Shape(shape, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&spec)
	}
	r, err := rehearsal.Run(context.Background(), d.URL, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopLoad(t, r) })
	return r
}

func stopLoad(t testing.TB, r *rehearsal.Running) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// optIn lets the controller decide about a queue in shadow.
func optIn(t testing.TB, d *pgtest.DB, queue string, most int) {
	t.Helper()
	store := openStore(t, d)
	p, err := store.Policy(bounded(t), queue)
	if err != nil {
		t.Fatal(err)
	}
	p.Auto, p.Max, p.AcceptedBy, p.AcceptedAt, p.UpdatedBy = true, most, "erika@test", time.Now(), "erika@test"
	if err := store.SetPolicy(bounded(t), p, control.LogEntry{Mode: control.ModeShadow, Reason: control.ReasonModeSet,
		Verb: control.VerbAuto, Actor: "erika@test"}); err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, d *pgtest.DB) *db.Store {
	t.Helper()
	cfg, err := db.Parse(d.URL, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := db.NewStore(cfg, nil)
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	return store
}

// role makes a login role that may do what the grants say, and returns its URL.
func role(t testing.TB, d *pgtest.DB, admin *pgx.Conn, name string, grants ...string) string {
	t.Helper()
	name += "_" + d.Name
	do(t, admin, `CREATE ROLE `+name+` LOGIN PASSWORD 'right'`)
	for _, g := range grants {
		do(t, admin, strings.ReplaceAll(g, "ROLE", name))
	}
	t.Cleanup(func() { // the database goes with its grants
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, sql := range []string{`DROP OWNED BY ` + name + ` CASCADE`, `DROP ROLE ` + name} {
			if _, err := admin.Exec(ctx, sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
	return as(t, d.URL, url.UserPassword(name, "right"))
}

// as is a URL with another user.
func as(t testing.TB, raw string, user *url.Userinfo) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	u.User = user
	return u.String()
}

// at is a URL with another database.
func at(t testing.TB, raw, database string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}
