package pty

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// standbyOf makes a hot standby that streams from d's server, and gives the
// same database on it.
func standbyOf(t *testing.T, d *pgtest.DB, admin *pgx.Conn) *pgtest.DB {
	t.Helper()
	password := admin.Config().Password
	s := pgtest.NewServer(t, d.Version, map[string]string{"primary_conninfo": "host=127.0.0.1 port=" + strconv.Itoa(d.Server.Port) + " user=postgres password=" + password})
	conn := s.Connect(t)
	from, to := ask[string](t, admin, "SHOW data_directory"), ask[string](t, conn, "SHOW data_directory")
	_ = conn.Close(bounded(t))
	if err := s.Server.StopServer(bounded(t)); err != nil {
		t.Fatal(err)
	}
	// A cold copy: with both at rest it needs no backup mode.
	if err := d.Server.StopServer(bounded(t)); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range [][]string{{"rm", "-rf", to}, {"cp", "-a", from, to}, {"cp", "-p", filepath.Join(to, "PG_VERSION"), filepath.Join(to, "standby.signal")}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", cmd, err, out)
		}
	}
	for _, server := range []*pgtest.DB{d, s} {
		if err := server.Server.StartAgain(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	return &pgtest.DB{URL: strings.ReplaceAll(d.URL, strconv.Itoa(d.Server.Port), strconv.Itoa(s.Server.Port)), Name: d.Name, Version: d.Version, Server: s.Server}
}

// CASES 13: a hot standby is said to be one, nothing can be done on it, and
// what the primary does is seen; promoted under the dashboard it is a primary,
// and takes what a person asks for.
func TestAStandbyIsWatchedAndWrittenToAfterItsPromotion(t *testing.T) {
	t.Parallel()
	const long = 2 * patience // it looks for a lead rarely where it was refused
	d := pgtest.NewServer(t, "18", nil)
	admin := furnish(t, d, map[string]int{"orders": 1})
	optIn(t, d, "orders", 8)
	standby := standbyOf(t, d, admin)
	tm := open(t, 140, 40, nil, standby.URL, "--label", "failover")
	tm.see(`STANDBY[^§]*read-only[^§]*\[Overview\][^§]*orders`, patience)
	tm.see(`orders +n/a +n/a[^§]*a standby does not see who waits`, patience)
	tm.without("approve", "override", "p pin", "m mode", "b brake")
	for _, key := range []string{"o", "m", "p"} {
		tm.keys(key)
		tm.see(`accepts no writes|nothing can be written here`, patience)
		tm.keys("j") // takes the answer away, so that the next can be told from it
		until(t, "the answer is gone", patience, func() bool {
			return !regexp.MustCompile(`accepts no writes|nothing can be written here`).MatchString(tm.screen())
		})
	}
	primary := d.Connect(t)
	addQueue(t, primary, "streamed", 2)
	tm.see(`streamed`, long)

	conn := standby.Connect(t)
	if err := d.Server.StopServer(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if !ask[bool](t, conn, "SELECT pg_promote(true, 110)") {
		t.Fatal("not promoted")
	}
	tm.see(`/`+d.Name+` primary[^§]*\[Overview\][^§]*orders`, long)
	tm.without("STANDBY")
	tm.see(`leading`, long)
	tm.see(`orders +0 +0%`, long)
	tm.without("read-only", "a standby does not see")
	tm.keys("/", "orders", "\r", "o")
	tm.see(`Set the shard count(?s).*failover.*queue orders: 1 (→|->) `, patience)
	tm.fill("new count", "2")
	tm.see(`queue orders: 1 (→|->) 2 shards`, patience)
	tm.yes("Set", `applied: orders 1 ?(→|->) ?2`)
	if n := ask[int](t, conn, `SELECT enqueue_shards FROM awa.queue_meta WHERE queue = 'orders'`); n != 2 {
		t.Errorf("the count is %d", n)
	}
	if n := ask[int](t, conn, `SELECT count(*) FROM shardpilot.decision WHERE kind = 'change' AND outcome = $1`, string(control.OutcomeApplied)); n != 1 {
		t.Errorf("%d changes in the log", n)
	}
	tm.keys("q")
	if code := tm.ended(patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	tm.restored()
}
