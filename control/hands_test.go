package control

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func hand(t *testing.T, s *stage, c Command) (Effects, Result, error) {
	t.Helper()
	c.Queue, c.Actor, c.Host = "orders", "ann", "bastion"
	return Act(s.p, s.state, s.input(), c)
}

func TestWhatAHandMayNotDo(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*stage)
		command Command
		code    int
		says    string
	}{
		"above 64":              {nil, Command{Verb: VerbOverride, To: 65}, 2, "1 to 64"},
		"below 1":               {nil, Command{Verb: VerbOverride, To: -1}, 2, "1 to 64"},
		"to where it is":        {nil, Command{Verb: VerbOverride, To: 1}, 3, "already"},
		"another count seen":    {nil, Command{Verb: VerbOverride, To: 4, From: 2}, 3, "the count is 1 now"},
		"past a pin":            {func(s *stage) { s.queue.Pin = &Pin{Shards: 1, By: "bob"} }, Command{Verb: VerbOverride, To: 2, Force: true}, 3, "pinned to 1 by bob"},
		"on a standby":          {func(s *stage) { s.world.Database.Standby = true }, Command{Verb: VerbOverride, To: 2, Force: true}, 3, "standby"},
		"while Awa migrates":    {func(s *stage) { s.world.Awa.State = AwaTransition }, Command{Verb: VerbPin, To: 2}, 3, "migrating"},
		"on old figures":        {func(s *stage) { s.world.Now = s.world.Now.Add(time.Minute) }, Command{Verb: VerbOverride, To: 2}, 3, "stale"},
		"during a change":       {func(s *stage) { s.budget.InFlight = "orders" }, Command{Verb: VerbOverride, To: 2}, 3, "being written"},
		"without acceptance":    {func(s *stage) { s.queue.AcceptedBy = "" }, Command{Verb: VerbPin, To: 2}, 3, "partitioned FIFO"},
		"undo nothing":          {nil, Command{Verb: VerbUndo}, 3, "no change"},
		"approve nothing":       {nil, Command{Verb: VerbApprove, Expect: 7}, 3, "no step"},
		"reject nothing":        {nil, Command{Verb: VerbReject, Expect: 7}, 3, "no step"},
		"unpin what is not":     {nil, Command{Verb: VerbUnpin}, 3, "not pinned"},
		"pin for minus an hour": {nil, Command{Verb: VerbPin, For: -time.Hour}, 2, "cannot last"},
		"auto without max":      {func(s *stage) { s.queue.Max = 0 }, Command{Verb: VerbAuto}, 2, "max is 0"},
		"pin past the maximum":  {func(s *stage) { s.queue.Auto, s.queue.Max = true, 2 }, Command{Verb: VerbPin, To: 4}, 3, "most this queue may have is 2"},
		"auto below the count":  {nil, Command{Verb: VerbAuto, Max: 2}, 3, "has 4 shards now"},
		"something else":        {nil, Command{Verb: "sing"}, 2, "no such command"},
	} {
		s := newStage()
		s.queue.Enforced = false
		if name == "auto below the count" {
			s.shards = 4
		}
		_ = s.do([]string{"run", "5s", "crowd=16"})
		if c.prepare != nil {
			c.prepare(s)
		}
		fx, _, err := hand(t, s, c.command)
		if ExitCode(err) != c.code || !strings.Contains(err.Error(), c.says) || !fx.Empty() {
			t.Errorf("%s: %v, exit code %d, effects %+v; want %d and %q", name, err, ExitCode(err), fx, c.code, c.says)
		}
	}
}

func TestAnApprovalIsForTheStepThatWasSeen(t *testing.T) {
	s := newStage()
	s.queue.Enforced = false
	_ = s.do([]string{"run", "40s", "crowd=16"})
	if s.state.Pending == nil {
		t.Fatal("nothing pending")
	}
	for _, expect := range []int64{0, 1, s.state.Pending.Generation + 1} {
		if _, _, err := hand(t, s, Command{Verb: VerbApprove, Expect: expect, Force: true}); ExitCode(err) != 3 {
			t.Errorf("approving generation %d instead of %d: %v", expect, s.state.Pending.Generation, err)
		}
	}
	fx, _, err := hand(t, s, Command{Verb: VerbApprove, Expect: s.state.Pending.Generation})
	if err != nil || fx.Step == nil || fx.Step.Pending != s.state.Pending.Generation || !fx.Step.Hand || !fx.Step.Provision {
		t.Errorf("%v, %+v", err, fx.Step)
	}
	if entry := fx.Step.Entry; entry.Actor != "ann@bastion" || entry.Verb != VerbApprove || entry.Reason != ReasonApproved {
		t.Errorf("the log would say %+v", entry)
	}
}

func TestOnlyForceLowersPastJobsInTheUpperLanes(t *testing.T) {
	s := newStage()
	s.shards = 4
	_ = s.do([]string{"run", "5s", "crowd=2"})
	for _, force := range []bool{false, true} {
		fx, _, err := hand(t, s, Command{Verb: VerbOverride, To: 1, Force: force})
		if err != nil || fx.Step.Drained == force || fx.Step.Provision {
			t.Errorf("force %v: %v, %+v", force, err, fx.Step)
		}
		if e := fx.Step.Entry; e.Forced || e.PredictedGain.OK() || e.Evidence.PredictedGain.OK() {
			t.Errorf("force %v: nothing is set aside before the gate has looked, and a step down gains nothing: %+v", force, e)
		}
	}
}

func TestTheLogSaysWhichRulesForceSetAside(t *testing.T) {
	s := newStage()
	_ = s.do([]string{"run", "5s", "crowd=2"})
	s.queue.Auto, s.queue.Max, s.queue.AcceptedBy, s.queue.AcceptedAt = true, 4, "bob", s.now
	for to, forced := range map[int]bool{8: true, 4: false} {
		fx, _, err := hand(t, s, Command{Verb: VerbPin, To: to, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		e := fx.Step.Entry
		if e.Forced != forced || forced && (len(e.Blockers) != 1 || e.Blockers[0].Rule != ReasonAtMax || e.Blockers[0].Detail != "the most this queue may have is 4, not 8") {
			t.Errorf("pinned to %d: %+v", to, e)
		}
	}
}

func TestThePriceOfAChangeIsSpelledOut(t *testing.T) {
	if Price(2, 2) != nil {
		t.Error("nothing changes, and it costs something")
	}
	all := func(from, to int) string { return strings.Join(Price(from, to), "\n") }
	for _, c := range []struct {
		from, to int
		says     string
		not      string
	}{{1, 2, "partitioned FIFO", "seldom"}, {2, 4, "for ever", "partitioned FIFO"}, {4, 16, "3.1 ms at 16", "drain.\nStrict"}, {8, 4, "The lanes stay", "for ever"}, {1, 64, "9.9 ms at 64, 0.6 ms at 1", "The lanes stay"}} {
		if got := all(c.from, c.to); !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("%d to %d: %q must say %q, not %q", c.from, c.to, got, c.says, c.not)
		}
	}
}

// TestAnyInputGivesADecisionWithAReason feeds what no probe and no store should
// ever say.
func TestAnyInputGivesADecisionWithAReason(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}))
	count := rapid.OneOf(rapid.IntRange(-3, 70), rapid.SampledFrom([]int{math.MaxInt, math.MinInt}))
	moment := func(t *rapid.T, name string) time.Time {
		return rapid.SampledFrom([]time.Time{{}, epoch, epoch.Add(-time.Second), epoch.Add(5 * time.Second), epoch.Add(90 * time.Hour), time.Unix(1<<40, 0)}).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := func(name string) float64 { return number.Draw(t, name) }
		v := func(name string) Value { return Some(f(name)) }
		p := DefaultPolicy()
		tr := NewTrack(p)
		for range rapid.IntRange(0, 5).Draw(t, "readings") {
			tr.Observe(p, Reading{
				At: moment(t, "at"), Queue: "q", Shards: count.Draw(t, "shards"), PeriodS: f("period"), Samples: count.Draw(t, "samples"),
				Expected: f("expected"), WaitSum: f("w"), HoldSum: f("h"), Waiters: v("W"), Inside: v("N"), EnqueueRate: v("rate"),
				Causes: Causes{Lane: v("lane"), Notify: v("notify")}, Stale: count.Draw(t, "stale"), Drained: []bool{true},
				Lanes: []LaneReading{{Shard: count.Draw(t, "lane"), Waiters: v("lw"), Busy: v("lb")}},
			})
		}
		var log []LogEntry
		for range rapid.IntRange(0, 6).Draw(t, "entries") {
			log = append(log, LogEntry{
				At: moment(t, "when"), Kind: rapid.SampledFrom([]LogKind{LogDecision, LogProposed, LogWithdrawn, LogChange, LogAdopted, LogVerdict, LogAct, "?"}).Draw(t, "kind"),
				From: count.Draw(t, "from"), To: count.Draw(t, "to"), Outcome: rapid.SampledFrom([]Outcome{OutcomeApplied, OutcomeFailed, "?"}).Draw(t, "outcome"),
				Verdict: rapid.SampledFrom([]Verdict{VerdictHarmful, VerdictIneffective, "?"}).Draw(t, "verdict"), Until: moment(t, "until"), Pending: int64(count.Draw(t, "gen")),
				Verb: rapid.SampledFrom([]Verb{"", VerbReject, VerbResume}).Draw(t, "verb"), Before: Figures{Rate: v("r0"), WaitPerS: v("w0")},
			})
		}
		now := moment(t, "now")
		s := RebuildState(p, log, now)
		in := Input{
			World: World{Now: now, Process: ModeEnforced, Lead: Leadership{Leading: true}, Awa: Installation{State: AwaActive, MayWrite: true}},
			Queue: QueuePolicy{Queue: "q", Auto: true, Enforced: true, Max: count.Draw(t, "max"), AcceptedBy: "ann"}, Signal: tr.Signal(p), Budget: RebuildBudget(log, now),
		}
		_, d, fx := Decide(p, s, in)
		d.At = epoch // the zero time is a time here
		if what := unexplained(&d); what != "" {
			t.Fatalf("%s: %+v", what, d)
		}
		if x := fx.Step; x != nil && (x.To < MinShards || x.To > MaxShards) {
			t.Fatalf("a step to %d", x.To)
		}
		for _, verb := range []Verb{VerbApprove, VerbReject, VerbOverride, VerbUndo, VerbPin, VerbUnpin, VerbPause, VerbResume, VerbAuto, VerbManual} {
			_, _, _ = Act(p, s, in, Command{Verb: verb, Queue: "q", Actor: "a", To: count.Draw(t, "hand"), Expect: int64(count.Draw(t, "expect")), Accept: true, Max: in.Queue.Max})
		}
	})
}

func TestWhoeverChangesAPolicyIsItsAuthor(t *testing.T) {
	for _, c := range []Command{
		{Verb: VerbPin}, {Verb: VerbPin, To: 2, Accept: true}, {Verb: VerbPause}, {Verb: VerbResume}, {Verb: VerbManual},
		{Verb: VerbAuto, Max: 4, Accept: true},
	} {
		s := newStage()
		s.queue.UpdatedBy = "bob@elsewhere"
		_ = s.do([]string{"run", "5s", "crowd=16"})
		fx, _, err := hand(t, s, c)
		if err != nil {
			t.Fatalf("%s: %v", c.Verb, err)
		}
		var saved QueuePolicy
		switch {
		case fx.Policy != nil:
			saved = *fx.Policy
		case fx.Step != nil && fx.Step.Save:
			saved = fx.Step.Policy
		}
		if saved.UpdatedBy != "ann@bastion" || saved.UpdatedAt.IsZero() {
			t.Errorf("%s to %d: changed by %q at %v, want ann@bastion", c.Verb, c.To, saved.UpdatedBy, saved.UpdatedAt)
		}
	}
}

func TestTheNextStepIsNotPromisedLaterThanItCanCome(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	grow, shrink := Blocker{For: ActionGrow, Until: at(2)}, Blocker{For: ActionShrink, Until: at(30)}
	warm := Blocker{Until: at(10)}
	for name, c := range map[string]struct {
		d    Decision
		want time.Time
	}{
		"the nearer direction":         {Decision{From: 2, Blockers: []Blocker{grow, shrink}, Policy: QueuePolicy{Max: 8}}, at(2)},
		"both wait for the same":       {Decision{From: 2, Blockers: []Blocker{warm, grow, shrink}, Policy: QueuePolicy{Max: 8}}, at(10)},
		"only down is left":            {Decision{From: 8, Blockers: []Blocker{grow, shrink}, Policy: QueuePolicy{Max: 8}}, at(30)},
		"only up is left":              {Decision{From: 1, Blockers: []Blocker{grow}, Policy: QueuePolicy{Max: 8}}, at(2)},
		"one depends on what is seen":  {Decision{From: 2, Blockers: []Blocker{{For: ActionGrow}, shrink}, Policy: QueuePolicy{Max: 8}}, time.Time{}},
		"a manual queue takes no step": {Decision{From: 2, Mode: ModeManual, Blockers: []Blocker{warm}, Policy: QueuePolicy{Max: 8}}, time.Time{}},
	} {
		if got := c.d.notBefore(); !got.Equal(c.want) {
			t.Errorf("%s: not before %v, want %v", name, got, c.want)
		}
	}
}
