package probe

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// jitter is the part of the interval by which looks are spread, so that a load
// with a beat of its own is not always seen at the same phase.
const jitter = 0.1

// sampler is the state of the goroutine that looks.
type sampler struct {
	*Probe
	*link
	pace  pacer
	est   estimator
	match int // looks for which the server still matches the keys: other advisory locks abound
}

func (p *Probe) sample(ctx context.Context) {
	s := &sampler{Probe: p, link: p.newLink(p.cfg.Connect)}
	s.pace = pacer{base: p.cfg.base(), budget: p.cfg.MaxCost * lookBudget}
	s.est.maxAge = 2 * slowest
	defer s.close()
	for rest := time.Duration(0); pause(ctx, rest); {
		if !p.connect(ctx, s.link, s.unconnected) {
			return
		}
		begun := s.now()
		s.connected()
		s.run(ctx)
		s.close()
		rest = restAfter(rest, s.now().Sub(begun))
	}
}

func (s *sampler) unconnected(err error) {
	f := fault(err)
	s.do(func(st *state) { st.fault = f })
	s.looked.open()
}

func (s *sampler) connected() {
	s.est.forget()
	s.pace.connected()
	s.do(func(st *state) {
		st.forgetLooks()
		s.readAt = s.now() // before it nothing could be seen
	})
}

// run looks until the connection is lost or ctx ends.
func (s *sampler) run(ctx context.Context) {
	next := s.now()
	for {
		err := s.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if !s.alive() {
			s.unconnected(err)
			return
		}
		// Not before: a server that takes connections and answers no look is
		// as good as away, and stays so from one connection to the next.
		s.do(func(st *state) { st.fault = nil })
		s.looked.open()
		every := s.pace.interval()
		now := s.now()
		if next = next.Add(every); now.Sub(next) > 2*every || next.Sub(now) > 2*every {
			next = now // the machine slept, or our clock was set: do not make up for it
		}
		wait := next.Sub(now) + time.Duration((2*rand.Float64()-1)*jitter*float64(every))
		if !pause(ctx, max(wait, every/4)) {
			return
		}
	}
}

// once takes one look and what has to be asked after it.
func (s *sampler) once(ctx context.Context) error {
	var byKey map[int64]*lane
	var keys []int64
	var hurry bool
	var edition int
	s.do(func(st *state) { byKey, keys, edition, hurry = st.byKey, st.keys, st.edition, st.hurry })
	if s.match == 0 {
		keys = nil
	}
	ask, force := s.pace.plan(s.est.ready(s.now()), hurry)
	l, err := take(ctx, s.link, byKey, keys, ask, force)
	if err != nil {
		s.do(func(st *state) {
			st.problem(problem("locks", "pg_locks", err, ""))
		})
		s.paid(l, 0) // what failed has cost as well
		return err
	}
	s.match = matchThere(s.match, l, len(byKey))
	var pids []int32
	s.do(func(st *state) {
		l.dated = edition != st.edition
		st.hurry = st.hurry && (!l.read || l.dated)
		pids = st.fold(l, &s.est)
	})
	after, err := s.details(ctx, l, pids)
	s.paid(l, after)
	return err
}

// paid has the pace follow what a look has cost, and what was asked after it.
func (s *sampler) paid(l look, after time.Duration) {
	s.pace.observed(l.read, l.server, after)
	s.do(func(st *state) {
		st.hz = 1 / s.pace.interval().Seconds()
		st.late = s.pace.slowed()
	})
}

// matchedLooks is for how many looks the keys go along before it is tried
// without them again: two minutes at the base rate.
const matchedLooks = 500

// matchThere decides for how many more looks the server matches the keys:
// sending one costs about as much as receiving a row that is not needed.
func matchThere(left int, l look, lanes int) int {
	switch {
	case l.torn, l.read && left == 0 && l.strangers > max(manyStrangers, lanes):
		return matchedLooks
	default:
		return max(left-1, 0)
	}
}

// details asks about pids and puts the answers to use. Without an answer the
// look still counts, its holders as unknown.
func (s *sampler) details(ctx context.Context, l look, pids []int32) (time.Duration, error) {
	fresh := map[int32]session{}
	var cost time.Duration
	var err error
	if len(pids) > 0 {
		var r round
		r, err = s.ask(ctx, lookTimeout, statement("sessions", ""), func(rows pgx.Rows) (float64, error) {
			pid, one, c, err := scanSession(rows)
			one.asked = l.sent
			if age, ok := one.xactAge.Get(); ok {
				one.began = l.at.Add(-time.Duration(age * float64(time.Second)))
			}
			fresh[pid] = one
			return c, err
		}, pids)
		cost = r.server
		if err != nil {
			fresh = map[int32]session{}
		}
	}
	if l.read && !l.torn {
		s.do(func(st *state) { st.attribute(l, fresh, s.cfg.stuck()) })
	}
	return cost, err
}

func scanSession(rows pgx.Rows) (pid int32, s session, cost float64, err error) {
	var xact, state *float64
	err = rows.Scan(&pid, &s.user, &s.app, &s.client, &s.state, &s.event, &xact, &state, &s.hidden, &cost)
	if xact != nil {
		s.xactAge = control.Some(max(*xact, 0))
	}
	if state != nil {
		s.stateAge = control.Some(max(*state, 0))
	}
	return pid, s, cost, err
}
