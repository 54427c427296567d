package control

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func change(at time.Time, from, to int, verb Verb) LogEntry {
	return LogEntry{At: at, Kind: LogChange, Outcome: OutcomeApplied, From: from, To: to, Verb: verb}
}

func TestRebuildingIsTheSameAsHavingBeenThere(t *testing.T) {
	p := DefaultPolicy()
	s := newStage()
	for _, line := range [][]string{
		{"run", "3m", "crowd=16"}, {"pause", "up"}, {"run", "20m", "crowd=4"}, {"resume", "up"}, {"count", "2"}, {"run", "40m", "crowd=16"},
	} {
		if err := s.do(line); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.log) < 8 {
		t.Fatalf("only %d entries came of it", len(s.log))
	}
	again := RebuildState(p, s.log, s.now)
	live := s.state
	// Not from the log: how long the present mind has lasted.
	live.seen, live.seenAt, again.seen, again.seenAt = mind{}, time.Time{}, mind{}, time.Time{}
	if live.Trial != nil {
		trial := *live.Trial
		trial.Settled = time.Time{}
		live.Trial = &trial
	}
	if (live.Trial == nil) != (again.Trial == nil) || live.Trial != nil && *live.Trial != *again.Trial {
		t.Errorf("trial %+v, rebuilt %+v", live.Trial, again.Trial)
	}
	live.Trial, again.Trial = nil, nil
	if live != again {
		t.Errorf("the rebuilt state differs:\n%+v\n%+v", live, again)
	}
	if got, want := RebuildBudget(s.log, s.now), s.budget; got != want {
		t.Errorf("the rebuilt budget differs: %+v, want %+v", got, want)
	}
}

func TestALogFromTheFutureDoesNotHoldTheQueueForEver(t *testing.T) {
	p := DefaultPolicy()
	log := []LogEntry{change(epoch.Add(1000*time.Hour), 1, 2, "")}
	s := RebuildState(p, log, epoch)
	if m, _ := s.last(); m.at.After(epoch) {
		t.Errorf("a change from the future counts as of %v, want no later than now", m.at)
	}
	b := RebuildBudget(log, epoch)
	if n, until := b.Spent(p.DatabaseSpan, 1, epoch); n != 1 || until.After(epoch.Add(p.DatabaseSpan)) {
		t.Errorf("the budget is held until %v", until)
	}
}

func TestMoreChangesThanAreRememberedStillSpendTheBudget(t *testing.T) {
	p := DefaultPolicy()
	var s State
	var b Budget
	for i := range 100 {
		e := change(epoch.Add(time.Duration(i)*time.Second), 1+i%2, 2-i%2, VerbOverride)
		s.Learn(p, e, epoch.Add(time.Hour))
		b.Learn(e, epoch.Add(time.Hour))
	}
	now := epoch.Add(2 * time.Minute)
	if n, until := s.spent(p.QueueSpan, p.QueueChanges, now); n < p.QueueChanges || !until.Equal(epoch.Add(90*time.Second+p.QueueSpan)) {
		t.Errorf("%d changes, free at %v", n, until)
	}
	if n, until := b.Spent(p.DatabaseSpan, p.DatabaseChanges, now); n < p.DatabaseChanges || !until.Equal(epoch.Add(88*time.Second+p.DatabaseSpan)) {
		t.Errorf("%d changes of the database, free at %v", n, until)
	}
}

func TestAStepOfTheClockNeverShortensAWait(t *testing.T) {
	p := DefaultPolicy()
	for _, d := range []time.Duration{time.Hour, -time.Hour, 100 * time.Hour} {
		s := RebuildState(p, []LogEntry{change(epoch, 1, 2, "")}, epoch)
		now := epoch.Add(30 * time.Second).Add(d) // thirty real seconds later
		s.Step(d, now)
		m, _ := s.last()
		if left := m.at.Add(p.GrowCooldown).Sub(now); left < p.GrowCooldown-30*time.Second || left > p.GrowCooldown {
			t.Errorf("step of %v: %v left of the cooldown, want %v to all of it", d, left, p.GrowCooldown-30*time.Second)
		}
	}
}

func TestAStepOfTheClockNeverFreesABudget(t *testing.T) {
	p := DefaultPolicy()
	for _, d := range []time.Duration{time.Hour, -time.Hour, 100 * time.Hour} {
		var b Budget
		for range p.DatabaseChanges {
			b.Learn(change(epoch, 1, 2, ""), epoch)
		}
		now := epoch.Add(30 * time.Second).Add(d) // thirty real seconds later
		b.Step(d, now)
		n, until := b.Spent(p.DatabaseSpan, p.DatabaseChanges, now)
		if left := until.Sub(now); n != p.DatabaseChanges || left < p.DatabaseSpan-30*time.Second || left > p.DatabaseSpan {
			t.Errorf("step of %v: %d changes, %v left, want %d and %v to all of it", d, n, left, p.DatabaseChanges, p.DatabaseSpan-30*time.Second)
		}
	}
}

// What came before a queue was resumed stays before it when the clock steps.
func TestAStepOfTheClockDoesNotBringBackResumedReversals(t *testing.T) {
	p := DefaultPolicy()
	for _, d := range []time.Duration{time.Hour, -time.Hour} {
		var s State
		now := epoch
		for i := range 4 {
			s.Learn(p, change(now, 1+i%2, 2-i%2, ""), now)
			now = now.Add(time.Minute)
		}
		s.Learn(p, LogEntry{At: now, Kind: LogAct, Verb: VerbResume}, now)
		now = now.Add(time.Minute).Add(d)
		s.Step(d, now)
		now = now.Add(time.Minute)
		s.Learn(p, change(now, 1, 2, ""), now)
		if s.Oscillating {
			t.Errorf("step of %v: held again for reversals from before it was resumed", d)
		}
	}
}

func TestHandsDoNotMakeAQueueOscillate(t *testing.T) {
	p := DefaultPolicy()
	flips := func(verb Verb) State {
		var log []LogEntry
		for i := range 6 {
			log = append(log, change(epoch.Add(time.Duration(i)*time.Minute), 1+i%2, 2-i%2, verb))
		}
		return RebuildState(p, log, epoch.Add(time.Hour))
	}
	if flips(VerbOverride).Oscillating {
		t.Error("six overrides, and the queue is held as oscillating")
	}
	s := flips("")
	if !s.Oscillating {
		t.Error("six own reversals, and the queue is not held")
	}
	s.Learn(p, LogEntry{At: epoch.Add(2 * time.Hour), Kind: LogAct, Verb: VerbResume}, epoch.Add(2*time.Hour))
	s.Learn(p, change(epoch.Add(3*time.Hour), 1, 2, ""), epoch.Add(3*time.Hour))
	if s.Oscillating {
		t.Error("resumed by hand, and the reversals from before still count")
	}
}

// A person changed the count while the verdict on the change before was on its
// way to the log.
func TestAVerdictEndsTheTrialItIsAbout(t *testing.T) {
	p := DefaultPolicy()
	late := LogEntry{At: epoch.Add(3 * time.Minute), Kind: LogVerdict, From: 1, To: 2, Verdict: VerdictHarmful}
	s := RebuildState(p, []LogEntry{change(epoch, 1, 2, ""), change(epoch.Add(2*time.Minute), 2, 4, VerbApprove), late}, late.At)
	if s.Trial == nil || s.Trial.To != 4 || s.RevertTo != 0 {
		t.Errorf("trial %+v, to be taken back to %d; want 2 to 4 on trial", s.Trial, s.RevertTo)
	}
	if s.Lock.Shards != 1 {
		t.Errorf("what was found of the step before locks %+v", s.Lock)
	}
	s.Learn(p, LogEntry{At: late.At, Kind: LogVerdict, From: 2, To: 4, Verdict: VerdictHarmful}, late.At)
	if s.Trial != nil || s.RevertTo != 2 {
		t.Errorf("trial %+v, to be taken back to %d; want 2", s.Trial, s.RevertTo)
	}
}

func TestGenerationsOfPendingStepsAreNeverRepeated(t *testing.T) {
	s := newStage()
	s.queue.Enforced = false
	if err := s.do([]string{"run", "40s", "crowd=16"}); err != nil {
		t.Fatal(err)
	}
	first := s.state.Pending
	if first == nil {
		t.Fatal("nothing pending")
	}
	if err := s.do([]string{"clock", "-1h"}); err != nil {
		t.Fatal(err)
	}
	s.queue.PauseUp = &Pause{By: "ann"}
	_ = s.do([]string{"run", "1s"})
	s.queue.PauseUp = nil
	_ = s.do([]string{"run", "15m"})
	if second := s.state.Pending; second == nil || second.Generation <= first.Generation {
		t.Errorf("after a step back of the clock: %+v, want a generation above %d", second, first.Generation)
	}
}

func TestWhatTheStoreKeepsSurvivesJSON(t *testing.T) {
	s := newStage()
	s.queue.Enforced = false
	_ = s.do([]string{"run", "40s", "crowd=16"})
	_ = s.do([]string{"approve"})
	_ = s.do([]string{"run", "4m"})
	s.queue.Pin, s.queue.PauseUp = &Pin{Shards: 2, Until: s.now, By: "ann", Why: "x"}, &Pause{At: s.now, By: "ann"}
	again := func(in, out any) {
		b, err := json.Marshal(in)
		if err == nil {
			err = json.Unmarshal(b, out)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := reflect.ValueOf(out).Elem().Interface(); !reflect.DeepEqual(in, got) {
			t.Errorf("%+v came back as %+v", in, got)
		}
	}
	if len(s.log) < 4 || s.state.Pending == nil {
		t.Fatalf("%d entries, pending %v", len(s.log), s.state.Pending)
	}
	for _, e := range s.log {
		again(e, new(LogEntry))
	}
	again(*s.state.Pending, new(Pending))
	again(s.queue, new(QueuePolicy))
}
