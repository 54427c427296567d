package db

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
)

var _ loop.Store = (*Store)(nil)
var _ loop.Leader = (*Leader)(nil)

// leads is a Leader that says what it is told.
type leads control.Leadership

func (l leads) Leadership() control.Leadership { return control.Leadership(l) }

// first leads under the epoch that a fresh schema has.
var first = leads{Leading: true}

const oddQueue = "q\"uo'te\\ \x1b[31m\nキュー 👨‍👩‍👧"

func newStore(t *testing.T, url string, lead loop.Leader) *Store {
	t.Helper()
	cfg, err := Parse(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(cfg, lead)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

func save(t *testing.T, s *Store, b loop.Batch) {
	t.Helper()
	if err := s.Save(within(t), b); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s *Store, after int64) loop.Saved {
	t.Helper()
	saved, err := s.Load(within(t), after)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func act(verb control.Verb) control.LogEntry {
	return control.LogEntry{Kind: control.LogAct, Queue: oddQueue, Actor: "anna@bastion", Host: "bastion", Why: "because", Verb: verb, Reason: control.ReasonModeSet}
}

// What may hold a queue for longer than a week is known to a new process too.
func TestAnOldLogIsLoadedAsFarAsItStillCounts(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	install(t, d.Connect(t))
	s := newStore(t, d.URL, first)
	old := time.Now().Add(-60 * 24 * time.Hour)
	var all []control.LogEntry
	for _, k := range []control.LogKind{control.LogDecision, control.LogProposed, control.LogWithdrawn, control.LogChange, control.LogAdopted, control.LogVerdict, control.LogAct} {
		e := act(control.VerbResume)
		e.Kind, e.At, e.From, e.To = k, old, 1, 2
		switch k {
		case control.LogChange:
			e.Outcome = control.OutcomeApplied
		case control.LogVerdict:
			e.Verdict = control.VerdictKept
		}
		all = append(all, e)
	}
	save(t, s, loop.Batch{Entries: append(all, act(control.VerbAuto))})
	var kinds []string
	for _, e := range load(t, s, 0).Entries {
		kinds = append(kinds, string(e.Kind))
	}
	if got, want := strings.Join(kinds, " "), "change adopted verdict act act"; got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
}

func TestEverythingSavedComesBackAsItWas(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		install(t, d.Connect(t))
		s := newStore(t, d.URL, first)
		if saved := load(t, s, 0); saved.Last != 0 || len(saved.Entries)+len(saved.Policies)+len(saved.Pending) != 0 {
			t.Fatalf("%+v", saved)
		}
		at := time.Date(2026, 3, 29, 1, 59, 59, 123456000, time.UTC).Add(time.Since(time.Date(2026, 3, 29, 1, 59, 59, 0, time.UTC)).Truncate(time.Hour))
		evidence := control.Evidence{Share: control.Some(0.5), WindowS: 120, Causes: control.Causes{Lane: control.Some(1)}}
		entry := control.LogEntry{
			At: at, Kind: control.LogProposed, Queue: oddQueue, Mode: control.ModeShadow, Action: control.ActionGrow, From: 2, To: 4,
			Reason: control.ReasonContended, Detail: "détail 'x'", Actor: "controller", Host: "h", Until: at.Add(time.Hour), Pending: 77,
			PredictedGain: control.Some(1.9), Blockers: []control.Blocker{{Rule: control.ReasonManual, Detail: "d", Until: at}},
			Evidence: evidence, Before: control.Figures{Rate: control.Some(210.4)},
		}
		pending := control.Pending{Queue: oddQueue, From: 2, To: 4, Generation: 77, At: at, Until: at.Add(time.Hour),
			Reason: control.ReasonContended, Detail: "d", Evidence: evidence, PredictedGain: control.Some(1.9)}
		policy := control.QueuePolicy{Queue: oddQueue, Auto: true, Enforced: true, Max: 8, AcceptedBy: "anna@bastion", AcceptedAt: at,
			Pin:     &control.Pin{Shards: 2, Until: at.Add(time.Hour), By: "anna@bastion", Why: "incident"},
			PauseUp: &control.Pause{At: at, By: "b", Why: ""}, UpdatedBy: "anna@bastion"}
		verdict := control.LogEntry{Kind: control.LogVerdict, Queue: "b", From: 1, To: 2, Actor: "controller", Verdict: control.VerdictKept, Gain: control.Some(1.8)}
		save(t, s, loop.Batch{Entries: []control.LogEntry{entry, verdict, act(control.VerbAuto)}, Propose: []control.Pending{pending}, Policies: []control.QueuePolicy{policy}})

		saved := load(t, s, 0)
		if len(saved.Entries) != 3 || len(saved.Policies) != 1 || len(saved.Pending) != 1 || saved.Last != saved.Entries[2].ID {
			t.Fatalf("%+v", saved)
		}
		entry.ID, entry.Role = saved.Entries[0].ID, "postgres" // both filled in by the server
		if !reflect.DeepEqual(saved.Entries[0], entry) {
			t.Errorf("entry\n got %+v\nwant %+v", saved.Entries[0], entry)
		}
		if got := saved.Entries[1]; got.Verdict != control.VerdictKept || got.Gain != control.Some(1.8) || got.At.IsZero() || got.PredictedGain.OK() || !got.Until.IsZero() {
			t.Errorf("%+v", got)
		}
		if !reflect.DeepEqual(saved.Pending[0], pending) {
			t.Errorf("pending\n got %+v\nwant %+v", saved.Pending[0], pending)
		}
		got := saved.Policies[0]
		if got.Generation != 1 || got.UpdatedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		policy.Generation, policy.UpdatedAt = got.Generation, got.UpdatedAt
		if !reflect.DeepEqual(got, policy) {
			t.Errorf("policy\n got %+v\nwant %+v", got, policy)
		}
		if again := load(t, s, saved.Last); again.Last != saved.Last || again.Entries != nil {
			t.Errorf("nothing is newer, and yet: %+v", again)
		}
		if made := load(t, s, saved.Last+100); len(made.Entries) != 3 {
			t.Error("a log that was made anew is not read from the start")
		}
		if one, err := s.Policy(within(t), oddQueue); err != nil || !reflect.DeepEqual(one, policy) {
			t.Errorf("%+v %v", one, err)
		}
		if none, err := s.Policy(within(t), "none"); err != nil || none.Auto || none.Generation != 0 {
			t.Errorf("%+v %v", none, err)
		}
	})
}

func TestPolicyIsSetOnlyOnTheOneThatWasRead(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	install(t, d.Connect(t))
	a, b := newStore(t, d.URL, nil), newStore(t, d.URL, nil)
	p := control.QueuePolicy{Queue: oddQueue, Auto: true, Max: 4, AcceptedBy: "anna@bastion", AcceptedAt: time.Now(), UpdatedBy: "anna@bastion"}
	if err := a.SetPolicy(within(t), p, act(control.VerbAuto)); err != nil {
		t.Fatal(err)
	}
	p.UpdatedBy, p.Max = "ben@desk", 8
	err := b.SetPolicy(within(t), p, act(control.VerbAuto)) // ben saw no row
	wantFault(t, err, control.FaultRefused, "anna@bastion did at")
	p.Generation = 1
	if err := b.SetPolicy(within(t), p, act(control.VerbAuto)); err != nil {
		t.Fatal(err)
	}
	err = a.SetPolicy(within(t), p, act(control.VerbManual))
	wantFault(t, err, control.FaultRefused, "ben@desk did at")
	saved := load(t, a, 0)
	if len(saved.Entries) != 2 || saved.Policies[0].Max != 8 || saved.Policies[0].Generation != 2 {
		t.Errorf("%+v", saved)
	}
	p.Max = 65
	wantFault(t, a.SetPolicy(within(t), p, act(control.VerbAuto)), control.FaultUsage, "max is 65")
	wantFault(t, a.SetPolicy(within(t), p, control.LogEntry{Verb: control.VerbAuto}), control.FaultUsage, "who does it")
	if err := a.Save(within(t), loop.Batch{Policies: []control.QueuePolicy{p}}); err == nil {
		t.Error("a policy changed without a word in the log")
	}
}

func TestPendingStepHasOneUse(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		install(t, d.Connect(t))
		s := newStore(t, d.URL, first)
		now := time.Now()
		save(t, s, loop.Batch{
			Entries: []control.LogEntry{{Kind: control.LogProposed, Queue: oddQueue, Actor: "controller", From: 1, To: 2, Pending: 5}},
			Propose: []control.Pending{{Queue: oddQueue, From: 1, To: 2, Generation: 5, At: now, Until: now.Add(time.Hour), Reason: control.ReasonContended}},
		})
		const n = 5
		var stores [n]*Store
		for i := range stores {
			stores[i] = newStore(t, d.URL, nil)
		}
		var errs [n]error
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				e := act(control.VerbReject)
				e.Actor, e.Pending = fmt.Sprintf("op%d@host", i), 5
				errs[i] = stores[i].Save(within(t), loop.Batch{Entries: []control.LogEntry{e}, UseUp: []loop.Used{{Queue: oddQueue, Generation: 5, Must: true}}})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantFault(t, err, control.FaultRefused, "@host ended it at", "reject")
		}
		saved := load(t, s, 0)
		if won != 1 || len(saved.Pending) != 0 || len(saved.Entries) != 2 {
			t.Errorf("%d used it; %+v", won, saved)
		}
		// One that merely expired is nobody's loss.
		save(t, s, loop.Batch{Entries: []control.LogEntry{{Kind: control.LogWithdrawn, Queue: oddQueue, Actor: "controller", Pending: 5}},
			UseUp: []loop.Used{{Queue: oddQueue, Generation: 5}}})
		err := s.Save(within(t), loop.Batch{Entries: []control.LogEntry{act(control.VerbReject)}, UseUp: []loop.Used{{Queue: "other", Generation: 9, Must: true}}})
		wantFault(t, err, control.FaultRefused, "never there")
	})
}

func TestControllerWritesOnlyWhileItLeads(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	install(t, admin)
	own := loop.Batch{Entries: []control.LogEntry{{Kind: control.LogDecision, Queue: "q", Actor: "controller"}}}
	run(t, admin, "UPDATE shardpilot.leader SET epoch = 7, holder = 'ben', host = 'desk'")
	for name, lead := range map[string]loop.Leader{
		"nobody":   nil,
		"follower": leads{Epoch: 7, Name: "ben@desk"},
		"old":      leads{Leading: true, Epoch: 6},
	} {
		err := newStore(t, d.URL, lead).Save(within(t), own)
		if err == nil {
			t.Errorf("%s wrote", name)
			continue
		}
		wantFault(t, err, control.FaultRefused, "ben@desk")
	}
	err := newStore(t, d.URL, leads{Refused: "a pooler"}).Save(within(t), own)
	wantFault(t, err, control.FaultRefused, "a pooler")
	leader := newStore(t, d.URL, leads{Leading: true, Epoch: 7})
	save(t, leader, own)
	save(t, newStore(t, d.URL, nil), loop.Batch{Entries: []control.LogEntry{act(control.VerbPause)}}) // a person needs no lead
	if n := len(load(t, leader, 0).Entries); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// A reader that polls for what is newer misses nothing, though many write.
func TestReaderOfTheLogMissesNothing(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		install(t, d.Connect(t))
		const writers, each = 4, 15
		var wg sync.WaitGroup
		for w := range writers {
			s := newStore(t, d.URL, nil)
			wg.Go(func() {
				for range each {
					e := act(control.VerbPause)
					e.Queue = fmt.Sprint("w", w)
					if err := s.Save(within(t), loop.Batch{Entries: []control.LogEntry{e, e}}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		reader := newStore(t, d.URL, nil)
		seen, last := 0, int64(0)
		for deadline := time.Now().Add(time.Minute); seen < writers*each*2 && time.Now().Before(deadline); {
			saved := load(t, reader, last)
			if saved.Last == last {
				continue
			}
			for _, e := range saved.Entries {
				if e.ID <= last {
					t.Fatalf("entry %d after %d", e.ID, last)
				}
				last = e.ID
				seen++
			}
		}
		wg.Wait()
		if seen != writers*each*2 {
			t.Errorf("saw %d of %d", seen, writers*each*2)
		}
	})
}

func TestStoreComesBackAfterItsConnectionBroke(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	install(t, admin)
	s := newStore(t, d.URL, first)
	load(t, s, 0)
	run(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", s.conn.PgConn().PID()))
	_, err := s.Load(within(t), 0)
	wantFault(t, err, control.FaultNoConnection)
	load(t, s, 0)
}
