package cli

import (
	"testing"

	"shardpilot/control"
)

func TestAnApprovalIsJudgedOnEnough(t *testing.T) {
	step, few := &control.Pending{Queue: "orders"}, []control.Blocker{{Rule: control.ReasonFewSamples}}
	for name, c := range map[string]struct {
		d     control.Decision
		looks int
		want  bool
	}{
		"too early":            {control.Decision{Step: step}, ApproveLooks - 1, false},
		"long enough":          {control.Decision{Step: step}, ApproveLooks, true},
		"samples are missing":  {control.Decision{Step: step, Blockers: few}, 3 * ApproveLooks, false},
		"nothing is pending":   {control.Decision{Blockers: few}, 4, true},
		"perhaps not yet read": {control.Decision{}, 3, false},
	} {
		if got := CanJudge(c.d, c.looks); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatWasNotLookedAtIsNotSampled(t *testing.T) {
	e := control.Event{Snapshot: &control.Snapshot{Readings: []control.Reading{{Queue: "a", Share: control.Some(0)}, {Queue: "b"}}}}
	if Sampled(e) {
		t.Error("b has no share")
	}
	e.Snapshot.Readings[1].Share = control.Some(0.5)
	if !Sampled(e) {
		t.Error("both have a share")
	}
	e.Snapshot.Awa = control.Installation{Sentence: "no Awa", Hint: "install it"}
	if err := Unwatchable(e); control.ExitCode(err) != 3 {
		t.Errorf("%v", err)
	}
	e.Snapshot.Awa.MayWatch = true
	if err := Unwatchable(e); err != nil {
		t.Error(err)
	}
}
