package control

import (
	"slices"
	"testing"
	"time"
)

func TestChangesOfRulesAreNamedWithTheirQueue(t *testing.T) {
	was := Rules{Policy: DefaultPolicy(), Queues: map[string]Policy{}}
	now := Rules{Policy: DefaultPolicy(), Queues: map[string]Policy{}}
	now.Policy.GrowShare = 0.3
	own := now.Policy
	own.ShrinkWindow = time.Hour
	now.Queues["orders"] = own
	want := []string{"GrowShare 0.25 -> 0.3", `queue "orders": GrowShare 0.25 -> 0.3`, `queue "orders": ShrinkWindow 30m0s -> 1h0m0s`}
	if got := now.Changes(was); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := was.Changes(now); len(got) != 3 || got[1] != `queue "orders": GrowShare 0.3 -> 0.25` {
		t.Errorf("on the way back: %q", got)
	}
	if got := now.Changes(now); len(got) != 0 {
		t.Errorf("nothing changed, and yet %q", got)
	}
	if paced := now.Pace(10); paced.Of("orders").ShrinkWindow != 6*time.Minute || paced.Of("mail").ShrinkWindow != 3*time.Minute {
		t.Errorf("paced: %v, %v", paced.Of("orders").ShrinkWindow, paced.Of("mail").ShrinkWindow)
	}
}
