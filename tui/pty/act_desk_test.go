package pty

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// hot is the queue that is acted on.
const hot = rehearsal.HotQueue

// actPatience is how long anything may take on a busy machine.
const actPatience = 2 * time.Minute

// scene is a database with a queue, and what is done to it by tests and by the
// program.
type scene struct {
	t     *testing.T
	d     *pgtest.DB
	admin *pgx.Conn
}

func newScene(t *testing.T, d *pgtest.DB) *scene {
	t.Helper()
	s := &scene{t: t, d: d, admin: d.Connect(t)}
	if err := rehearsal.Install(s.within(), s.admin, rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Install(s.within(), s.admin); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), actPatience)
	s.t.Cleanup(cancel)
	return ctx
}

// crowd is as many producers at a queue with one shard, and a worker, until
// stop, which fails on any error of theirs.
func (s *scene) crowd(producers int, hold time.Duration) (r *rehearsal.Running, stop func() rehearsal.Stats) {
	s.t.Helper()
	spec := rehearsal.Spec{Keep: true, Queues: []rehearsal.Queue{{Name: hot}},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1}}}
	if producers > 0 {
		spec.Producers = []rehearsal.Producers{{Queue: hot, Application: "checkout", Count: producers, Hold: hold, Spread: 8}}
	}
	return s.load(spec)
}

func (s *scene) load(spec rehearsal.Spec) (r *rehearsal.Running, stop func() rehearsal.Stats) {
	s.t.Helper()
	r, err := rehearsal.Run(context.Background(), s.d.URL, spec)
	if err != nil {
		s.t.Fatal(err)
	}
	var once sync.Once
	stop = func() rehearsal.Stats {
		s.t.Helper()
		once.Do(func() {
			if err := r.Stop(s.within()); err != nil {
				s.t.Error(err)
			}
			if got := r.Stats(); len(got.Errors) > 0 || got.Uncertain > 0 {
				s.t.Errorf("the load failed: %v", got.Errors)
			}
		})
		return r.Stats()
	}
	s.t.Cleanup(func() { stop() })
	return r, stop
}

// allow opts the queue in, as a command would.
func (s *scene) allow(most int, enforced bool) {
	s.t.Helper()
	cfg, err := db.Parse(s.d.URL, db.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	store := db.NewStore(cfg, nil)
	defer func() { _ = store.Close(s.within()) }()
	p, err := store.Policy(s.within(), hot)
	if err != nil {
		s.t.Fatal(err)
	}
	p.Auto, p.Max, p.Enforced, p.AcceptedBy, p.AcceptedAt, p.UpdatedBy = true, most, enforced, "a test", time.Now(), "a test"
	act := control.LogEntry{Mode: p.Mode(control.ModeEnforced), Reason: control.ReasonModeSet, Verb: control.VerbAuto, Actor: "a test"}
	if err := store.SetPolicy(s.within(), p, act); err != nil {
		s.t.Fatal(err)
	}
}

// quick are numbers under which a queue is grown and judged within half a
// minute. They are no pace: that shortens windows until a machine that is away
// for half a second has seen too little in them. Here some seconds may be missed
// in each window, and what a machine in trouble may take for no gain or for harm
// stops nothing.
const quick = `StalePeriods = 30
Coverage = 0.3
Batch = "1s"
GrowWindow = "15s"
FastWindow = "15s"
WarmUp = "0s"
Settle = "1s"
SettleLimit = "20s"
VerifyWindow = "5s"
Damp = "1s"
GrowCooldown = "5s"
WeakHold = "1s"
IneffectiveHold = "1s"
HarmRate = 1
HarmLatency = 1
`

// policyFile is a file with a policy in it.
func policyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// program opens the dashboard on the scene with w × h cells.
func (s *scene) program(w, h int, args ...string) *terminal {
	s.t.Helper()
	return open(s.t, w, h, nil, append([]string{s.d.URL, "--policy", policyFile(s.t, quick), "--interval", "0.25s", "--glyphs", "ascii", "--color", "none", "--label", "staging"}, args...)...)
}

func (s *scene) count() int {
	s.t.Helper()
	var n int
	if err := s.admin.QueryRow(s.within(), `SELECT coalesce((SELECT enqueue_shards FROM awa.queue_meta WHERE queue = $1), 1)::int`, hot).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// policy is what the database keeps for the queue.
func (s *scene) policy() control.QueuePolicy {
	s.t.Helper()
	cfg, err := db.Parse(s.d.URL, db.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	store := db.NewStore(cfg, nil)
	defer func() { _ = store.Close(s.within()) }()
	p, err := store.Policy(s.within(), hot)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// log is the queue's log, oldest first.
func (s *scene) log(kinds ...control.LogKind) []control.LogEntry {
	s.t.Helper()
	entries, err := db.ReadLog(s.within(), s.admin, db.LogFilter{Queue: hot, Kinds: kinds}, 10_000)
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Reverse(entries)
	return entries
}

func (s *scene) story() string {
	var lines []string
	for _, e := range s.log() {
		lines = append(lines, fmt.Sprintf("%s %s %d>%d %s%s %s by %s %s %q: %s", e.At.Format("15:04:05.000"), e.Kind, e.From, e.To, e.Outcome, e.Verdict, e.Reason, e.Actor, e.Verb, e.Why, e.Detail))
	}
	return strings.Join(lines, "\n")
}

// hands are the entries that people made, oldest first.
func (s *scene) hands() (list []control.LogEntry) {
	s.t.Helper()
	for _, e := range s.log() {
		if e.Verb != "" && e.Actor != "a test" {
			list = append(list, e)
		}
	}
	return list
}

// await waits for something in the database.
func (s *scene) await(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(actPatience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come:\n%s", what, s.story())
		}
	}
}

// me is the operator as the log names whoever runs these tests.
func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username + "@" + host
}

// Keys as a terminal sends them.
const (
	keyEnter, keyTab, keyEsc     = "\r", "\t", "\x1b"
	keyRight, keyLeft, keyToggle = "\x1b[C", "\x1b[D", " "
)

// press types a key, again and again, until the screen shows the pattern and
// stays with it: a key that was typed while an earlier one was not drawn yet
// may have gone past.
func (tm *terminal) press(key, pattern string) string {
	tm.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(actPatience); time.Now().Before(deadline); tm.taken() {
		if re.MatchString(tm.screen()) {
			tm.taken()
			if s := tm.screen(); re.MatchString(s) {
				return s
			}
		}
		tm.keys(key)
	}
	return tm.see(pattern, 0)
}

// fill goes to a text field of the dialog and types a value over what is there.
func (tm *terminal) fill(field, value string) {
	tm.t.Helper()
	tm.press(keyTab, `(?m)\b`+field+`\s+\S*_`)
	tm.keys("\x15", value)
	tm.see(`(?m)\b`+field+`\s+`+regexp.QuoteMeta(value)+`_`, actPatience)
}

// tick goes to a box of the dialog and ticks it.
func (tm *terminal) tick(field string) {
	tm.t.Helper()
	tm.press(keyTab, `(?m)^\W*>\s*`+field+`\b`)
	tm.keys(keyToggle)
	tm.see(`\b`+field+`\s+\[x\]`, actPatience)
}

// yes goes to the button that does it, presses enter, and returns the screen
// with the outcome, which it closes.
func (tm *terminal) yes(button, outcome string) string {
	tm.t.Helper()
	tm.press(keyTab, `\[`+button+`\]`)
	tm.keys(keyEnter)
	s := tm.see(outcome+`(?s).*enter closes`, actPatience)
	tm.keys(keyEnter)
	for deadline := time.Now().Add(actPatience); strings.Contains(tm.screen(), "enter closes"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tm.t.Fatalf("the outcome stays:\n%s", tm.screen())
		}
	}
	return s
}
