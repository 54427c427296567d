package db

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// catalogueOf is a picture of everything in a database that has a name, with
// its privileges.
func catalogueOf(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return scan[string](t, conn, `
		SELECT coalesce(string_agg(line, E'\n' ORDER BY line), '') FROM (
		  SELECT 'namespace ' || nspname || coalesce(nspacl::text, '') AS line FROM pg_namespace WHERE nspname NOT LIKE 'pg\_t%'
		  UNION ALL SELECT 'class ' || n.nspname || '.' || relname || relkind::text || coalesce(relacl::text, '')
		    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname NOT LIKE 'pg\_t%'
		  UNION ALL SELECT 'proc ' || pronamespace::regnamespace || '.' || proname FROM pg_proc
		  UNION ALL SELECT 'type ' || typnamespace::regnamespace || '.' || typname FROM pg_type
		  UNION ALL SELECT 'constraint ' || connamespace::regnamespace || '.' || conname FROM pg_constraint
		  UNION ALL SELECT 'default acl ' || defaclrole::regrole || defaclacl::text FROM pg_default_acl) x`)
}

func install(t *testing.T, conn *pgx.Conn) (before int) {
	t.Helper()
	before, err := Install(within(t), conn)
	if err != nil {
		t.Fatal(err)
	}
	return before
}

func TestInstallAndUninstallLeaveNothingBehind(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := d.Connect(t)
		was := catalogueOf(t, conn)
		if before := install(t, conn); before != 0 {
			t.Errorf("version %d before the first install", before)
		}
		once := catalogueOf(t, conn)
		if once == was {
			t.Fatal("nothing was installed")
		}
		if before := install(t, conn); before != SchemaVersion {
			t.Errorf("the second install found version %d", before)
		}
		if twice := catalogueOf(t, conn); twice != once {
			t.Error("the second install changed something")
		}
		state, err := SchemaState(within(t), conn)
		if err != nil || !state.Usable() || state.Owner != "postgres" {
			t.Errorf("%+v %v", state, err)
		}
		for _, want := range []bool{true, false} {
			removed, err := Uninstall(within(t), conn, false)
			if err != nil || removed != want {
				t.Errorf("removed %v, %v", removed, err)
			}
		}
		if after := catalogueOf(t, conn); after != was {
			t.Errorf("left behind:\n%s", after)
		}
	})
}

func TestEmptySchemaOfThatNameIsUsed(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	run(t, conn, "CREATE SCHEMA shardpilot")
	install(t, conn)
}

func TestForeignAndNewerSchemasAreLeftAlone(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	run(t, conn, "CREATE SCHEMA shardpilot", "CREATE VIEW shardpilot.theirs AS SELECT 1")
	was := catalogueOf(t, conn)
	_, err := Install(within(t), conn)
	wantFault(t, err, control.FaultRefused, "not ours", "shardpilot.theirs")
	if _, err := Uninstall(within(t), conn, true); err == nil {
		t.Error("somebody else's schema was uninstalled")
	}
	if catalogueOf(t, conn) != was {
		t.Error("something was changed")
	}
	run(t, conn, "DROP SCHEMA shardpilot CASCADE")

	install(t, conn)
	run(t, conn, "INSERT INTO shardpilot.version (version) VALUES (99)")
	_, err = Install(within(t), conn)
	wantFault(t, err, control.FaultRefused, "99", "newer")
	_, err = Uninstall(within(t), conn, false)
	wantFault(t, err, control.FaultRefused, "99")
	run(t, conn, "DELETE FROM shardpilot.version WHERE version = 99")

	run(t, conn, "CREATE TABLE shardpilot.notes (x int)", "CREATE FUNCTION shardpilot.f() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	_, err = Uninstall(within(t), conn, false)
	wantFault(t, err, control.FaultRefused, "shardpilot.notes", "shardpilot.f()")
	run(t, conn, "DROP TABLE shardpilot.notes", "DROP FUNCTION shardpilot.f()", "CREATE VIEW public.built_on AS SELECT queue FROM shardpilot.policy")
	_, err = Uninstall(within(t), conn, false)
	wantFault(t, err, control.FaultRefused, "depend")
	if removed, err := Uninstall(within(t), conn, true); err != nil || !removed {
		t.Errorf("%v %v", removed, err)
	}
}

func TestInstallersWaitForEachOther(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		const n = 4
		var conns [n]*pgx.Conn
		for i := range conns {
			conns[i] = d.Connect(t)
		}
		var befores [n]int
		var errs [n]error
		var wg sync.WaitGroup
		for i, conn := range conns {
			wg.Go(func() { befores[i], errs[i] = Install(within(t), conn) })
		}
		wg.Wait()
		first := 0
		for i := range n {
			if errs[i] != nil {
				t.Error(errs[i])
			}
			if befores[i] == 0 {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d installers found nothing", first)
		}
	})
}

func TestRoleWithoutCreateIsToldSo(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	role := "nobody " + d.Name
	addRole(t, d, role, "")
	conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
	_, err := Install(within(t), conn)
	wantFault(t, err, control.FaultRefused, "install the schema", "permission denied")
	install(t, d.Connect(t))
	state, err := SchemaState(within(t), conn)
	if err != nil || !state.There || !state.Hidden {
		t.Errorf("%+v %v", state, err)
	}
	_, err = Uninstall(within(t), conn, false)
	wantFault(t, err, control.FaultRefused, "closed to this role", "postgres")
}

// The tables refuse what no program of ours should write.
func TestTablesRefuseNonsense(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	install(t, conn)
	for _, s := range []string{
		`policy (queue, auto, updated_by) VALUES ('q', true, 'me')`,
		`policy (queue, auto, max_shards, updated_by) VALUES ('q', true, 4, 'me')`,
		`policy (queue, max_shards, updated_by) VALUES ('q', 65, 'me')`,
		`policy (queue, enforced, updated_by) VALUES ('q', true, 'me')`,
		`policy (queue, pin_shards, updated_by) VALUES ('q', 2, 'me')`,
		`policy (queue, pin_shards, pin_by, pin_why, updated_by) VALUES ('q', 0, 'a', '', 'me')`,
		`policy (queue, pin_until, updated_by) VALUES ('q', now(), 'me')`,
		`policy (queue, pause_up_at, updated_by) VALUES ('q', now(), 'me')`,
		`policy (queue, accepted_by, updated_by) VALUES ('q', 'a', 'me')`,
		`policy (queue, updated_by) VALUES ('', 'me')`,
		`decision (kind, queue, from_shards, to_shards, actor) VALUES ('rumour', 'q', 1, 2, 'me')`,
		`decision (kind, queue, from_shards, to_shards, actor) VALUES ('change', 'q', 1, 2, 'me')`,
		`decision (kind, queue, from_shards, to_shards, actor) VALUES ('verdict', 'q', 1, 2, 'me')`,
		`decision (kind, queue, from_shards, to_shards, actor) VALUES ('decision', 'q', 1, 2, '')`,
		`decision (kind, queue, from_shards, to_shards, actor, evidence) VALUES ('decision', 'q', 1, 2, 'me', '[]')`,
		`pending (queue, from_shards, to_shards, generation, reason, created_at, expires_at) VALUES ('q', 2, 2, 1, '', now(), now() + '1 s')`,
		`pending (queue, from_shards, to_shards, generation, reason, created_at, expires_at) VALUES ('q', 1, 2, 1, '', now(), now())`,
		`leader (singleton) VALUES (false)`, `leader (singleton) VALUES (true)`,
		`producer (instance_id, queue, shards) VALUES ('', 'q', 1)`, `producer (instance_id, queue, shards) VALUES ('i', 'q', 65)`,
	} {
		if _, err := conn.Exec(within(t), "INSERT INTO shardpilot."+s); !strings.HasPrefix(codeOf(err), "23") {
			t.Errorf("accepted: %s (%v)", s, err)
		}
	}
}
