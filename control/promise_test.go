package control

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPromisesHoldUnderAnyReadingsPolicyAndKeys drives a queue through random
// loads, failures, settings and operators' keys, and checks after each tick and
// each key what "How it is proved" promises.
func TestPromisesHoldUnderAnyReadingsPolicyAndKeys(t *testing.T) {
	t.Parallel()
	holds, steps := 0, map[Verb]int{}
	story := func(t *rapid.T) {
		s := newStage()
		s.p = DefaultPolicy().Pace(rapid.SampledFrom([]float64{10, 12}).Draw(t, "pace"))
		s.p.Period = time.Second // the stage reads once a second
		s.p.Batch = max(s.p.Batch, s.p.GrowWindow/12)
		s.track = NewTrack(s.p)
		s.shards = rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8, 64}).Draw(t, "count")
		s.queue.Auto = rapid.IntRange(0, 5).Draw(t, "auto") > 0
		s.queue.Enforced = s.queue.Auto && rapid.Bool().Draw(t, "enforced")
		s.queue.Max = rapid.IntRange(2, 16).Draw(t, "max")
		if rapid.IntRange(0, 5).Draw(t, "accepted") == 0 {
			s.queue.AcceptedBy = ""
		}
		s.check = func(in Input, d *Decision, fx Effects) {
			if fx.Step != nil {
				steps[fx.Step.Entry.Verb]++
			}
			if d != nil && d.Action == ActionHold {
				holds++
			}
			if broken := broken(s, in, d, fx); broken != "" {
				t.Fatalf("%s\ndecision %+v\nstep %+v", broken, d, fx.Step)
			}
		}
		for range rapid.IntRange(5, 25).Draw(t, "events") {
			line := happening(t)
			if err := s.do(line); err != nil {
				t.Fatalf("%v: %v", line, err)
			}
		}
	}
	rounds := 5 // of a hundred stories each
	if underRace {
		rounds = 2
	}
	for range rounds {
		rapid.Check(t, story)
	}
	t.Logf("%d holds, steps by verb: %v", holds, steps)
	if hands := steps[VerbOverride] + steps[VerbUndo] + steps[VerbPin]; steps[""] == 0 || steps[VerbApprove] == 0 || hands == 0 {
		t.Error("nobody took a step, or only some: the stories were too dull to prove anything")
	}
}

// happening is one random line of a story.
func happening(t *rapid.T) []string {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "what") }
	length := fmt.Sprint(rapid.IntRange(1, 90).Draw(t, "seconds"), "s")
	long := fmt.Sprint(rapid.IntRange(100, 400).Draw(t, "long"), "s")
	crowd := fmt.Sprint("crowd=", rapid.IntRange(0, 40).Draw(t, "crowd"))
	count := fmt.Sprint(rapid.IntRange(0, 66).Draw(t, "to"))
	switch rapid.IntRange(0, 14).Draw(t, "kind") {
	case 0, 1, 2:
		return []string{"run", length, crowd, "wait=0", "hold=0.1", "rate=20"}
	case 3:
		return []string{"run", long, "crowd=0", "wait=0", "hold=0.1", "rate=20"}
	case 4:
		return []string{"run", length, crowd, pick("notify=0.7", "notify=0", "stuck=1", "stuck=0", "stale=2", "stale=0", "top=0.95", "top=0", "drained=0", "drained=1", "cover=0.5", "cover=1", "hidden=1", "hidden=0", "useless=1", "slower=0.5")}
	case 5:
		return []string{"silence", length}
	case 6:
		return []string{pick("count"), fmt.Sprint(rapid.IntRange(1, 64).Draw(t, "count"))}
	case 7:
		return []string{"gate", pick("applied", "applied", "refused", "failed", "superseded")}
	case 8:
		return append([]string{pick("restart", "failover", "follow", "lead", "rebuild", "standby", "standby", "awa", "awa")}, pick("no", "yes", "active", "transition"))
	case 9:
		return []string{"clock", pick("1h", "-1h", "30s")}
	case 10, 14:
		return []string{pick("pin", "unpin"), "to=0", pick("for=300s", "for=20s")}
	case 11:
		return []string{pick("approve", "undo"), pick("force", "x")}
	default:
		words := []string{pick("approve", "approve", "reject", "override", "pin", "unpin", "pause", "resume", "undo", "auto", "manual")}
		words = append(words, "to="+count, pick("force", "x"), pick("accept", "y"), pick("up", "down", "z"), pick("for=20s", "v"), "max="+fmt.Sprint(rapid.IntRange(0, 70).Draw(t, "max")))
		return append(words, pick("enforced", "u"))
	}
}

// broken names the promise that an outcome breaks, "" when it keeps them all.
// d is nil after an operator's key.
func broken(s *stage, in Input, d *Decision, fx Effects) string {
	if d != nil {
		if what := unexplained(d); what != "" {
			return what
		}
	}
	if d != nil && !fx.Empty() && !in.World.Writes() {
		return "effects of a process that may not write"
	}
	x := fx.Step
	if x == nil {
		return ""
	}
	q, now, verb := in.Queue, in.World.Now, x.Entry.Verb
	byRule := verb == "" || verb == VerbApprove // the controller's own, carried out or approved
	switch {
	case x.From != in.Signal.Shards:
		return "a step from a count that is not the configured one"
	case x.To < MinShards || x.To > MaxShards:
		return "below 1 or above 64"
	case now.Sub(in.Signal.At) > staleAfter(s.p, in.Signal.Period):
		return "from a stale reading"
	case x.To > x.From && !x.Provision:
		return "up without a demand for provisioned lanes"
	case x.To < x.From && !x.Drained && !x.Force && !(byRule && x.Entry.Reason == ReasonRevert && x.To == s.state.RevertTo):
		return "down without a demand for drained lanes"
	case x.From == 1 && x.To > 1 && !q.Accepted() && !(x.Save && x.Policy.Accepted()):
		return "from 1 to more without partitioned FIFO accepted"
	case in.World.Database.Standby || in.World.Database.ReadOnly || !in.World.Awa.MayWrite:
		return "on a standby, or an Awa in transition"
	case verb != VerbPin && q.Pin.Holds(now):
		return "past a pin"
	case x.Actor == "" || x.Entry.Actor != x.Actor || x.Entry.Reason == "" || x.Entry.Kind != LogChange:
		return "without a name or a reason in the log"
	}
	if !byRule {
		return ""
	}
	revert := s.state.RevertTo != 0 && x.To == s.state.RevertTo
	one := x.To == x.From/2 || x.To == 2*x.From || x.To == q.Max && x.To > x.From && x.To < 2*x.From ||
		verb == VerbApprove && x.To > x.From && x.To < 2*x.From // to what was the maximum when it was proposed
	switch {
	case !q.Auto:
		return "an unopted queue"
	case x.To > x.From && x.To > q.Max:
		return "above its maximum"
	case !one && !revert:
		return "more than one step"
	case x.To > x.From && q.PauseUp != nil || x.To < x.From && q.PauseDown != nil:
		return "past a pause"
	}
	if verb == VerbApprove {
		return ""
	}
	switch {
	case x.Hand || x.Force:
		return "the controller posed as a person"
	case !q.Enforced || in.World.Process != ModeEnforced || in.World.Alone || x.Mode != ModeEnforced:
		return "shadow wrote"
	case !in.World.Lead.Leading:
		return "without leading"
	case now.Before(in.World.WarmUntil) || now.Before(in.World.StepUntil):
		return "while warming up"
	case in.Signal.Stale > 0 && x.To > x.From && !revert:
		return "with stale producers and no hand"
	}
	return ""
}

// unexplained names what is missing from a decision's explanation.
func unexplained(d *Decision) string {
	switch {
	case !d.Reason.Known() || d.Detail == "" || d.Queue == "" || d.At.IsZero():
		return "a decision without reason, words, queue or time"
	case d.Action == ActionHold && (len(d.Blockers) == 0 || d.To != d.From || d.Reason != d.Blockers[0].Rule):
		return "a hold that does not say what blocks first"
	case d.Action != ActionHold && d.To == d.From:
		return "a step to where it is"
	case d.Mode == ModeManual && d.Action != ActionHold:
		return "a step for a queue in manual mode"
	case d.Mode == ModeShadow && d.Action != ActionHold && !d.Pending:
		return "a shadow step that is not pending"
	}
	for _, b := range d.Blockers {
		if !b.Rule.Known() || b.Detail == "" {
			return "a blocker without rule or detail: " + string(b.Rule)
		}
	}
	return ""
}
