package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
)

// Main ends the process, so what it does at the end is seen from a second one.
const innerEnv = "SHARDPILOT_TEST_PGTEST_INNER"

func TestMain(m *testing.M) {
	if os.Getenv(innerEnv) != "" {
		pgtest.Cleanup(func() { fmt.Println("cleaned first given") })
		pgtest.Cleanup(func() { fmt.Println("cleaned last given") })
	}
	pgtest.Main(m)
}

func TestMainCleansUpAndLeavesNoServer(t *testing.T) {
	if os.Getenv(innerEnv) != "" {
		fmt.Println("folder", pgtest.One(t).Server.Dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestMainCleansUpAndLeavesNoServer$")
	cmd.Env = append(os.Environ(), innerEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := string(out)
	if first, last := strings.Index(said, "cleaned first"), strings.Index(said, "cleaned last"); last < 0 || first < last {
		t.Errorf("cleanups did not run, last given first:\n%s", said)
	}
	_, rest, ok := strings.Cut(said, "folder ")
	dir, _, _ := strings.Cut(rest, "\n")
	if !ok || !strings.Contains(dir, "shardpilot-pg-") {
		t.Fatalf("no folder in:\n%s", said)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

func ask[T any](t *testing.T, conn *pgx.Conn, statement string) T {
	t.Helper()
	var answer T
	if err := conn.QueryRow(context.Background(), statement).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

func TestEachRunsOnEveryVersionAskedFor(t *testing.T) {
	ran := map[string]bool{}
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		number := ask[string](t, conn, `SHOW server_version_num`)
		if !strings.HasPrefix(number, d.Version) {
			t.Errorf("asked for %s, got %s", d.Version, number)
		}
		if enc := ask[string](t, conn, `SHOW server_encoding`); enc != "UTF8" {
			t.Errorf("encoding %s", enc)
		}
		t.Log(d.Server.Where)
		ran[d.Version] = true
	})
	for _, v := range pgtest.Versions() {
		if !ran[v] {
			t.Errorf("version %s did not run", v)
		}
	}
}

func TestEveryTestGetsADatabaseOfItsOwnThatIsDroppedAfterIt(t *testing.T) {
	var names []string
	for range 2 {
		t.Run("one", func(t *testing.T) {
			d := pgtest.One(t)
			names = append(names, d.Name)
			conn := d.Connect(t)
			if n := ask[int](t, conn, `SELECT count(*) FROM pg_class WHERE relname = 'left_over'`); n != 0 {
				t.Error("the database was used before")
			}
			if _, err := conn.Exec(context.Background(), `CREATE TABLE left_over ()`); err != nil {
				t.Fatal(err)
			}
			// Left open on purpose, by somebody who does not close: the drop is forced.
			if _, err := pgx.Connect(context.Background(), d.URL); err != nil {
				t.Fatal(err)
			}
		})
	}
	if len(names) != 2 || names[0] == names[1] {
		t.Fatalf("names %v", names)
	}
	conn := pgtest.One(t).Connect(t)
	rows, err := conn.Query(context.Background(), `SELECT datname FROM pg_database`)
	if err != nil {
		t.Fatal(err)
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if slices.Contains(there, name) {
			t.Errorf("%s was not dropped", name)
		}
	}
}

func TestAServerOfOnesOwnTakesSettingsAndCanGoAway(t *testing.T) {
	ctx := context.Background()
	d := pgtest.NewServer(t, "18", map[string]string{"track_commit_timestamp": "on"})
	if got := ask[string](t, d.Connect(t), `SHOW track_commit_timestamp`); got != "on" {
		t.Fatalf("track_commit_timestamp is %s", got)
	}
	if err := d.Server.StopServer(ctx); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(ctx, d.URL); err == nil {
		_ = conn.Close(ctx)
		t.Fatal("connected to a server that is away")
	}
	if err := d.Server.StartAgain(ctx); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, d.Connect(t), `SELECT current_database()::text`); got != d.Name {
		t.Fatalf("in %s", got)
	}
	shared := pgtest.One(t)
	if shared.Server.Port == d.Server.Port {
		t.Fatal("the shared server is not apart")
	}
}
