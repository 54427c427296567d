package cli

import (
	"strings"
	"testing"

	"shardpilot/control"
)

func TestLeavingNamesWhatNobodyActsOnAnyMore(t *testing.T) {
	many := []control.Decision{{Queue: "watched", Mode: control.ModeShadow, From: 1}}
	if got := Leaving("db:5432/app", many); got != "" {
		t.Errorf("nothing was acted on, and it says %q", got)
	}
	for _, q := range []string{"a\x1b[2J", "b", "c", "d", "e", "f", "g"} {
		many = append(many, control.Decision{Queue: q, Mode: control.ModeEnforced, From: 4})
	}
	got := Leaving("db:5432/app", many)
	for _, must := range []string{"db:5432/app", "b (S = 4)", "2 more", "nobody acts"} {
		if !strings.Contains(got, must) {
			t.Errorf("%q does not say %q", got, must)
		}
	}
	if strings.ContainsAny(got, "\x1b") || strings.Contains(got, "watched") {
		t.Errorf("it says what it should not: %q", got)
	}
}
