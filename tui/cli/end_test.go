package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"shardpilot/control"
)

func TestTheEndHasItsCode(t *testing.T) {
	signalled := &Signalled{Signal: syscall.SIGTERM}
	stopped, stop := context.WithCancelCause(context.Background())
	stop(signalled)
	refused := &control.Fault{Kind: control.FaultRefused, What: "no"}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want int
	}{
		"all is well":                   {context.Background(), nil, 0},
		"a service ends":                {stopped, ErrEnded, 0},
		"a signal":                      {stopped, context.Canceled, 128 + 15},
		"a signal, and what followed":   {stopped, errors.Join(context.Canceled, signalled), 128 + 15},
		"a signal, and another failure": {stopped, errors.Join(context.Canceled, refused), 3},
		"refused":                       {context.Background(), fmt.Errorf("so: %w", refused), 3},
		"its reader has had enough":     {context.Background(), syscall.EPIPE, 1},
	} {
		if got := Finish(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if IgnoreDeadline(context.DeadlineExceeded) != nil || IgnoreDeadline(refused) == nil {
		t.Error("only the deadline is no error")
	}
}
