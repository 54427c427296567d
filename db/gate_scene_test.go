package db

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// gateScene is a database with Awa-compatible lanes, shardpilot's schema, one
// queue and a gate.
type gateScene struct {
	t     testing.TB
	d     *pgtest.DB
	admin *pgx.Conn
	gate  *Gate
	queue string
}

// gateAt sets one up; the queue has lanes for one shard and is opted in.
func gateAt(t *testing.T, d *pgtest.DB, o rehearsal.Options) *gateScene {
	t.Helper()
	admin := withAwa(t, d, o)
	install(t, admin)
	g := &gateScene{t: t, d: d, admin: admin, gate: newGate(t, d.URL, first, GateOptions{Mode: control.ModeEnforced})}
	g.fresh("q\"uo'te\\ \x1b[31m\nキュー")
	return g
}

func newGate(t testing.TB, url string, lead loop.Leader, o GateOptions) *Gate {
	t.Helper()
	cfg, err := Parse(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(cfg, lead, o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = g.Close(ctx) // the connection may be gone, which is what was tested
	})
	return g
}

// fresh makes another queue with lanes for one shard, opted in up to 8.
func (g *gateScene) fresh(queue string) {
	g.t.Helper()
	g.queue = queue
	if err := rehearsal.Provision(within(g.t), g.admin, queue, 1, 1, 2); err != nil {
		g.t.Fatal(err)
	}
	g.exec(`INSERT INTO shardpilot.policy (queue, auto, enforced, max_shards, accepted_by, accepted_at, updated_by)
		VALUES ($1, true, true, 8, 'anna@bastion', now(), 'anna@bastion')`, queue)
}

func (g *gateScene) exec(sql string, args ...any) {
	g.t.Helper()
	if _, err := g.admin.Exec(within(g.t), sql, args...); err != nil {
		g.t.Fatalf("%s: %v", sql, err)
	}
}

func (g *gateScene) policy() control.QueuePolicy {
	g.t.Helper()
	rows, err := collect(within(g.t), g.admin, readPolicy, query("gate/policy"), g.queue)
	if err != nil || len(rows) != 1 {
		g.t.Fatalf("%d policies: %v", len(rows), err)
	}
	return rows[0]
}

// own is a step of the controller, hand one of a person.
func (g *gateScene) own(from, to int) control.Step {
	return control.Step{Queue: g.queue, From: from, To: to, Actor: "controller", Mode: control.ModeEnforced,
		Provision: to > from, Drained: to < from, Policy: g.policy(),
		Entry: control.LogEntry{Reason: control.ReasonContended, Detail: "why", Evidence: control.Evidence{Share: control.Some(0.7)}}}
}

func (g *gateScene) hand(from, to int) control.Step {
	s := g.own(from, to)
	s.Hand, s.Actor, s.Mode = true, "anna@bastion", control.ModeShadow
	s.Entry.Reason, s.Entry.Verb, s.Entry.Why, s.Entry.Host = control.ReasonOverride, control.VerbOverride, "incident", "bastion"
	return s
}

func (g *gateScene) count() int {
	g.t.Helper()
	return scan[int](g.t, g.admin, `SELECT coalesce((SELECT enqueue_shards FROM awa.queue_meta WHERE queue = $1), 1)::int`, g.queue)
}

func (g *gateScene) lanes() int {
	g.t.Helper()
	return scan[int](g.t, g.admin, `SELECT count(*)::int FROM awa.queue_enqueue_heads WHERE queue = $1`, g.queue)
}

// log is what the log says of changes of the queue, oldest first.
func (g *gateScene) log() []control.LogEntry {
	g.t.Helper()
	all, err := collect(within(g.t), g.admin, readEntry, query("store/newer"), int64(0))
	if err != nil {
		g.t.Fatal(err)
	}
	var out []control.LogEntry
	for _, e := range all {
		if e.Queue == g.queue && e.Kind == control.LogChange {
			out = append(out, e)
		}
	}
	return out
}

// through takes a step through a gate and holds the answer against the log and
// the count.
func (g *gateScene) through(gate *Gate, s control.Step, want control.Outcome, words ...string) control.Change {
	g.t.Helper()
	before, was := len(g.log()), g.count()
	c, err := gate.Apply(within(g.t), s)
	if err != nil {
		g.t.Fatalf("%s: %v", arrow(s), err)
	}
	g.check(c, s, want, words...)
	log := g.log()
	if len(log) != before+1 {
		g.t.Fatalf("%s: %d entries were written, not one", arrow(s), len(log)-before)
	}
	e := log[before]
	if got := changeOf(e); got != c || e.Mode != s.Mode || e.Host != s.Entry.Host || e.Why != s.Entry.Why || e.Evidence != s.Entry.Evidence {
		g.t.Errorf("%s: the log says\n%+v\nand the gate said\n%+v", arrow(s), e, c)
	}
	expect := was
	if want == control.OutcomeApplied {
		expect = s.To
	}
	if now := g.count(); now != expect {
		g.t.Errorf("%s: the count is %d, want %d", arrow(s), now, expect)
	}
	return c
}

func (g *gateScene) check(c control.Change, s control.Step, want control.Outcome, words ...string) {
	g.t.Helper()
	if c.Outcome != want || c.Queue != s.Queue || c.From != s.From || c.To != s.To || c.Actor != s.Actor || c.At.IsZero() {
		g.t.Errorf("%s: want %s, got %+v", arrow(s), want, c)
	}
	for _, w := range words {
		if !strings.Contains(c.Detail, w) {
			g.t.Errorf("%s: %q is not in: %s", arrow(s), w, c.Detail)
		}
	}
}

func (g *gateScene) apply(s control.Step, want control.Outcome, words ...string) control.Change {
	g.t.Helper()
	return g.through(g.gate, s, want, words...)
}

// propose puts a pending step and returns its generation.
func (g *gateScene) propose(from, to int) int64 {
	g.t.Helper()
	at := scan[time.Time](g.t, g.admin, `SELECT clock_timestamp()`)
	p := control.Pending{Queue: g.queue, From: from, To: to, Generation: at.UnixMicro(), At: at, Until: at.Add(time.Hour), Reason: control.ReasonContended}
	if err := putPending(within(g.t), g.admin, p); err != nil {
		g.t.Fatal(err)
	}
	return p.Generation
}

func (g *gateScene) pending() int {
	g.t.Helper()
	return scan[int](g.t, g.admin, `SELECT count(*)::int FROM shardpilot.pending WHERE queue = $1`, g.queue)
}

// awaitBlocked waits until n sessions of d wait for a lock.
func awaitBlocked(t testing.TB, d *pgtest.DB, n int) {
	t.Helper()
	conn := d.Connect(t)
	eventually(t, fmt.Sprintf("%d blocked sessions", n), func() bool {
		return scan[int](t, conn, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n
	})
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
