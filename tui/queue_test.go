package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestQueuePageIsACompleteShardingPanel(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "block", Color: "none", Do: nothing}, "orders")
	w.edit = withHands
	w.play(400)
	w.m.Resize(160, 60)
	w.keys("enter")
	has(t, w.m, "S 4  shadow  max 8", "pinned", "braked", "14/16 producers on S", "waits on lane",
		"pinned to 4 until 11:26:53 UTC", "by erika@bastion: release", "steps down paused since 08:26:53 by otto@b1: night batch",
		"accepted by otto@b1", "erika@bastion 09:25:53",
		"After 2→4", "before", "after", "kept: jobs/s ×1.8, predicted ×1.9", "▲4 erika", "√×1.8",
		"checkout 18ms LWLock:WALWrite", "stale producers", "80 s left")
}

func TestShadowDecisionsAreMarkedOnTheCharts(t *testing.T) {
	w := newWorld(t, looks["none"], "orders")
	w.edit = func(ev *control.Event) {
		d := &ev.Decisions[0]
		d.Blockers = nil
		if w.sec == 150 {
			d.Action, d.To, d.Reason = control.ActionGrow, 8, control.ReasonContended
		}
	}
	w.play(200)
	w.m.Resize(120, 40)
	w.keys("enter")
	has(t, w.m, "△would 8")
}

// Whoever was seen holding a lane stands beside it for a while, and no longer.
func TestHoldersStandBesideTheirLanes(t *testing.T) {
	w := newWorld(t, looks["none"], "orders")
	w.edit = func(ev *control.Event) {
		r := &ev.Snapshot.Readings[0]
		r.Shards = 2
		r.Lanes = []control.LaneReading{{Priority: 2, Shard: 0}, {Priority: 2, Shard: 1}}
		h := *r.Holder
		h.Shard = w.sec % 2
		h.Application = []string{"even", "odd"}[w.sec%2]
		if w.sec <= 50 {
			r.Lanes[h.Shard].Holder = &h
		}
	}
	w.play(50)
	w.m.Resize(120, 40)
	w.keys("enter")
	has(t, w.m, "even 18ms", "odd 18ms")
	w.play(int(heldFor/time.Second) + 2)
	lacks(t, w.m, "even 18ms", "odd 18ms")
}

func TestCausesStackByWhatWasWaited(t *testing.T) {
	h := newHistory()
	for sec := range 60 {
		h.put(&control.Reading{At: start.Add(time.Duration(sec) * time.Second), PeriodS: 1, Waiters: control.Some(4), Bottleneck: control.BottleneckLane,
			Causes: control.Causes{Lane: control.Some(0.5), Notify: control.Some(0.25), Stuck: control.Some(0.25), Unknown: control.Some(0)}})
	}
	s := newSpan(start.Add(59*time.Second).Unix(), 60, 30)
	lines := stackStrip(h.shares(s), h.worst(s), 30+axisWidth, 4, glyphSet("ascii"))
	for i, want := range []string{"x", "n", "#", "#"} {
		if got := joined(lines[i])[axisWidth:]; got != strings.Repeat(want, 30) {
			t.Errorf("line %d is %q", i, got)
		}
	}
	for h := range 6 { // any sums, any height
		if n := len(stackCells([len(stacked)]float64{1, 0, 3, 2}, causeLane, h)); n != h {
			t.Errorf("%d cells of %d", n, h)
		}
	}
}

func TestAcceptanceIsOfferedOnlyWhereNobodyAccepted(t *testing.T) {
	for _, key := range []string{"o", "p", "m", "u"} {
		w := acting(t)
		edit := w.edit
		w.edit = func(ev *control.Event) { edit(ev); ev.Decisions[0].Undo = control.Undo{From: 2, To: 4} } // one to 1 needs no acceptance
		w.play(1)
		w.keys(key)
		has(t, w.m, "order holds within a shard only")
		w = acting(t)
		w.edit = func(ev *control.Event) { edit(ev); ev.Decisions[0].Policy.AcceptedBy = "otto@b1" }
		w.play(1)
		w.keys(key)
		if w.m.dialog == nil {
			t.Fatalf("%q does not ask", key)
		}
		lacks(t, w.m, "order holds within a shard only")
	}
}

func TestPinComesFromThePolicy(t *testing.T) {
	w := acting(t)
	edit := w.edit
	w.edit = func(ev *control.Event) {
		edit(ev)
		ev.Decisions[0].Policy.Pin = &control.Pin{Shards: 2, Until: start.Add(time.Minute), By: "otto"}
		ev.Decisions[0].Policy.Max = 8
	}
	w.play(1)
	w.keys("p")
	has(t, w.m, "no longer pinned")
	w.keys("esc", "m")
	if got := w.m.dialog.get("max").value; got != "8" {
		t.Errorf("the mode dialog offers max %q", got)
	}
	w.keys("esc")
	w.play(60) // the pin has run out
	w.keys("p")
	has(t, w.m, "Pin the shard count")
}

func TestBrakesSendWhatTheySay(t *testing.T) {
	for i, want := range []control.Command{
		{Verb: control.VerbPause, Up: true}, {Verb: control.VerbPause, Down: true},
		{Verb: control.VerbPause, Up: true, Down: true}, {Verb: control.VerbResume, Up: true, Down: true},
	} {
		w := acting(t)
		w.keys("b")
		for range i {
			w.keys("right")
		}
		w.keys("tab", "tab", "right")
		e := w.keys("enter")
		want.Queue, want.Actor, want.Host = "orders", "erika", "bastion"
		if e.Do == nil || *e.Do != want {
			t.Errorf("%d: got %+v, want %+v", i, e.Do, want)
		}
		if e.Do != nil {
			w.m.Done(*e.Do, control.Result{Detail: "noted"}, nil)
			has(t, w.m, "noted")
		}
	}
}

func TestChosenColumnsAndThresholds(t *testing.T) {
	w := newWorld(t, Options{Glyphs: "ascii", Color: "none", Columns: []string{"next", "wait", "queue"}, Thresholds: Thresholds{Share: 0.9, Waiters: 50}}).play(30)
	w.m.Resize(120, 40)
	head := strings.Split(plainView(w.m), "\n")[3]
	if f := strings.Fields(head); strings.Join(f, " ") != "v QUEUE NEXT STEP WAIT" {
		t.Errorf("the columns are %q", head)
	}
	crowds := func() (n int) {
		for _, r := range w.m.rows {
			if w.m.crowded(r) {
				n++
			}
		}
		return n
	}
	if n := crowds(); n != 0 {
		t.Errorf("%d rows are marked although none is beyond the thresholds", n)
	}
	if w = newWorld(t, looks["none"]).play(30); crowds() == 0 {
		t.Error("no row is marked by the usual thresholds")
	}
}

func TestOptionsAreHeldToWhatIsAllowed(t *testing.T) {
	for _, o := range []Options{
		{LabelColor: "mauve"}, {LabelColor: "#12345"}, {LabelColor: "#12345g"}, {Theme: "pink"}, {Columns: []string{"wait", "nonsense"}}, {Columns: []string{""}},
		{Glyphs: "emoji"}, {Color: "17"}, {Thresholds: Thresholds{Share: 1.5}}, {Thresholds: Thresholds{Share: 0.5, Heavy: 0.4}}, {Thresholds: Thresholds{Waiters: -1}},
	} {
		var f *control.Fault
		if err := o.Validate(); !errors.As(err, &f) || f.Kind != control.FaultUsage || f.Hint == "" {
			t.Errorf("%+v gives %v", o, err)
		}
	}
	for _, o := range []Options{{}, {LabelColor: "#a02c2c", Theme: "contrast", Columns: ColumnNames(), Thresholds: Thresholds{Share: 0.7}, Glyphs: "auto", Color: "auto"}} {
		if err := o.Validate(); err != nil {
			t.Errorf("%+v gives %v", o, err)
		}
	}
}

func TestThemesColourByRole(t *testing.T) {
	seen := map[string]string{}
	for _, theme := range []string{"auto", "dark", "light", "contrast", "mono"} {
		for _, colours := range []string{"truecolor", "256", "16"} {
			w := newWorld(t, Options{Glyphs: "block", Color: colours, Theme: theme, LabelColor: "red", Label: "prod"}).play(30)
			w.m.Resize(120, 40)
			fits(t, w.m.View(), 120, 40)
			if was := seen[w.m.View()]; was != "" && colours != "16" && theme != "mono" {
				t.Errorf("%s in %s looks like %s", theme, colours, was)
			}
			seen[w.m.View()] = theme + " in " + colours
			v := w.m.View()
			if theme == "mono" && (strings.Contains(v, "\x1b[3") || strings.Contains(v, ";3") || strings.Contains(v, ";4") && !strings.Contains(v, "\x1b[1;4")) {
				t.Errorf("mono in %s has colours", colours)
			}
			if red := map[string]string{"truecolor": "48;2;179;35;27", "256": "48;5;124", "16": "41"}[colours]; theme != "mono" && !strings.Contains(strings.SplitN(v, "\n", 2)[0], red) {
				t.Errorf("%s in %s: the label is not red: %q", theme, colours, strings.SplitN(v, "\n", 2)[0])
			}
		}
	}
	if w := newWorld(t, Options{Color: "none", Theme: "light", LabelColor: "red"}).play(3); strings.Contains(w.m.View(), "\x1b[") {
		t.Error("no colour has colours")
	}
}
