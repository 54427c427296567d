package control

import (
	"errors"
	"strings"
	"testing"
)

func TestGuardTurnsAPanicIntoAFaultThatKeepsItsStack(t *testing.T) {
	own := errors.New("its own")
	if err := Guard("it", func() error { return own }); !errors.Is(err, own) {
		t.Errorf("an error becomes %v", err)
	}
	err := Guard("the works", func() error { panic("a spanner") })
	var f *Fault
	if !errors.Is(err, ErrDefect) || !errors.As(err, &f) || f.Kind != FaultFailed || !strings.Contains(f.What, "the works") {
		t.Fatalf("a panic becomes %v", err)
	}
	if strings.Contains(f.Error(), "goroutine") || !strings.Contains(f.Err.Error(), "a spanner") || !strings.Contains(f.Err.Error(), "guard_test.go") {
		t.Errorf("the stack is in the wrong place: %v, cause %v", f, f.Err)
	}
}
