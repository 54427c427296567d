package loop

import (
	"context"

	"shardpilot/control"
)

type ask struct {
	command control.Command
	reply   chan answer // holds one
}

type answer struct {
	result control.Result
	err    error
}

// Do carries out an operator's command and returns when its outcome is in the
// log. A step that was superseded or refused at the gate is a Result with that
// Outcome; an error is a *control.Fault that says why nothing was done, or what
// is not known. It may be called from any goroutine, also before Run. When ctx
// ends first the command may still be carried out.
func (r *Runner) Do(ctx context.Context, c control.Command) (control.Result, error) {
	a := ask{command: c, reply: make(chan answer, 1)}
	select {
	case r.asks <- a:
	case <-ctx.Done():
		return control.Result{}, ctx.Err()
	case <-r.stopped:
		return control.Result{}, stopping()
	}
	select {
	case got := <-a.reply:
		return got.result, got.err
	case <-ctx.Done():
		return control.Result{}, ctx.Err()
	}
}

// dispatch sends the next thing that waits for the store to be free: commands
// in the order they came, then a load.
func (r *Runner) dispatch(ctx context.Context) {
	for r.errand == nil && r.fatal == nil && len(r.asked) > 0 {
		a := r.asked[0]
		r.asked = r.asked[1:]
		r.act(ctx, a)
	}
	if r.errand == nil && r.fatal == nil && r.wantLoad {
		r.send(ctx, &errand{})
	}
}

// act answers a command at once, or sends it off.
func (r *Runner) act(ctx context.Context, a ask) {
	r.world = r.world.At(r.serverNow())
	m, ok := r.members[a.command.Queue]
	switch {
	case r.world.Store != "":
		a.reply <- answer{err: refused(r.world.Store, "Nothing was done; try again when the log can be written")}
		return
	case !ok:
		a.reply <- answer{err: refused("no such queue here", "Queues are named as Awa's tables name them")}
		return
	}
	in := control.Input{World: r.world, Queue: m.Policy, Signal: m.Track.Signal(r.rules.Of(m.Policy.Queue)), Budget: r.budget}
	fx, res, err := control.Act(r.rules.Of(m.Policy.Queue), m.State, in, a.command)
	if err == nil && fx.Step != nil && r.c.Gate == nil {
		err = refused("this process cannot write shard counts", "Run shardpilot install, and give its role the rights of shardpilot grants")
	}
	if entry, late := control.Superseded(m.State, in, a.command, err); late {
		r.send(ctx, &errand{asked: &a, refused: err, batch: Batch{Entries: []control.LogEntry{entry}}})
		return
	}
	if err != nil || fx.Empty() {
		a.reply <- answer{result: res, err: err}
		return
	}
	e := &errand{step: fx.Step, asked: &a, result: res}
	e.batch.add(m.Policy.Queue, fx)
	r.send(ctx, e)
}

func refused(what, hint string) error {
	return &control.Fault{Kind: control.FaultRefused, What: what, Hint: hint}
}
