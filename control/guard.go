package control

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrDefect is in the chain of what Guard makes of a panic.
var ErrDefect = errors.New("a defect")

// Guard runs f and turns a panic in it into a Fault with the stack as its cause.
// Whatever runs in a goroutine of its own under a live screen goes through it:
// there a panic would end the process and leave the terminal as it is.
func Guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Fault{Kind: FaultFailed, What: "internal error in " + what,
				Hint: "This is a defect of shardpilot; the file that --log-file names has the details",
				Err:  fmt.Errorf("%w: %v\n%s", ErrDefect, p, debug.Stack())}
		}
	}()
	return f()
}
