package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"shardpilot/control"
)

// TestASweepTellsAGoodThresholdFromABadOne: a queue that may only grow when
// nearly everybody waits stays slow, and the table says by how much.
func TestASweepTellsAGoodThresholdFromABadOne(t *testing.T) {
	rows, err := Sweep(context.Background(), shelf(), SweepPlan{
		Shapes: []string{"steady", "idle"}, Static: []int{1, 2, 4, 8}, Seeds: []uint64{1, 2}, Seconds: 4 * 3600, Every: 3, DecideEach: 3,
		Trials: []Trial{{"grow at 0.95", []string{"GrowShare=0.95", "FastShare=0.99"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "defaults" || len(rows[1].Scores) != 2 {
		t.Fatalf("rows %+v", rows)
	}
	good, _, _ := rows[0].Total()
	bad, _, _ := rows[1].Total()
	if good > 0.05 || bad < 0.2 {
		t.Errorf("mean regret %.3f by default, %.3f with a threshold nobody reaches", good, bad)
	}
	if s := rows[1].Scores[1]; s.Shape != "idle" || s.Regret > 0.02 || s.Changes != 0 {
		t.Errorf("an idle queue has nothing to regret: %+v", s)
	}
	table := SweepTable(rows)
	if lines := strings.Count(table, "\n"); lines != 2+4 || !strings.Contains(table, "| grow at 0.95 | steady |") {
		t.Errorf("the table is\n%s", table)
	}
}

// TestAThresholdIsSetByItsName and nothing else is taken for one.
func TestAThresholdIsSetByItsName(t *testing.T) {
	p := control.DefaultPolicy()
	for _, set := range [][2]string{{"GrowWindow", "90s"}, {"growshare", "0.3"}, {"REVERSALS", "4"}} {
		if err := SetKnob(&p, set[0], set[1]); err != nil {
			t.Error(err)
		}
	}
	if p.GrowWindow.Seconds() != 90 || p.GrowShare != 0.3 || p.Reversals != 4 {
		t.Errorf("%v %v %v", p.GrowWindow, p.GrowShare, p.Reversals)
	}
	if Knob(p, "growwindow") != "1m30s" || Knob(p, "GrowShare") != "0.3" || Knob(p, "none") != "" {
		t.Errorf("read back as %q, %q, %q", Knob(p, "growwindow"), Knob(p, "GrowShare"), Knob(p, "none"))
	}
	for _, bad := range [][2]string{{"Grow", "1"}, {"GrowWindow", "90"}, {"GrowShare", "much"}, {"Reversals", "2.5"}, {"", ""}} {
		var fault *control.Fault
		if err := SetKnob(&p, bad[0], bad[1]); !errors.As(err, &fault) || fault.Kind != control.FaultUsage {
			t.Errorf("%v was set: %v", bad, err)
		}
	}
	_, err := Sweep(context.Background(), shelf(), SweepPlan{Trials: []Trial{{"bad", []string{"GrowShare=7"}}}})
	if err == nil {
		t.Error("a policy that is out of range was swept")
	}
}
