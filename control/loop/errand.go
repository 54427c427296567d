package loop

import (
	"context"
	"errors"
	"time"

	"shardpilot/control"
)

// errand is one trip to the store: save, then apply, then load.
type errand struct {
	batch  Batch
	step   *control.Step
	asked  *ask // the command it is for, nil when it is the controller's own
	result control.Result
	// refused is the answer to a command that came too late, of which nothing
	// but that goes into the log.
	refused error
	began   time.Time // our clock
}

type errandResult struct {
	saved   Saved
	change  *control.Change
	handed  bool  // the step was handed to the gate
	err     error // of the save or the gate: the errand's business
	loadErr error // of the load: the store's business
	fatal   error
}

func (b *Batch) empty() bool {
	return len(b.Entries) == 0 && len(b.Propose) == 0 && len(b.UseUp) == 0 && len(b.Policies) == 0
}

func (b *Batch) add(queue string, fx control.Effects) {
	b.Entries = append(b.Entries, fx.Entries...)
	if fx.Propose != nil {
		b.Propose = append(b.Propose, *fx.Propose)
	}
	if fx.UseUp != 0 {
		b.UseUp = append(b.UseUp, Used{Queue: queue, Generation: fx.UseUp, Must: fx.Must})
	}
	if fx.Policy != nil {
		b.Policies = append(b.Policies, *fx.Policy)
	}
}

// send starts an errand. Nothing else goes out until it is back.
func (r *Runner) send(ctx context.Context, e *errand) {
	e.began = r.c.Now()
	r.errand, r.wantLoad, r.loadTried = e, false, e.began
	if e.step != nil {
		r.budget.InFlight = e.step.Queue
	}
	after := r.last
	r.wg.Go(func() {
		var done errandResult
		done.fatal = control.Guard("the store", func() error {
			done = r.run(ctx, e, after)
			return nil
		})
		r.errands <- done
	})
}

// run is the errand itself, in its own goroutine; it touches no state.
func (r *Runner) run(ctx context.Context, e *errand, after int64) errandResult {
	var done errandResult
	call := func(f func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, r.c.Timeout)
		defer cancel()
		return f(ctx)
	}
	if !e.batch.empty() {
		done.err = call(func(ctx context.Context) error { return r.c.Store.Save(ctx, e.batch) })
	}
	if e.asked != nil && refusal(done.err) { // somebody was quicker: both stand in the log
		if err := call(func(ctx context.Context) error { return r.c.Store.Save(ctx, e.batch.late(done.err)) }); err != nil {
			done.loadErr = err
		}
	}
	if e.step != nil && done.err == nil {
		done.handed = true
		done.err = call(func(ctx context.Context) error {
			c, err := r.c.Gate.Apply(ctx, *e.step)
			if err == nil {
				done.change = &c
			}
			return err
		})
		if done.err != nil { // what happened is not known; that much is logged
			entry := e.step.Entry
			entry.Outcome, entry.Pending = control.OutcomeFailed, 0
			entry.Detail = "the gate failed: " + what(done.err)
			if err := call(func(ctx context.Context) error {
				return r.c.Store.Save(ctx, Batch{Entries: []control.LogEntry{entry}})
			}); err != nil {
				done.loadErr = err
			}
		}
	}
	err := call(func(ctx context.Context) error {
		var err error
		done.saved, err = r.c.Store.Load(ctx, after)
		return err
	})
	if err != nil {
		done.loadErr = err
	}
	return done
}

// late is what is left of a person's batch that the store refused, since a
// pending step or a policy is not what it was: entries that say so.
func (b *Batch) late(why error) Batch {
	var out Batch
	for _, e := range b.Entries {
		e.Kind, e.Outcome, e.Reason = control.LogChange, control.OutcomeSuperseded, control.ReasonSuperseded
		e.Detail, e.Pending = what(why), 0
		out.Entries = append(out.Entries, e)
	}
	return out
}

func what(err error) string {
	var f *control.Fault
	if errors.As(err, &f) {
		return f.What
	}
	return err.Error()
}

// refusal says whether the store answered and said no, as against not working.
func refusal(err error) bool {
	var f *control.Fault
	return errors.As(err, &f) && (f.Kind == control.FaultRefused || f.Kind == control.FaultUsage)
}

// finish takes an errand back: learn, note how the store is, answer.
func (r *Runner) finish(done errandResult) {
	e := r.errand
	r.errand, r.budget.InFlight = nil, ""
	if done.fatal != nil {
		r.fatal = done.fatal
	}
	switch broken := done.loadErr; {
	case done.fatal != nil:
	case broken == nil && done.err != nil && !refusal(done.err) && !done.handed:
		r.storeBroke(done.err)
		r.learn(done.saved, e.began)
	case broken == nil:
		r.learn(done.saved, e.began)
		r.world.Store = ""
		r.storeSince = time.Time{}
	default:
		r.storeBroke(broken)
	}
	if e.asked == nil {
		return
	}
	a := answer{result: e.result, err: done.err}
	if e.refused != nil {
		a.err = e.refused
	}
	if done.fatal != nil {
		a.err = done.fatal
	}
	if done.change != nil {
		a.result.Change = done.change
		a.result.Detail = done.change.Detail
	}
	if m, ok := r.members[e.asked.command.Queue]; ok && done.loadErr == nil && a.err == nil {
		a.result.Policy = m.Policy
	}
	e.asked.reply <- a
}

// storeBroke freezes everything until the log can be read again. The text says
// since when, not how often.
func (r *Runner) storeBroke(err error) {
	if r.storeSince.IsZero() {
		r.storeSince = r.c.Now()
	}
	r.world.Store = "the decision log cannot be used since " + r.storeSince.UTC().Format("15:04:05Z") + ": " + what(err)
}

// learn moves the state by what is new in the log. One that ends before what is
// known was made anew, or restored: nothing of what it held before counts.
func (r *Runner) learn(s Saved, began time.Time) {
	if s.Last < r.last {
		r.last, r.loaded, r.budget = 0, false, control.Budget{}
		for _, m := range r.order {
			m.State = control.State{}
		}
	}
	first := !r.loaded
	r.loaded, r.loadedAt = true, began
	if s.Last == r.last && !first {
		return
	}
	now := r.serverNow()
	for _, e := range s.Entries {
		if e.ID <= r.last {
			continue
		}
		r.budget.Learn(e, now)
		if e.Queue != "" {
			r.member(e.Queue).State.Learn(r.rules.Of(e.Queue), e, now)
		}
		if !first {
			r.news.add(e)
		}
	}
	if first {
		r.news.entries = append(r.news.entries, s.Entries[max(0, len(s.Entries)-tail):]...)
	}
	r.last = max(r.last, s.Last)
	for _, m := range r.order {
		m.Policy = control.QueuePolicy{Queue: m.Policy.Queue}
		m.State.Pending = nil
	}
	for _, q := range s.Policies {
		r.member(q.Queue).Policy = q
	}
	for i := range s.Pending {
		p := s.Pending[i]
		r.member(p.Queue).State.Pending = &p
	}
}

// tail is how much of the log the first event carries.
const tail = 500

func (n *news) add(e control.LogEntry) {
	n.entries = append(n.entries, e)
	switch e.Kind {
	case control.LogChange, control.LogAdopted:
		c := control.Change{At: e.At, Queue: e.Queue, From: e.From, To: e.To, Actor: e.Actor, Outcome: e.Outcome, Detail: e.Detail}
		if e.Kind == control.LogAdopted {
			c.Outcome = control.OutcomeApplied
		}
		n.changes = append(n.changes, c)
	case control.LogVerdict:
		n.verifications = append(n.verifications, control.Verification{
			At: e.At, Queue: e.Queue, From: e.From, To: e.To, Result: e.Verdict,
			Gain: e.Gain, PredictedGain: e.PredictedGain, Detail: e.Detail,
		})
	}
}
