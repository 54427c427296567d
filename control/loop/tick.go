package loop

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"shardpilot/control"
)

// member is a queue and when it was last in a snapshot.
type member struct {
	control.Member
	seen time.Time // our clock
	// strange is when a count was first seen that the log does not explain;
	// the log is read once more before that is called somebody else's doing.
	strange time.Time
}

// forget is how long a queue that is in no snapshot and has no policy is kept.
const forget = 10 * time.Minute

// longestRetry bounds the pause after failed reads. What reads connects again by
// itself and answers from memory, so that asking it costs the server nothing.
const longestRetry = 5 * time.Second

type readResult struct {
	snapshot control.Snapshot
	err      error
	fatal    error
}

// tick starts a read, unless one is out. In the pause after a failed one it is
// told again that reads fail: who leads, what holds and how old everything is
// change in the pause too.
func (r *Runner) tick(ctx context.Context) {
	if r.reading {
		return
	}
	if left := r.retryAt.Sub(r.c.Now()); left > 0 && r.failed != nil {
		again := *r.failed
		again.RetryIn, again.Waiting = left, true
		r.round(ctx, control.Event{Err: &again})
		return
	}
	r.reading = true
	r.wg.Go(func() {
		var got readResult
		got.fatal = control.Guard("reading", func() error {
			got.snapshot, got.err = r.c.Read(ctx)
			return nil
		})
		r.reads <- got
	})
}

// take turns a read into decisions, effects and an event.
func (r *Runner) take(ctx context.Context, got readResult) {
	if r.fatal = got.fatal; r.fatal != nil || ctx.Err() != nil {
		return
	}
	if got.err == nil && !r.loaded && r.storeSince.IsZero() {
		// The log waits for the first read, since it is kept on the server's
		// clock; the first round waits for the log, or it would know nothing.
		r.skew, r.held, r.wantLoad = got.snapshot.ClockSkew, &got, true
		r.dispatch(ctx)
		return
	}
	if got.err != nil {
		r.round(ctx, control.Event{Err: r.failure(got.err)})
		return
	}
	r.failures, r.failed, r.retryAt = 0, nil, time.Time{}
	r.skew = got.snapshot.ClockSkew
	r.see(got.snapshot)
	r.wantLoad = r.wantLoad || !r.loaded
	r.round(ctx, control.Event{Snapshot: &got.snapshot})
}

// round decides, sends off what follows from it, and tells.
func (r *Runner) round(ctx context.Context, event control.Event) {
	if event.Err != nil {
		r.world = r.world.At(r.serverNow())
	}
	r.follow()
	r.decide()
	event.World, event.InFlight = r.world, r.budget.InFlight
	if due := r.c.Now().Sub(r.loadTried) >= r.c.Reload; due && r.loaded && !r.alone {
		r.wantLoad = true
	}
	r.collect(ctx)
	r.emit(event)
}

func (r *Runner) follow() {
	if r.alone || r.world.ReadAt.IsZero() {
		return
	}
	l := control.Leadership{Refused: "this process does not take part in leading"}
	if r.c.Leader != nil {
		l = r.c.Leader.Leadership()
	}
	if l.Leading && !r.world.Lead.Leading {
		r.ledAt, r.wantLoad = r.c.Now(), true
	}
	r.world = r.world.Follow(r.rules.Policy, l)
}

func (r *Runner) failure(err error) *control.Failure {
	now := r.c.Now()
	since := now
	if r.failed != nil {
		since = r.failed.Since
	}
	r.failures++
	wait := min(time.Second<<min(r.failures-1, 10), longestRetry)
	f := &control.Failure{What: err.Error(), Since: since}
	var fault *control.Fault
	if errors.As(err, &fault) {
		f.What, f.Hint = fault.What, fault.Hint
		f.Fatal = fault.Kind == control.FaultUsage || fault.Kind == control.FaultRefused
	}
	if f.Fatal {
		wait = longestRetry
	}
	r.retryAt, f.RetryIn, r.failed = now.Add(wait), wait, f
	return f
}

// see takes a snapshot in: the world, the clock, and every reading.
func (r *Runner) see(s control.Snapshot) {
	r.world = r.world.See(r.rules.Policy, s)
	if r.world.Stepped != 0 {
		r.budget.Step(r.world.Stepped, s.At)
		for _, m := range r.order {
			m.Track.Reset()
			m.State.Step(r.world.Stepped, s.At)
		}
	}
	now := r.c.Now()
	for i := range s.Readings {
		m := r.member(s.Readings[i].Queue)
		m.seen = now
		m.Track.Observe(r.rules.Of(m.Policy.Queue), s.Readings[i])
	}
	kept := r.order[:0]
	for _, m := range r.order {
		if now.Sub(m.seen) > forget && m.Policy.Generation == 0 && !m.Policy.Auto {
			delete(r.members, m.Policy.Queue)
			continue
		}
		kept = append(kept, m)
	}
	clear(r.order[len(kept):])
	r.order = kept
}

// member finds or makes a queue.
func (r *Runner) member(queue string) *member {
	if m, ok := r.members[queue]; ok {
		return m
	}
	m := &member{seen: r.c.Now()}
	m.Policy.Queue, m.Track, m.Own = queue, control.NewTrack(r.rules.Of(queue)), r.own(queue)
	r.members[queue] = m
	i, _ := slices.BinarySearchFunc(r.order, queue, func(m *member, q string) int { return cmp.Compare(m.Policy.Queue, q) })
	r.order = slices.Insert(r.order, i, m)
	return m
}

func (r *Runner) decide() {
	list := make([]*control.Member, len(r.order))
	for i, m := range r.order {
		list[i] = &m.Member
	}
	control.Round(r.rules.Policy, r.world, r.budget, list)
}

// collect turns the effects of a round into an errand, if none is out.
func (r *Runner) collect(ctx context.Context) {
	if r.errand != nil {
		return
	}
	if r.world.Lead.Leading && !r.loadedAt.After(r.ledAt) {
		r.wantLoad = true // what the leader before us wrote comes first
		r.dispatch(ctx)
		return
	}
	e := &errand{}
	for _, m := range r.order {
		if r.unexplained(m) || m.Effects.Empty() {
			continue
		}
		e.batch.add(m.Policy.Queue, m.Effects)
		if m.Effects.Step != nil {
			e.step = m.Effects.Step
		}
	}
	if e.batch.empty() && e.step == nil {
		r.dispatch(ctx)
		return
	}
	r.send(ctx, e)
}

// unexplained holds a queue back while its count is not what the log says and
// the log has not been read since that was seen: another process's change is
// usually in it.
func (r *Runner) unexplained(m *member) bool {
	if m.State.Shards == 0 || m.Decision.From == 0 || m.Decision.From == m.State.Shards {
		m.strange = time.Time{}
		return false
	}
	if m.strange.IsZero() {
		m.strange = r.c.Now()
		r.wantLoad = true
	}
	return !r.loadedAt.After(m.strange)
}

// emit completes an event and gives it to every subscriber.
func (r *Runner) emit(e control.Event) {
	e.At = r.c.Now()
	e.Decisions = make([]control.Decision, 0, len(r.order))
	for _, m := range r.order {
		e.Decisions = append(e.Decisions, m.Decision)
	}
	e.Changes, e.Verifications, e.Entries = r.news.changes, r.news.verifications, r.news.entries
	r.news = news{}
	e.ProcessMode = r.world.Process
	switch {
	case r.alone:
		e.Memory = r.c.Memory
		if e.Memory == "" {
			e.Memory = "decisions are kept in memory only"
		}
	case r.world.Store != "":
		e.Memory = r.world.Store
	default:
		e.Memory = "database"
	}
	if !r.alone {
		e.Leader = r.world.Lead.Name
		if r.world.Lead.Leading {
			e.Leader = "self"
		}
	}
	r.shown.set(e)
	r.subs.send(e)
}
