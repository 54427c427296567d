package rehearsal_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// waitsByCause samples pg_locks n times and returns how many sessions waited
// for an advisory lock in all samples, and how many of them behind a holder
// that itself stood in line for the commit lock of notifying transactions.
func waitsByCause(t *testing.T, conn *pgx.Conn, n int) (all, behindNotify int) {
	t.Helper()
	const look = `
		WITH l AS MATERIALIZED (SELECT * FROM pg_locks),
		held AS (SELECT classid, objid, pid FROM l WHERE locktype = 'advisory' AND objsubid = 1 AND granted),
		line AS (SELECT classid, objid FROM l WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted),
		commits AS (SELECT pid FROM l WHERE locktype = 'object' AND classid = 1262 AND database = 0 AND objid = 0 AND NOT granted)
		SELECT count(*), count(*) FILTER (WHERE h.pid IN (SELECT pid FROM commits))
		  FROM line AS w JOIN held AS h USING (classid, objid)`
	for range n {
		var a, b int
		if err := conn.QueryRow(within(t), look).Scan(&a, &b); err != nil {
			t.Fatal(err)
		}
		all, behindNotify = all+a, behindNotify+b
		time.Sleep(10 * time.Millisecond)
	}
	return all, behindNotify
}

func TestTheNotifyShapeStandsInLineForTheCommitLock(t *testing.T) {
	versions := pgtest.Versions()
	settings := rehearsal.Settings("notify")
	settings["max_connections"] = "150"
	d := pgtest.NewServer(t, versions[len(versions)-1], settings)
	conn := d.Connect(t)
	install(t, conn, rehearsal.Options{})
	spec, err := rehearsal.Shape("notify", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, quiet := range []bool{false, true} {
		spec.Producers[0].Quiet = quiet
		r := start(t, d, spec)
		until(t, "a warm start", func() bool { return r.Stats().Enqueued > 200 })
		all, behind := waitsByCause(t, conn, 80)
		stop(t, r)
		switch {
		case all == 0:
			t.Errorf("quiet %v: nobody waited for a lane", quiet)
		case !quiet && 2*behind <= all:
			t.Errorf("%d of %d waits stood behind the commit lock, most should", behind, all)
		case quiet && behind > 0:
			t.Errorf("%d of %d waits stood behind the commit lock without a notification", behind, all)
		}
	}
}
