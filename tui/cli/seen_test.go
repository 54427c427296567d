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

// TestAChangeByHandIsSeenComing: it looks long enough for figures to compare
// with, and no longer than that; what changes no count, or is forced, does not wait.
func TestAChangeByHandIsSeenComing(t *testing.T) {
	measured := control.Decision{From: 2, Evidence: control.Evidence{EnqueueRate: control.Some(10)}, Undo: control.Undo{From: 2, To: 1}}
	silent := control.Decision{From: 2, Undo: control.Undo{From: 2, To: 1}}
	for _, tc := range []struct {
		act   Act
		d     control.Decision
		looks int
	}{
		{Act{Override: 4}, measured, SetLooks}, {Act{Override: 4}, silent, 2 * SetLooks}, {Act{Override: 2}, silent, 1}, {Act{Override: 4, Force: true}, silent, 1},
		{Act{Pin: 4}, measured, SetLooks}, {Act{Pin: 8}, control.Decision{From: 2, Policy: control.QueuePolicy{Max: 4}}, 1}, {Act{Pin: 2}, silent, 1}, {Act{Manual: 1}, measured, SetLooks}, {Act{Undo: true}, measured, SetLooks},
		{Act{Undo: true}, control.Decision{From: 2}, 1}, {Act{Unpin: true}, silent, 1}, {Act{Auto: true, Max: 8}, silent, 1}, {Act{PauseUp: true}, silent, 1},
	} {
		looks := 1
		for !tc.act.CanCompare(tc.d, looks) && looks < 100 {
			looks++
		}
		if looks != tc.looks {
			t.Errorf("%+v acts after %d looks, want %d", tc.act, looks, tc.looks)
		}
	}
}
