package db

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// sqlProducers are sessions that call Awa's own SQL function, one job a
// transaction, until stop. Each session stops at its first error.
type sqlProducers struct {
	jobs atomic.Int64
	end  atomic.Bool
	all  sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func startProducers(t testing.TB, d *pgtest.DB, url, queue string, sessions int) *sqlProducers {
	t.Helper()
	p := &sqlProducers{}
	for n := range sessions {
		conn := d.ConnectSpread(t, url, n, 8)
		p.all.Go(func() {
			for !p.end.Load() {
				if _, err := conn.Exec(context.Background(), `SELECT awa.insert_job_compat(p_kind => 'k', p_queue => $1)`, queue); err != nil {
					p.mu.Lock()
					p.errs = append(p.errs, err)
					p.mu.Unlock()
					return
				}
				p.jobs.Add(1)
			}
		})
	}
	t.Cleanup(func() { p.stop() })
	return p
}

func (p *sqlProducers) stop() []error {
	p.end.Store(true)
	p.all.Wait()
	return p.errs
}

func (p *sqlProducers) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.errs) > 0
}

// more waits for n further jobs, or an error.
func (p *sqlProducers) more(t testing.TB, n int64) {
	t.Helper()
	was := p.jobs.Load()
	eventually(t, fmt.Sprintf("%d more jobs", n), func() bool { return p.jobs.Load() >= was+n || p.failed() })
}

// grantLevel gives a role what shardpilot's own statements give it.
func grantLevel(t testing.TB, admin *pgx.Conn, role string) {
	t.Helper()
	inst, err := Discover(within(t), admin, false)
	if err != nil {
		t.Fatal(err)
	}
	grants, err := Grants(within(t), admin, role, Act, inst)
	if err != nil {
		t.Fatal(err)
	}
	run(t, admin, grants...)
}

func TestLanesBelongToTheOwnerOfTheQueueAndAreOpenToItsProducers(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		owner, producer, pilot := `own"er `+d.Name, `prod'ucer `+d.Name, `pilot `+d.Name
		addRole(t, d, owner, "NOLOGIN")
		addRole(t, d, producer, "")
		// What the owner may do it may do only as the owner: the grants see to that
		// where a membership can say so.
		addRole(t, d, pilot, map[bool]string{true: "NOINHERIT"}[d.Version == "15"])
		g := gateAt(t, d, rehearsal.Options{Owner: owner, Producers: []string{producer}})
		// The lanes of gateAt are the superuser's; these are the owner's, and no
		// default privilege helps those that follow.
		run(t, g.admin, "SET ROLE "+ident(owner))
		g.lanesFor("orders")
		run(t, g.admin, "RESET ROLE", "GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA awa TO "+ident(producer),
			"ALTER DEFAULT PRIVILEGES FOR ROLE "+ident(owner)+" IN SCHEMA awa REVOKE ALL ON SEQUENCES FROM "+ident(producer))
		g.allow()
		grantLevel(t, g.admin, pilot)
		gate := newGate(t, asRole(t, d, pilot, "pw of role"), first, GateOptions{Mode: control.ModeEnforced})

		// Without membership: refused before anything is touched, with the grant.
		run(t, g.admin, "REVOKE "+ident(owner)+" FROM "+ident(pilot))
		c := g.through(gate, g.own(1, 2), control.OutcomeRefused, "may not do that", "SET ROLE "+ident(owner))
		if g.lanes() != 2 {
			t.Error("lanes were made")
		}
		_, fix, ok := strings.Cut(c.Detail, "; GRANT ")
		if !ok {
			t.Fatal("no grant is named: " + c.Detail)
		}
		run(t, g.admin, "GRANT "+fix)
		if scan[bool](t, g.admin, `SELECT pg_has_role($1, $2, 'USAGE')`, pilot, owner) {
			t.Error("the role may all that the owner may, without becoming the owner")
		}

		load := startProducers(t, d, asRole(t, d, producer, "pw of role"), g.queue, 8)
		load.more(t, 20)
		for _, s := range []control.Step{g.own(1, 2), g.own(2, 4)} {
			g.through(gate, s, control.OutcomeApplied)
			load.more(t, 60)
		}
		if errs := load.stop(); len(errs) > 0 {
			t.Errorf("producers of another role failed: %v", errs)
		}
		if n := scan[int](t, g.admin, `SELECT count(DISTINCT enqueue_shard)::int FROM awa.ready_entries WHERE queue = $1`, g.queue); n != 4 {
			t.Errorf("%d shards were used, want 4", n)
		}
		g.sameAsShardZero()

		// Right after right is taken away; each refusal names it and changes nothing.
		for _, lost := range []string{
			"UPDATE ON awa.queue_meta", "INSERT ON awa.queue_meta", "INSERT ON shardpilot.decision", "SELECT ON awa.ready_segments",
		} {
			run(t, g.admin, "REVOKE "+lost+" FROM "+ident(pilot))
			s := g.own(4, 8)
			if strings.Contains(lost, "ready_segments") { // needed to see that lanes are drained
				s = g.own(4, 2)
			}
			if strings.Contains(lost, "decision") {
				_, err := gate.Apply(within(t), s)
				wantFault(t, err, control.FaultRefused, "not changed", "could not be logged", "decision")
			} else {
				g.through(gate, s, control.OutcomeRefused, "may not do that", "GRANT")
			}
			run(t, g.admin, "GRANT "+lost+" TO "+ident(pilot))
		}
		if g.lanes() != 8 {
			t.Errorf("%d lanes", g.lanes())
		}
		// Unknown is not empty.
		seq := scan[string](t, g.admin, `SELECT seq_name FROM awa.queue_claim_heads WHERE queue = $1 AND enqueue_shard = 3 AND priority = 2`, g.queue)
		run(t, g.admin, "REVOKE ALL ON SEQUENCE awa."+ident(seq)+" FROM "+ident(pilot))
		g.through(gate, g.own(4, 2), control.OutcomeRefused, "not drained", "is not known", "1 of 4 lanes")
	})
}

// lanesFor makes lanes of a queue under the role in force, allow opts it in.
func (g *gateScene) lanesFor(queue string) {
	g.t.Helper()
	g.queue = queue
	if err := rehearsal.Provision(within(g.t), g.admin, queue, 1, 1, 2); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateScene) allow() {
	g.t.Helper()
	g.exec(`INSERT INTO shardpilot.policy (queue, auto, enforced, max_shards, accepted_by, accepted_at, updated_by)
		VALUES ($1, true, true, 8, 'anna@bastion', now(), 'anna@bastion')`, g.queue)
}

// sameAsShardZero compares owner and privileges of every lane's sequences with
// those of shard 0.
func (g *gateScene) sameAsShardZero() {
	g.t.Helper()
	odd := scan[int](g.t, g.admin, `
		WITH s AS (
		  SELECT h.kind, h.priority, h.enqueue_shard, c.relowner,
		         (SELECT array_agg(a::text ORDER BY a::text) FROM aclexplode(coalesce(c.relacl, acldefault('s', c.relowner))) a) AS acl
		    FROM (SELECT 'e' AS kind, * FROM (SELECT priority, enqueue_shard, seq_name FROM awa.queue_enqueue_heads WHERE queue = $1) e
		          UNION ALL SELECT 'c', * FROM (SELECT priority, enqueue_shard, seq_name FROM awa.queue_claim_heads WHERE queue = $1) c) h
		    JOIN pg_class c ON c.relname = h.seq_name AND c.relnamespace = 'awa'::regnamespace)
		SELECT count(*)::int FROM s JOIN s z USING (kind, priority)
		 WHERE z.enqueue_shard = 0 AND (s.relowner <> z.relowner OR s.acl IS DISTINCT FROM z.acl)`, g.queue)
	if odd != 0 {
		g.t.Errorf("%d sequences differ from shard 0 in owner or privileges", odd)
	}
}

// Lanes that another role made, and that are closed to the producers, are not
// used: the statement that opens them is named.
func TestLanesOfAnotherRoleAreOpenedOrNamed(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		owner, stranger, pilot := `owner `+d.Name, `stranger `+d.Name, `pilot `+d.Name
		addRole(t, d, owner, "NOLOGIN")
		addRole(t, d, stranger, "")
		addRole(t, d, pilot, "")
		g := gateAt(t, d, rehearsal.Options{Owner: owner, Producers: []string{stranger}})
		run(t, g.admin, "SET ROLE "+ident(owner))
		g.lanesFor("orders")
		run(t, g.admin, "RESET ROLE")
		g.allow()
		grantLevel(t, g.admin, pilot)
		run(t, g.admin, "SET ROLE "+ident(stranger))
		if err := rehearsal.Provision(within(t), g.admin, g.queue, 2); err != nil {
			t.Fatal(err)
		}
		run(t, g.admin, "RESET ROLE")
		gate := newGate(t, asRole(t, d, pilot, "pw of role"), first, GateOptions{Mode: control.ModeEnforced})
		c := g.through(gate, g.own(1, 2), control.OutcomeRefused, "belong to another role", "GRANT SELECT ON SEQUENCE", ident(owner))
		if !strings.Contains(c.Detail, "and ") {
			t.Error(c.Detail)
		}
		run(t, g.admin, "GRANT "+ident(stranger)+" TO "+ident(pilot))
		g.through(gate, g.own(1, 2), control.OutcomeApplied)
		if scan[bool](t, g.admin, `SELECT bool_and(has_sequence_privilege($2, format('awa.%I', seq_name), 'UPDATE')) FROM awa.queue_enqueue_heads WHERE queue = $1`, g.queue, owner) != true {
			t.Error("the owner of shard 0 may not use the lane")
		}
	})
}
