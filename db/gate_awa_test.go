package db

import (
	"fmt"
	"testing"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// realAwa makes a real Awa in d under a role, and takes its queue storage into
// use.
func realAwa(t testing.TB, d *pgtest.DB, owner string) {
	t.Helper()
	admin := d.Connect(t)
	run(t, admin, "GRANT CREATE ON DATABASE "+ident(d.Name)+" TO "+ident(owner))
	pgtest.MigrateAwa(t, asRole(t, d, owner, "pw of role"))
	run(t, admin, "SET ROLE "+ident(owner))
	if !scan[bool](t, admin, "SELECT awa.storage_auto_finalize_if_fresh('awa')") {
		t.Fatal("Awa did not take its queue storage into use")
	}
}

// producerGrants is what a SQL producer of a real Awa needs in order to use
// lanes that are there: the triggers of 0.6.9 run as the producer and name the
// sequence in CREATE SEQUENCE IF NOT EXISTS, which asks for CREATE on the schema
// even when there is nothing to create, and set it, which asks for UPDATE. The
// runtime grants of Awa's own guide (USAGE, SELECT on sequences) are not enough.
func producerGrants(role string) []string {
	to := " TO " + ident(role)
	return []string{
		"GRANT USAGE, CREATE ON SCHEMA awa" + to,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA awa" + to,
		"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA awa" + to,
		"GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA awa" + to,
	}
}

// One real Awa a version serves all, since making one takes seconds.
func TestAwaGate(t *testing.T) {
	noEnv(t)
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			owner := "owner " + d.Name
			addRole(t, d, owner, "")
			realAwa(t, d, owner)
			t.Run("is left as it was by install and uninstall", func(t *testing.T) { awaUntouched(t, d) })
			install(t, d.Connect(t))
			t.Run("flips under producers of another role", func(t *testing.T) { awaFlips(t, d, owner) })
			t.Run("does not wait for a producer of a lane in use", func(t *testing.T) { awaHolder(t, d, owner) })
			t.Run("is what keeps producers from failing", func(t *testing.T) { awaPassedBy(t, d, owner) })
		})
	}
}

func awaUntouched(t *testing.T, d *pgtest.DB) {
	conn := d.Connect(t)
	was := catalogueOf(t, conn)
	install(t, conn)
	if catalogueOf(t, conn) == was {
		t.Fatal("nothing was installed")
	}
	if removed, err := Uninstall(within(t), conn, false); err != nil || !removed {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if after := catalogueOf(t, conn); after != was {
		t.Errorf("Awa's database is another now:\n%s", after)
	}
}

func awaFlips(t *testing.T, d *pgtest.DB, owner string) {
	producer, pilot := "producer "+d.Name, "pilot "+d.Name
	addRole(t, d, producer, "")
	addRole(t, d, pilot, "NOINHERIT") // what the owner may do it may do only as the owner
	admin := d.Connect(t)
	// The owner enqueues first, so the lane of shard 0 is the owner's.
	conn := d.ConnectAs(t, asRole(t, d, owner, "pw of role"))
	if _, err := conn.Exec(within(t), `SELECT awa.insert_job_compat(p_kind => 'k', p_queue => 'orders')`); err != nil {
		t.Fatal(err)
	}
	run(t, admin, producerGrants(producer)...)
	grantLevel(t, admin, pilot)
	g := &gateScene{t: t, d: d, admin: admin, queue: "orders"}
	g.allow()
	gate := newGate(t, asRole(t, d, pilot, "pw of role"), first, GateOptions{Mode: control.ModeEnforced})

	load := startProducers(t, d, asRole(t, d, producer, "pw of role"), g.queue, 16)
	load.more(t, 32)
	from := 1
	for _, to := range []int{2, 4, 1, 4} {
		s := g.hand(from, to)
		s.Drained = false // nobody works here; the person forced it
		g.through(gate, s, control.OutcomeApplied)
		load.more(t, 64)
		from = to
	}
	if errs := load.stop(); len(errs) > 0 {
		t.Errorf("%d of 16 producers failed: %v", len(errs), errs[0])
	}
	g.sameAsShardZero()
	used := scan[int](t, admin, `SELECT count(DISTINCT enqueue_shard)::int FROM awa.ready_entries WHERE queue = 'orders'`)
	rows := scan[int64](t, admin, `SELECT count(*) FROM awa.ready_entries WHERE queue = 'orders'`)
	if used != 4 || rows != load.jobs.Load()+1 {
		t.Errorf("%d shards used, %d rows of %d jobs", used, rows, load.jobs.Load()+1)
	}
	g.through(gate, g.own(4, 2), control.OutcomeRefused, "not drained", "jobs left in 2 of 2 lanes")
	t.Logf("%d jobs, no error", rows)
}

func awaHolder(t *testing.T, d *pgtest.DB, owner string) {
	admin := d.Connect(t)
	holder := d.ConnectAs(t, asRole(t, d, owner, "pw of role"))
	enqueue := func(priority int) {
		t.Helper()
		if _, err := holder.Exec(within(t), `SELECT awa.insert_job_compat(p_kind => 'k', p_queue => 'held', p_priority => $1)`, priority); err != nil {
			t.Fatal(err)
		}
	}
	enqueue(1)
	enqueue(3)
	run(t, holder, "BEGIN")
	enqueue(1)
	g := &gateScene{t: t, d: d, admin: admin, queue: "held", gate: newGate(t, d.URL, first, GateOptions{Mode: control.ModeEnforced})}
	g.allow()
	g.apply(g.own(1, 2), control.OutcomeApplied, "2 lanes made")
	g.apply(g.hand(2, 16), control.OutcomeApplied, "28 lanes made")
	g.apply(g.own(16, 8), control.OutcomeApplied)
	g.sameAsShardZero()
	run(t, holder, "COMMIT")

	migrating := d.Connect(t)
	run(t, migrating, "SELECT pg_advisory_lock((1096237407::int8 << 32) | 1296648018)")
	g.apply(g.own(8, 4), control.OutcomeRefused, "migration lock")
	run(t, migrating, "SELECT pg_advisory_unlock_all()")
	g.apply(g.own(8, 4), control.OutcomeApplied)
}

func awaPassedBy(t *testing.T, d *pgtest.DB, owner string) {
	admin := d.Connect(t)
	for round := range 50 {
		queue := fmt.Sprintf("queue %d", round)
		conn := d.ConnectAs(t, asRole(t, d, owner, "pw of role"))
		if _, err := conn.Exec(within(t), `SELECT awa.insert_job_compat(p_kind => 'k', p_queue => $1)`, queue); err != nil {
			t.Fatal(err)
		}
		load := startProducers(t, d, asRole(t, d, owner, "pw of role"), queue, 16)
		load.more(t, 32)
		if load.failed() {
			t.Fatal(load.stop())
		}
		if _, err := admin.Exec(within(t), `INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ($1, 8)
			ON CONFLICT (queue) DO UPDATE SET enqueue_shards = 8`, queue); err != nil {
			t.Fatal(err)
		}
		load.more(t, 64)
		if errs := load.stop(); len(errs) > 0 {
			t.Logf("round %d: %d producers failed: %v", round, len(errs), errs[0])
			return
		}
	}
	t.Fatal("50 raises without lanes, and not one producer failed")
}
