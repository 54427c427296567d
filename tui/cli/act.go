package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"shardpilot/control"
	"shardpilot/tui"
)

// Who names the person, or service, and the machine, as the log shows them.
func Who() (who, host string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username, host
	}
	return "uid" + strconv.Itoa(os.Getuid()), host
}

// CarryOut gives one command to the controller and says what came of it.
func (c Command) CarryOut(ctx context.Context, do func(context.Context, control.Command) (control.Result, error), act control.Command) error {
	res, err := do(ctx, act)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := Object(os.Stdout, map[string]any{"queue": act.Queue, "verb": act.Verb, "detail": res.Detail, "change": res.Change, "policy": res.Policy}); err != nil {
			return err
		}
	}
	if ch := res.Change; ch != nil && ch.Outcome != control.OutcomeApplied {
		kind := control.FaultRefused
		if ch.Outcome == control.OutcomeFailed {
			kind = control.FaultFailed
		}
		return &control.Fault{Kind: kind, What: fmt.Sprintf("%d -> %d was %s: %s", ch.From, ch.To, ch.Outcome, ch.Detail), Hint: "shardpilot show tells where the queue stands now"}
	}
	if !c.JSON {
		fmt.Println(Safe(act.Queue) + ": " + Safe(res.Detail))
	}
	return nil
}

// Say prints words, or the object where JSON is asked for.
func (c Command) Say(words string, object any) error {
	if c.JSON {
		return Object(os.Stdout, object)
	}
	_, err := fmt.Println(tui.SafeLines(words))
	return err
}
