package rehearsal_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience bounds every wait for a condition; the machine may be busy.
const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	return ctx
}

func install(t *testing.T, conn *pgx.Conn, o rehearsal.Options) {
	t.Helper()
	if err := rehearsal.Install(within(t), conn, o); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(within(t), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func ask[T any](t *testing.T, conn *pgx.Conn, statement string, args ...any) T {
	t.Helper()
	var answer T
	if err := conn.QueryRow(within(t), statement, args...).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

// start runs a load that stops, joined, when the test ends at the latest.
func start(t *testing.T, d *pgtest.DB, spec rehearsal.Spec) *rehearsal.Running {
	t.Helper()
	if spec.OnError == nil {
		spec.OnError = func(i rehearsal.Incident) { t.Logf("%s %q: %s: %v", i.Role, i.Queue, i.Class, i.Err) }
	}
	r, err := rehearsal.Run(within(t), d.URL, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return r
}

func stop(t *testing.T, r *rehearsal.Running) {
	t.Helper()
	if err := r.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
	}
}
