package tui

import (
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// following is a world whose controller is elsewhere, so that its first queue
// has the rule that another leads before those given.
func following(t *testing.T, glyphs string, edit func(*control.Decision), rules ...control.Blocker) *world {
	w := newWorld(t, Options{Glyphs: glyphs, Color: "none", Do: nothing}, "orders")
	w.edit = func(ev *control.Event) {
		ev.Leader = "root@vm"
		d := &ev.Decisions[0]
		d.Reason, d.Detail, d.Next = control.ReasonNotLeader, "this process does not lead: root@vm does", start
		d.Blockers = append([]control.Blocker{{Rule: control.ReasonNotLeader, Detail: "root@vm does"}}, rules...)
		if edit != nil {
			edit(d)
		}
	}
	w.play(3)
	w.m.Resize(200, 60)
	return w
}

func stepped(d *control.Decision) {
	d.Step = &control.Pending{Queue: d.Queue, From: 2, To: 4, Generation: 7, At: start, Until: start.Add(1e12), Detail: "2 → 4: share 0.62"}
}

func TestFollowersDoNotSayThatAPendingStepIsForbidden(t *testing.T) {
	const forbidden = "the rules would not allow it"
	w := following(t, "block", stepped)
	w.keys("enter")
	has(t, w.m, "Pending step")
	lacks(t, w.m, forbidden)
	w = following(t, "block", stepped, control.Blocker{Rule: control.ReasonStaleProducers, For: control.ActionGrow},
		control.Blocker{Rule: control.ReasonNotCalm, For: control.ActionShrink})
	w.keys("enter")
	lacks(t, w.m, forbidden)
	w = following(t, "block", stepped, control.Blocker{Rule: control.ReasonPinned, Detail: "to 2"})
	w.keys("enter")
	has(t, w.m, forbidden)
}

func TestFollowersSayWhatAQueueWaitsFor(t *testing.T) {
	notCalm := control.Blocker{Rule: control.ReasonNotCalm, Detail: "share 0.40", For: control.ActionShrink}
	for _, c := range []struct {
		want  string
		edit  func(*control.Decision)
		rules []control.Blocker
	}{
		{"share low: 0.19, needs 0.25", nil, []control.Blocker{{Rule: control.ReasonShareLow, Detail: "share 0.19, needs 0.25", For: control.ActionGrow}, notCalm}},
		{"may be raised, predicted ×1.9", nil, []control.Blocker{notCalm}},
		{"may be lowered", nil, []control.Blocker{{Rule: control.ReasonShareLow, For: control.ActionGrow}}},
		{"2→4 pending", stepped, nil},
	} {
		w := following(t, "block", c.edit, c.rules...)
		has(t, w.m, c.want, "following root@vm")
		lacks(t, w.m, "not leader: ")
		w.m.Resize(80, 24) // where the page begins with the first reason
		w.keys("enter")
		lacks(t, w.m, "does not lead")
	}
	w := following(t, "block", nil, control.Blocker{Rule: control.ReasonPinned, Detail: "to 2"})
	edit := w.edit
	w.edit = func(ev *control.Event) { edit(ev); ev.Leader = "" } // then it is news
	w.play(1)
	has(t, w.m, "not leader: root@vm does")
}

func TestSignsOfTheControllerAreWrittenInASCII(t *testing.T) {
	told := "2 → 4: enqueue rate ×1.9, 6 ÷ 2"
	w := following(t, "ascii", func(d *control.Decision) { d.Reason, d.Detail = control.ReasonCooldown, "after "+told }, control.Blocker{Rule: control.ReasonCooldown, Detail: told})
	has(t, w.m, "2 -> 4: enqueue rate x1.9, 6 / 2")
	w.keys("enter")
	has(t, w.m, "after 2 -> 4: enqueue rate x1.9, 6 / 2")
	lacks(t, w.m, `\u`)
	if g := glyphSet("ascii"); g.wish == g.causes[causeUnknown] {
		t.Errorf("what shadow mode would do and what is hidden are both %q", g.wish)
	}
	if got := glyphSet("ascii").told("übrig"); got != `\u00fcbrig` {
		t.Errorf("a letter became %q", got)
	}
}

// What lanes alone would bring is no promise where something else is in the way.
func TestNoGainIsPromisedWhereLanesAreNotInTheWay(t *testing.T) {
	for rule, promised := range map[control.Reason]bool{control.ReasonCooldown: true, control.ReasonNotifyBound: false, control.ReasonStuckHolder: false, control.ReasonSkewed: false} {
		w := acting(t)
		edit := w.edit
		w.edit = func(ev *control.Event) {
			edit(ev)
			for i := range ev.Decisions {
				d := &ev.Decisions[i]
				d.Step, d.Pending, d.Action = nil, false, control.ActionHold
				d.Reason, d.PredictedGain, d.Blockers = rule, control.Some(1.5), []control.Blocker{{Rule: rule, Detail: "why"}}
			}
		}
		w.play(1)
		w.m.Resize(120, 40)
		if got := strings.Contains(plainView(w.m), "predicted to bring"); got != promised {
			t.Errorf("%s: a gain is promised: %v", rule, got)
		}
	}
}

func TestATimeOfAnotherDayHasItsDay(t *testing.T) {
	w := acting(t)
	now := w.m.clock()
	if got := w.m.until(now.Add(time.Second)); strings.Contains(got, "-") {
		t.Errorf("today: %s", got)
	}
	later := now.Add(48 * time.Hour)
	if got, day := w.m.until(later), later.In(w.m.opt.Now().Location()).Format(time.DateOnly); !strings.HasPrefix(got, day) {
		t.Errorf("the day after tomorrow: %s", got)
	}
}
