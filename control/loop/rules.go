package loop

import (
	"context"

	"shardpilot/control"
)

// Use puts other numbers in force from the next tick on. A queue whose windows
// are of another length now gathers its evidence anew; everything else goes on.
// Numbers outside their range are refused, and change nothing. It may be called
// from any goroutine while Run works.
func (r *Runner) Use(ctx context.Context, rules control.Rules) error {
	if err := rules.Validate(); err != nil {
		return err
	}
	select {
	case r.uses <- rules:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.stopped:
		return stopping()
	}
}

func (r *Runner) use(rules control.Rules) {
	was := r.rules
	r.rules = rules
	for _, m := range r.order {
		queue := m.Policy.Queue
		m.Use(r.own(queue), was.Of(queue), rules.Of(queue))
	}
}

// own are the numbers of one queue, nil when it has none of its own.
func (r *Runner) own(queue string) *control.Policy {
	if p, ok := r.rules.Queues[queue]; ok {
		return &p
	}
	return nil
}
