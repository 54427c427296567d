package db

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func rightsOf(t *testing.T, conn *pgx.Conn, inst control.Installation) RightSet {
	t.Helper()
	set, err := Rights(within(t), conn, inst)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// lanesOf makes lanes of a queue under a role of their own.
func lanesOf(t *testing.T, admin *pgx.Conn, queue, owner string, shards int) {
	t.Helper()
	schema := ident("awa")
	if owner != "" {
		run(t, admin, "SET ROLE "+ident(owner))
	}
	if _, err := admin.Exec(within(t), "INSERT INTO "+schema+".queue_lanes (queue, priority) VALUES ($1, 2) ON CONFLICT DO NOTHING", queue); err != nil {
		t.Fatal(err)
	}
	for s := range shards {
		for _, table := range []string{"queue_enqueue_heads", "queue_claim_heads"} {
			if _, err := admin.Exec(within(t), "INSERT INTO "+schema+"."+table+" (queue, priority, enqueue_shard) VALUES ($1, 2, $2)", queue, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(t, admin, "RESET ROLE")
}

// Every right is taken away from a role that has all; what is then reported and
// printed must bring back exactly that.
func TestEachPrintedStatementMendsItsFinding(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		owner, role := `own"er `+d.Name, `rôle "x" `+d.Name
		addRole(t, d, owner, "NOLOGIN")
		addRole(t, d, role, "")
		admin := withAwa(t, d, rehearsal.Options{Owner: owner})
		lanesOf(t, admin, `q"uo'te`, owner, 2)
		if _, err := Install(within(t), admin); err != nil {
			t.Fatal(err)
		}
		conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
		inst := control.Installation{Schema: "awa"}

		mended := 0
		for round := range 3 { // what hangs on reading the lanes shows once they can be read
			for _, r := range rightsOf(t, conn, inst).Lacking() {
				run(t, admin, r.Fix)
				now := rightsOf(t, conn, inst)
				i := slices.IndexFunc(now.Rights, func(n Right) bool { return n.What == r.What && n.Level == r.Level })
				if i < 0 || !now.Rights[i].Have {
					t.Fatalf("round %d: %s did not give %s", round, r.Fix, r.What)
				}
				mended++
			}
		}
		set := rightsOf(t, conn, inst)
		if !set.May(Watch) || !set.May(Act) || len(set.Lacking()) != 0 || mended < 25 {
			t.Errorf("after %d statements: watch %v act %v, lacking %v", mended, set.May(Watch), set.May(Act), set.Lacking())
		}
		inst = discover(t, conn, false)
		if !inst.MayWrite {
			t.Errorf("%+v", inst)
		}
		// Lanes made from now on are readable too.
		lanesOf(t, admin, "later", owner, 1)
		for _, r := range rightsOf(t, conn, inst).Lacking() {
			t.Errorf("a later lane is closed: %s", r.What)
		}
		// And the role can really act as the owner.
		run(t, conn, "BEGIN", "SET LOCAL ROLE "+ident(owner), "ROLLBACK")
	})
}

func TestWatchingRoleMayWatchAndNotAct(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := withAwa(t, d, rehearsal.Options{})
		lanesOf(t, admin, "orders", "", 1)
		if _, err := Install(within(t), admin); err != nil {
			t.Fatal(err)
		}
		inst := discover(t, admin, false)
		for level, act := range map[Level]bool{Watch: false, Act: true} {
			role := string(level) + " " + d.Name
			addRole(t, d, role, "")
			list, err := Grants(within(t), admin, role, level, inst)
			if err != nil {
				t.Fatal(err)
			}
			run(t, admin, list...)
			conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
			set := rightsOf(t, conn, inst)
			if !set.May(Watch) || set.May(Act) != act {
				t.Errorf("%s: watch %v act %v, lacking %v", level, set.May(Watch), set.May(Act), set.Lacking())
			}
			for _, r := range set.Lacking() {
				if r.Level == Watch || act {
					t.Errorf("%s: the grants forgot %s", level, r.What)
				}
			}
			for _, g := range list {
				if !act && (strings.Contains(g, "INSERT") || strings.Contains(g, "UPDATE") || strings.Contains(g, "DELETE")) {
					t.Errorf("a watching role is given %s", g)
				}
			}
		}
	})
}

func TestProducerMayReportAndNothingElse(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := withAwa(t, d, rehearsal.Options{})
	if _, err := Install(within(t), admin); err != nil {
		t.Fatal(err)
	}
	role := "producer " + d.Name
	addRole(t, d, role, "")
	list, err := Grants(within(t), admin, role, Reporting, control.Installation{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, admin, list...)
	conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
	run(t, conn, `INSERT INTO shardpilot.producer (instance_id, queue, shards) VALUES ('i', 'q', 2)
		ON CONFLICT (instance_id, queue) DO UPDATE SET shards = EXCLUDED.shards, observed_at = EXCLUDED.observed_at`)
	if _, err := conn.Exec(within(t), "SELECT * FROM shardpilot.policy"); codeOf(err) != "42501" {
		t.Errorf("a producer reads the policy: %v", err)
	}
}

// A membership that exists without the options that matter is not enough.
func TestMembershipWithoutItsOptionsIsNotTakenForARight(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		owner, role := "o "+d.Name, "r "+d.Name
		addRole(t, d, owner, "NOLOGIN")
		addRole(t, d, role, "NOINHERIT")
		admin := withAwa(t, d, rehearsal.Options{Owner: owner})
		run(t, admin, "GRANT pg_monitor TO "+ident(role)) // NOINHERIT: not effective
		wanted := []string{statsRequirement().what()}
		if d.Version != "15" { // before 16 memberships have no options
			run(t, admin, fmt.Sprintf("GRANT %s TO %s WITH SET FALSE, INHERIT FALSE", ident(owner), ident(role)))
			wanted = append(wanted, actingRequirement(owner, false).what())
		}
		conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
		lacking := map[string]string{}
		for _, r := range rightsOf(t, conn, control.Installation{Schema: "awa"}).Lacking() {
			lacking[r.What] = r.Fix
		}
		for _, what := range wanted {
			fix, ok := lacking[what]
			if !ok {
				t.Errorf("%s was believed", what)
				continue
			}
			run(t, admin, fix)
		}
		for _, r := range rightsOf(t, conn, control.Installation{Schema: "awa"}).Lacking() {
			if slices.Contains(wanted, r.What) {
				t.Errorf("not mended: %s", r.What)
			}
		}
	})
}
