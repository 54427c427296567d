package control

import (
	"strings"
	"testing"
	"time"
)

// Whoever comes too late is told by whom and when, and stands in the log;
// whoever asks for what was never possible does not.
func TestWhoComesTooLateIsToldAndLogged(t *testing.T) {
	s := newStage()
	s.queue.Enforced = false
	_ = s.do([]string{"run", "40s", "crowd=16"})
	step := s.state.Pending
	if step == nil {
		t.Fatal("nothing is pending")
	}
	taken := LogEntry{At: s.now, Kind: LogChange, Outcome: OutcomeApplied, From: 1, To: 2, Pending: step.Generation, Actor: "bob@desk", Verb: VerbApprove, Reason: ReasonApproved}
	s.state.Learn(s.p, taken, s.now)
	s.shards = 2
	_ = s.do([]string{"run", "10s", "crowd=16"})
	at := taken.At.UTC().Format("15:04:05Z")
	for name, c := range map[string]struct {
		command  Command
		says     string
		from, to int // of the entry, 0 when there is none
	}{
		"approve what is taken":       {Command{Verb: VerbApprove, Expect: step.Generation}, "by bob@desk at " + at, 1, 2},
		"force what is taken":         {Command{Verb: VerbApprove, Expect: step.Generation, Force: true}, "by bob@desk at " + at, 1, 2},
		"reject what is taken":        {Command{Verb: VerbReject, Expect: step.Generation}, "by bob@desk at " + at, 1, 2},
		"override from the old count": {Command{Verb: VerbOverride, From: 1, To: 4}, "changed by bob@desk at " + at, 1, 4},
		"pin from the old count":      {Command{Verb: VerbPin, From: 1, To: 8}, "changed by bob@desk at " + at, 1, 8},
		"undo another change":         {Command{Verb: VerbUndo, From: 4, To: 1}, "changed by bob@desk at " + at, 4, 1},
		"a step never seen":           {Command{Verb: VerbApprove}, "no step", 0, 0},
		"a count out of range":        {Command{Verb: VerbOverride, From: 2, To: 65}, "1 to 64", 0, 0},
		"what is there already":       {Command{Verb: VerbOverride, From: 2, To: 2}, "already", 0, 0},
	} {
		c.command.Queue, c.command.Actor, c.command.Host, c.command.Why = "orders", "ann", "bastion", "why"
		fx, _, err := Act(s.p, s.state, s.input(), c.command)
		if err == nil || !fx.Empty() || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: told %v, want %q", name, err, c.says)
			continue
		}
		e, ok := Superseded(s.state, s.input(), c.command, err)
		if ok != (c.to != 0) {
			t.Errorf("%s: logged %v", name, ok)
		}
		if ok && (e.Kind != LogChange || e.Outcome != OutcomeSuperseded || e.From != c.from || e.To != c.to || e.Pending != 0 ||
			e.Actor != "ann@bastion" || e.Why != "why" || e.Verb != c.command.Verb || !strings.Contains(e.Detail, c.says)) {
			t.Errorf("%s: the log would say %+v", name, e)
		}
		before := s.state
		if ok {
			if s.state.Learn(s.p, e, s.now); s.state != before {
				t.Errorf("%s: the entry moves the state", name)
			}
		}
	}
}

func TestUndoIsWhatItSaysItIs(t *testing.T) {
	s := newStage()
	s.shards = 4
	_ = s.do([]string{"run", "1m", "crowd=1"})
	if got := s.state.undo(); got != (Undo{}) {
		t.Errorf("no change, and undo is %+v", got)
	}
	s.state.Learn(s.p, LogEntry{At: s.now, Kind: LogChange, Outcome: OutcomeApplied, From: 4, To: 2, Actor: "bob@desk", Verb: VerbOverride}, s.now)
	if got := s.state.undo(); got != (Undo{From: 2, To: 4}) {
		t.Errorf("undo is %+v", got)
	}
	undo := func() (Effects, error) {
		fx, _, err := hand(t, s, Command{Verb: VerbUndo, From: 2, To: 4})
		return fx, err
	}
	if _, err := undo(); ExitCode(err) != 3 || !strings.Contains(err.Error(), "not been read since") {
		t.Errorf("before the new count is read: %v", err)
	}
	s.shards = 2
	_ = s.do([]string{"run", "5s", "crowd=1"})
	if fx, err := undo(); err != nil || fx.Step == nil || fx.Step.From != 2 || fx.Step.To != 4 || fx.Step.Entry.Reason != ReasonUndo {
		t.Errorf("undo: %v, %+v", err, fx.Step)
	}
	s.now = s.now.Add(time.Minute)
	s.shards = 8
	if err := s.do([]string{"run", "1s", "crowd=1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := undo(); ExitCode(err) != 3 || !strings.Contains(err.Error(), "it is 8") {
		t.Errorf("after somebody else changed the count: %v", err)
	}
}

// The probe reads counts once a second, and rarer where that is slow: for a
// moment a reading may have the count from before the newest change.
func TestAReadingFromBeforeAChangeIsNobodyElsesDoing(t *testing.T) {
	s := newStage()
	_ = s.do([]string{"run", "30s", "crowd=16"})
	if s.shards != 2 || s.state.Trial == nil {
		t.Fatalf("%d shards, trial %v", s.shards, s.state.Trial)
	}
	s.shards = 1 // what is read
	s.check = func(_ Input, d *Decision, fx Effects) {
		if fx.Step != nil || d.Action != ActionHold {
			t.Errorf("a step from a count that is no more: %+v", d)
		}
	}
	_ = s.do([]string{"run", "4s"})
	s.shards = 2
	_ = s.do([]string{"run", "10s"})
	adopted := func() (n int) {
		for _, e := range s.log {
			if e.Kind == LogAdopted {
				n++
			}
		}
		return n
	}
	if adopted() > 0 || s.state.Trial == nil {
		t.Errorf("our own change is in the log as somebody else's, and its trial is %v: %+v", s.state.Trial, s.log)
	}
	s.shards = 1
	_ = s.do([]string{"run", "10s"})
	if adopted() != 1 {
		t.Errorf("what somebody else wrote later is in the log %d times, want once", adopted())
	}
}
