package control

import "errors"

// FaultKind sorts faults by the exit code they end a command with.
type FaultKind int

// The kinds, each with its exit code.
const (
	FaultFailed       FaultKind = 1 // something broke
	FaultUsage        FaultKind = 2 // flags or arguments
	FaultRefused      FaultKind = 3 // a rule, a right or somebody else stood in the way
	FaultNoConnection FaultKind = 4 // PostgreSQL could not be reached or did not let us in
	FaultGate         FaultKind = 5 // the experiment's gate is not passed
)

// Fault is an error made for an operator: what happened, then what to do.
// Neither text may hold a secret.
type Fault struct {
	Kind FaultKind
	What string // one sentence, no full stop at the end
	Hint string // the next step, "" when there is none
	Err  error  // the cause, for errors.Is and logs; nil when there is none
}

func (f *Fault) Error() string {
	if f.Hint == "" {
		return f.What
	}
	return f.What + "\n" + f.Hint
}

func (f *Fault) Unwrap() error { return f.Err }

// ExitCode is the code that err ends the process with: 0 for nil, the kind of
// the first Fault in its chain, 1 for everything else.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var f *Fault
	if errors.As(err, &f) {
		return int(f.Kind)
	}
	return int(FaultFailed)
}
