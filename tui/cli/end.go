package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"shardpilot/control"
	"shardpilot/tui"
)

// ErrEnded is the orderly end of a service.
var ErrEnded = errors.New("ended in order")

// Finish says what went wrong and turns it into the exit code.
func Finish(ctx context.Context, err error) int {
	if errors.Is(err, ErrEnded) {
		return 0
	}
	var sig *Signalled
	if errors.As(context.Cause(ctx), &sig) && Ended(err) {
		return 128 + int(sig.Signal)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(os.Stderr, "shardpilot: %s\n", tui.SafeLines(err.Error()))
	}
	return control.ExitCode(err)
}

// Ended says whether err tells of nothing but the end of the context.
func Ended(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !Ended(e) })
	}
	var sig *Signalled
	return err == nil || errors.Is(err, context.Canceled) || errors.As(err, &sig)
}

// IgnoreDeadline is err, but nil where the time that was asked for is over.
func IgnoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
