package rehearsal_test

import (
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// everything counts what a schema can leave behind.
const everything = `
	SELECT format('%s namespaces, %s relations, %s functions, %s types, %s default privileges, %s dependencies',
		(SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_'), (SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text !~ '^pg_'),
		(SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_type WHERE typnamespace::regnamespace::text !~ '^pg_'), (SELECT count(*) FROM pg_default_acl),
		(SELECT count(*) FROM pg_shdepend WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())))`

func TestInstallAndUninstallLeaveNothing(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		owner, producer := roles(t, d, conn)
		before := ask[string](t, conn, everything)
		install(t, conn, rehearsal.Options{Storage: "Jobs of \"us\"", Owner: owner, Producers: []string{producer}})
		if err := rehearsal.Provision(within(t), conn, "q", 51, 1, 4); err != nil {
			t.Fatal(err)
		}
		if n := ask[int](t, conn, `SELECT count(*) FROM pg_class WHERE relkind = 'S'`); n != 2*2*51+1 {
			t.Errorf("%d sequences for 102 lanes", n)
		}
		if err := rehearsal.Uninstall(within(t), conn); err != nil {
			t.Fatal(err)
		}
		if after := ask[string](t, conn, everything); after != before {
			t.Errorf("before: %s\nafter:  %s", before, after)
		}
	})
}

// roles makes an owner and a producer role for this test's database.
func roles(t *testing.T, d *pgtest.DB, conn *pgx.Conn) (owner, producer string) {
	t.Helper()
	owner, producer = d.Name+" owner", d.Name+" producer"
	for _, role := range []string{owner, producer} {
		name := pgx.Identifier{role}.Sanitize()
		do(t, conn, "CREATE ROLE "+name+" LOGIN PASSWORD 'pw'")
		t.Cleanup(func() {
			do(t, conn, "DROP OWNED BY "+name+" CASCADE")
			do(t, conn, "DROP ROLE "+name)
		})
	}
	return owner, producer
}

// as is the database's URL for another role.
func as(t *testing.T, d *pgtest.DB, role string) string {
	t.Helper()
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "pw")
	return u.String()
}

func TestAnInstallationLooksLikeAwa(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		install(t, conn, rehearsal.Options{Storage: "apart", Version: 41})
		for statement, want := range map[string]string{
			`SELECT state || ' ' || active_engine FROM awa.storage_status()`: "active queue_storage",
			`SELECT awa.active_queue_storage_schema()`:                       "apart",
			`SELECT max(version)::text FROM awa.schema_version`:              "41",
			`SELECT coalesce(to_regclass('apart.ready_segments')::text, '')`: "apart.ready_segments",
			`SELECT (position('pg_advisory_xact_lock' IN pg_get_functiondef(
				'apart.reserve_enqueue_seq(text,smallint,smallint,bigint)'::regprocedure)) > 0)::text`: "true",
		} {
			if got := ask[string](t, conn, statement); got != want {
				t.Errorf("%s: %q, want %q", statement, got, want)
			}
		}
	})
}

func TestStatesWithoutQueueStorageTakeNoJobs(t *testing.T) {
	for state, takes := range map[string]bool{"canonical": false, "prepared": false, "mixed_transition": true} {
		d := pgtest.One(t)
		conn := d.Connect(t)
		install(t, conn, rehearsal.Options{State: state})
		_, err := conn.Exec(within(t), `SELECT awa.insert_job_compat('x', 'q')`)
		if (err == nil) != takes {
			t.Errorf("%s: %v", state, err)
		}
		if schema := ask[*string](t, conn, `SELECT awa.active_queue_storage_schema()`); (schema != nil) != takes {
			t.Errorf("%s: storage schema %v", state, schema)
		}
	}
}

func TestInstallRefusesWhereAwaIsAndUninstallTouchesNoRealOne(t *testing.T) {
	refused := func(err error) bool {
		var f *control.Fault
		return errors.As(err, &f) && f.Kind == control.FaultRefused && f.Hint != ""
	}
	conn := pgtest.One(t).Connect(t)
	if err := rehearsal.Uninstall(within(t), conn); !refused(err) {
		t.Errorf("uninstall from nothing: %v", err)
	}
	do(t, conn, `CREATE SCHEMA awa`)
	do(t, conn, `CREATE TABLE awa.precious ()`)
	if err := rehearsal.Install(within(t), conn, rehearsal.Options{}); !refused(err) {
		t.Errorf("install over a foreign schema: %v", err)
	}
	if err := rehearsal.Uninstall(within(t), conn); !refused(err) {
		t.Errorf("uninstall of a foreign schema: %v", err)
	}
	do(t, conn, `TABLE awa.precious`)

	other := pgtest.One(t).Connect(t)
	do(t, other, `CREATE SCHEMA s`)
	if err := rehearsal.Install(within(t), other, rehearsal.Options{Storage: "s"}); !refused(err) {
		t.Errorf("install into a schema that exists: %v", err)
	}
	if ask[bool](t, other, `SELECT to_regnamespace('awa') IS NOT NULL`) {
		t.Error("a refused installation left a schema")
	}
}

func TestAProducerRoleEnqueuesIntoLanesOfTheOwnerAndNewOnes(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := d.Connect(t)
		owner, producer := roles(t, d, admin)
		install(t, admin, rehearsal.Options{Owner: owner, Producers: []string{producer}})

		do(t, admin, `SET ROLE `+pgx.Identifier{owner}.Sanitize())
		if err := rehearsal.Provision(within(t), admin, "q", 1); err != nil {
			t.Fatal(err)
		}
		do(t, admin, `RESET ROLE`)

		conn := d.ConnectAs(t, as(t, d, producer))
		do(t, conn, `SELECT awa.insert_job_compat('x', 'q')`)
		do(t, conn, `SELECT awa.insert_job_compat('x', 'a queue of its own')`)
		if n := ask[int](t, admin, `SELECT count(*) FROM awa.jobs`); n != 2 {
			t.Errorf("%d jobs", n)
		}
		if _, err := conn.Exec(within(t), `SELECT * FROM awa.runtime_instances`); err == nil {
			t.Error("a producer may read more than it needs")
		}
		// A lane that somebody else made is the trap that provisioning must avoid.
		if err := rehearsal.Provision(within(t), admin, "q", 2); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Exec(within(t), `SELECT awa.reserve_enqueue_seq('q', 2::smallint, 1::smallint, 1)`)
		if code(err) != "42501" {
			t.Errorf("a lane of the wrong owner: %v", err)
		}
	})
}
