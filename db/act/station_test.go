// Package act lets the whole controller work on real servers, as main puts it
// together, and looks at the counts and the log.
package act

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
	"shardpilot/probe"
)

// TestMain lets four tests run at a time: they wait more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	pgtest.Main(m)
}

// hot is the queue they play with.
const hot = rehearsal.HotQueue

// actPatience is how long anything may take on a busy machine.
const actPatience = 2 * time.Minute

// brisk is the policy of these tests: minutes pass in seconds, and what takes
// hours without a word about the promise at hand is shorter still. Samples are
// missed on a machine that others keep busy, hence the lower coverage.
func brisk() control.Policy {
	p := control.DefaultPolicy().Pace(20)
	p.WarmUp = time.Second
	p.Coverage = 0.5
	p.ShrinkWindow, p.ShrinkSlice = 16*time.Second, 3*time.Second
	p.ShrinkCooldown, p.ReverseCooldown = 3*time.Second, 4*time.Second
	p.RetryHold, p.AdoptHold = time.Second, 2*time.Second
	return p
}

// desk is a database under the eyes of tests, with the schemas on it.
type desk struct {
	t     testing.TB
	d     *pgtest.DB
	admin *pgx.Conn
}

// within is a context for one statement or so.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), actPatience)
	t.Cleanup(cancel)
	return ctx
}

func scan[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(within(t), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func newDesk(t testing.TB, d *pgtest.DB) *desk {
	t.Helper()
	k := &desk{t: t, d: d, admin: d.Connect(t)}
	if err := rehearsal.Install(within(t), k.admin, rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Install(within(t), k.admin); err != nil {
		t.Fatal(err)
	}
	return k
}

// load starts sessions and returns them with what stops them and gives their
// sums.
func (k *desk) load(spec rehearsal.Spec) (r *rehearsal.Running, stop func() rehearsal.Stats) {
	k.t.Helper()
	var mu sync.Mutex
	var first []string
	spec.OnError = func(i rehearsal.Incident) {
		mu.Lock()
		defer mu.Unlock()
		if len(first) < 3 {
			first = append(first, fmt.Sprintf("%s of %q: %v", i.Role, i.Queue, i.Err))
		}
	}
	r, err := rehearsal.Run(context.Background(), k.d.URL, spec)
	if err != nil {
		k.t.Fatal(err)
	}
	var once sync.Once
	stop = func() rehearsal.Stats {
		k.t.Helper()
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), actPatience)
			defer cancel()
			if err := r.Stop(ctx); err != nil {
				k.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if s := r.Stats(); len(s.Errors) > 0 || s.Uncertain > 0 {
				k.t.Errorf("the load failed: %v, %d uncertain: %s", s.Errors, s.Uncertain, strings.Join(first, "; "))
			}
		})
		return r.Stats()
	}
	k.t.Cleanup(func() { stop() })
	return r, stop
}

// count is what producers read.
func (k *desk) count() int {
	k.t.Helper()
	return scan[int](k.t, k.admin, `SELECT coalesce((SELECT enqueue_shards FROM awa.queue_meta WHERE queue = $1), 1)::int`, hot)
}

// log is the queue's log, oldest first, of some kinds or all.
func (k *desk) log(kinds ...control.LogKind) []control.LogEntry {
	k.t.Helper()
	entries, err := db.ReadLog(within(k.t), k.admin, db.LogFilter{Queue: hot, Kinds: kinds}, 10_000)
	if err != nil {
		k.t.Fatal(err)
	}
	slices.Reverse(entries)
	return entries
}

// lanes says whether every lane below n is on both heads with its sequence.
func (k *desk) lanes(n int) bool {
	k.t.Helper()
	return scan[bool](k.t, k.admin, `
		SELECT count(DISTINCT e.enqueue_shard) = $2 AND bool_and(e.seq_name IS NOT NULL AND c.seq_name IS NOT NULL)
		  FROM awa.queue_enqueue_heads e LEFT JOIN awa.queue_claim_heads c USING (queue, priority, enqueue_shard)
		 WHERE queue = $1 AND enqueue_shard < $2`, hot, n)
}

// changes are the attempts to write a count, as one line each.
func (k *desk) changes() string {
	k.t.Helper()
	var lines []string
	for _, e := range k.log(control.LogChange, control.LogVerdict, control.LogAdopted) {
		lines = append(lines, story(e))
	}
	return strings.Join(lines, "\n")
}

func story(e control.LogEntry) string {
	return fmt.Sprintf("%s %s %d→%d %s%s %s by %s %s: %s", e.At.Format("15:04:05.000"), e.Kind, e.From, e.To, e.Outcome, e.Verdict, e.Reason, e.Actor, e.Verb, e.Detail)
}

// pilot is one process at the desk: probe, memory, leader, gate and runner.
type pilot struct {
	*desk
	name   string
	runner *loop.Runner
	leader *db.Leader
	policy control.Policy

	mu     sync.Mutex
	events []control.Event
	stop   func()
}

// hire starts a process. It leads when nobody else does.
func (k *desk) hire(name string, p control.Policy, mode control.Mode) *pilot {
	k.t.Helper()
	cfg, err := db.Parse(k.d.URL, db.Options{})
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &pilot{desk: k, name: name, policy: p}
	s.leader = db.NewLeader(cfg, db.LeaderOptions{Name: name, Host: "desk", PID: os.Getpid(), Every: 200 * time.Millisecond})
	store := db.NewStore(cfg, s.leader)
	gate := db.NewGate(cfg, s.leader, db.GateOptions{Policy: p, Mode: mode})
	eye := probe.Start(ctx, probe.Config{Connect: cfg.Connect, Now: time.Now, Pace: 20, BaseHz: 8, MaxCost: 0.1, Where: db.Where,
		Discover: func(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
			return db.Discover(ctx, conn, false)
		}})
	tick := time.NewTicker(250 * time.Millisecond)
	s.runner, err = loop.New(loop.Config{Policy: p, Process: mode, Store: store, Leader: s.leader, Gate: gate, Read: eye.Read,
		Tick: tick.C, Now: time.Now, Reload: time.Second})
	if err != nil {
		k.t.Fatal(err)
	}
	events, _ := s.runner.Subscribe(64)
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.leader.Run(ctx); err != nil {
			k.t.Errorf("%s leads: %v", name, err)
		}
	})
	all.Go(func() {
		if err := s.runner.Run(ctx); err != nil {
			k.t.Errorf("%s: %v", name, err)
		}
	})
	all.Go(func() {
		for e := range events {
			s.mu.Lock()
			s.events = append(s.events, e)
			s.mu.Unlock()
		}
	})
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			all.Wait()
			tick.Stop()
			eye.Close()
			end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_ = errors.Join(store.Close(end), gate.Close(end)) // the connections may be gone
		})
	}
	k.t.Cleanup(s.stop)
	return s
}

// newest is the newest decision and reading of the queue, false before the
// first.
func (s *pilot) newest() (control.Decision, control.Reading, bool) {
	e, ok := s.runner.Newest()
	if !ok || e.Snapshot == nil {
		return control.Decision{}, control.Reading{}, false
	}
	d := slices.IndexFunc(e.Decisions, func(d control.Decision) bool { return d.Queue == hot })
	r := slices.IndexFunc(e.Snapshot.Readings, func(r control.Reading) bool { return r.Queue == hot })
	if d < 0 || r < 0 {
		return control.Decision{}, control.Reading{}, false
	}
	return e.Decisions[d], e.Snapshot.Readings[r], true
}

// await waits until what is newest satisfies ok.
func (s *pilot) await(what string, ok func(control.Decision, control.Reading) bool) (control.Decision, control.Reading) {
	s.t.Helper()
	deadline := time.Now().Add(actPatience)
	for {
		d, r, there := s.newest()
		if there && ok(d, r) {
			return d, r
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: %s did not come; S %d, %s %d→%d: %s, blockers %v\n%s", s.name, what, r.Shards, d.Action, d.From, d.To, d.Detail, d.Blockers, s.changes())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitLog waits for an entry of the log.
func (k *desk) awaitLog(what string, ok func(control.LogEntry) bool) control.LogEntry {
	k.t.Helper()
	for deadline := time.Now().Add(actPatience); ; time.Sleep(50 * time.Millisecond) {
		log := k.log()
		if i := slices.IndexFunc(log, ok); i >= 0 {
			return log[i]
		}
		if time.Now().After(deadline) {
			var lines []string
			for _, e := range log {
				lines = append(lines, story(e))
			}
			k.t.Fatalf("the log never told of %s:\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// settled is after the first reading that comes with the log known.
func (s *pilot) settled() *pilot {
	s.t.Helper()
	s.await("a first decision", func(d control.Decision, r control.Reading) bool {
		return r.Shards > 0 && d.Reason != control.ReasonStore
	})
	return s
}

// ask gives a command in the pilot's name, which must not fail.
func (s *pilot) ask(c control.Command) control.Result {
	s.t.Helper()
	res, err := s.try(c)
	if err != nil {
		s.t.Fatalf("%s by %s: %v", c.Verb, s.name, err)
	}
	return res
}

func (s *pilot) try(c control.Command) (control.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), actPatience)
	defer cancel()
	c.Queue, c.Actor, c.Host = hot, s.name, "desk"
	return s.runner.Do(ctx, c)
}

// allow opts the queue in.
func (s *pilot) allow(most int, enforced bool) {
	s.t.Helper()
	s.ask(control.Command{Verb: control.VerbAuto, Max: most, Enforced: enforced, Accept: true, Why: "a test"})
}

func applied(from, to int) func(control.LogEntry) bool {
	return func(e control.LogEntry) bool {
		return e.Kind == control.LogChange && e.Outcome == control.OutcomeApplied && e.From == from && e.To == to
	}
}

func judged(from, to int) func(control.LogEntry) bool {
	return func(e control.LogEntry) bool { return e.Kind == control.LogVerdict && e.From == from && e.To == to }
}

// server is the server's clock.
func (k *desk) server() time.Time {
	k.t.Helper()
	return scan[time.Time](k.t, k.admin, `SELECT clock_timestamp()`)
}
