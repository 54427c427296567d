package db

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func discover(t *testing.T, conn *pgx.Conn, newer bool) control.Installation {
	t.Helper()
	inst, err := Discover(within(t), conn, newer)
	if err != nil {
		t.Fatal(err)
	}
	if inst.Sentence == "" {
		t.Errorf("%s explains nothing", inst.State)
	}
	if !inst.MayWrite && inst.Hint == "" {
		t.Errorf("%s gives no next step", inst.State)
	}
	return inst
}

func TestEveryKindOfInstallationHasItsState(t *testing.T) {
	const odd = `Lanes "of" Ünï`
	type want struct {
		state        control.AwaState
		watch, write bool
		words        string
	}
	for name, c := range map[string]struct {
		install rehearsal.Options
		after   []string // what happens to it then
		newer   bool
		want
	}{
		"active": {want: want{control.AwaActive, true, true, `"awa"`}},
		"the oldest finalized": {install: rehearsal.Options{Version: 40},
			want: want{control.AwaActive, true, true, "40"}},
		"another storage schema": {install: rehearsal.Options{Storage: odd},
			want: want{control.AwaActive, true, true, `"Lanes ""of"" Ünï"`}},
		"canonical":      {install: rehearsal.Options{State: "canonical"}, want: want{control.AwaCanonical, false, false, "canonical"}},
		"prepared":       {install: rehearsal.Options{State: "prepared"}, want: want{control.AwaCanonical, false, false, "prepared"}},
		"mid-transition": {install: rehearsal.Options{State: "mixed_transition"}, want: want{control.AwaTransition, true, false, "moving"}},
		"newer":          {install: rehearsal.Options{Version: 44}, want: want{control.AwaNewer, true, false, "44"}},
		"newer, allowed": {install: rehearsal.Options{Version: 44}, newer: true, want: want{control.AwaNewer, true, true, "allowed"}},
		"newer, allowed, and a probe fails": {install: rehearsal.Options{Version: 44}, newer: true,
			after: []string{`ALTER TABLE awa.queue_meta RENAME enqueue_shards TO s`}, want: want{control.AwaNewer, true, false, "enqueue_shards"}},
		"too old": {install: rehearsal.Options{Version: 38}, want: want{control.AwaTooOld, true, false, "38"}},
		"the edited migration": {after: []string{`ALTER TABLE awa.queue_meta DROP COLUMN enqueue_shards`},
			want: want{control.AwaTooOld, true, false, "awa.queue_meta.enqueue_shards"}},
		"reserve without a lock": {after: []string{
			`CREATE OR REPLACE FUNCTION awa.reserve_enqueue_seq(p_queue text, p_priority smallint, p_enqueue_shard smallint, p_count bigint)
			 RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'`},
			want: want{control.AwaTooOld, true, false, "advisory lock"}},
		"no segments": {after: []string{`ALTER TABLE awa.ready_segments RENAME TO gone`},
			want: want{control.AwaTooOld, false, false, "ready_segments"}},
		"a schema of that name only": {after: []string{`DROP SCHEMA awa CASCADE`, `CREATE SCHEMA awa`},
			want: want{control.AwaNotInstalled, false, false, "not Awa's"}},
		"nothing": {after: []string{`DROP SCHEMA awa CASCADE`}, want: want{control.AwaNotInstalled, false, false, "no Awa"}},
		"before storage states": {after: []string{`DROP SCHEMA awa CASCADE`, `CREATE SCHEMA awa`, `CREATE TABLE awa.schema_version (version int)`,
			`INSERT INTO awa.schema_version VALUES (7)`}, want: want{control.AwaTooOld, false, false, "version 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pgtest.One(t)
			conn := withAwa(t, d, c.install)
			run(t, conn, c.after...)
			inst := discover(t, conn, c.newer)
			if inst.State != c.state || inst.MayWatch != c.watch || inst.MayWrite != c.write || !strings.Contains(inst.Sentence, c.words) {
				t.Errorf("%+v", inst)
			}
		})
	}
}

func TestDiscoveryIsTheSameOnEveryServer(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := withAwa(t, d, rehearsal.Options{})
		if inst := discover(t, conn, false); inst.State != control.AwaActive || inst.Schema != "awa" || inst.Version != 43 {
			t.Errorf("%+v", inst)
		}
	})
}

// A role starts with nothing and runs, as superuser, exactly what it is told.
func TestPrintedGrantsOpenWhatIsHidden(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := withAwa(t, d, rehearsal.Options{Storage: `St"or"age`})
		role := `watch "er" ` + d.Name
		addRole(t, d, role, "")
		conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})

		tx, err := conn.Begin(within(t)) // nothing may fail inside a transaction either
		if err != nil {
			t.Fatal(err)
		}
		for round := 0; ; round++ {
			inst := discover(t, conn, false)
			if inst.State == control.AwaActive {
				break
			}
			if inst.State != control.AwaHidden || inst.MayWatch || !strings.Contains(inst.Hint, "GRANT") {
				t.Fatalf("%+v", inst)
			}
			if round > 2 {
				t.Fatalf("still hidden after %d rounds: %s", round, inst.Hint)
			}
			run(t, admin, inst.Hint)
		}
		if err := tx.Rollback(within(t)); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrationOfAwaIsNoticed(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn, other := d.Connect(t), d.Connect(t)
		running := func() bool {
			t.Helper()
			b, err := MigrationRunning(within(t), conn)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if running() {
			t.Error("nobody migrates")
		}
		// The same numbers as two int4 keys are another lock.
		run(t, other, "SELECT pg_advisory_lock(1096237407, 1296648018)")
		if running() {
			t.Error("a two-key lock was taken for Awa's")
		}
		key := int64(1096237407)<<32 | 1296648018
		run(t, other, fmt.Sprintf("SELECT pg_advisory_lock(%d)", key))
		if !running() {
			t.Error("not noticed")
		}
		run(t, other, "SELECT pg_advisory_unlock_all()")
		if running() {
			t.Error("still noticed")
		}
	})
}
