package probe

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// lookAge is how old the look may be that vouches for a depth.
const lookAge = 3 * time.Second

// depths reads ready depth and lag of every lane. Up to a chunk of lanes is one
// statement. Beyond that it first asks which lanes have segments at all: the
// rest is empty, and so are lanes whose newest segment ends at or below the
// claim cursor seen earlier, for cursors only move up.
//
// A depth read can miss what a producer that is under way will commit. Before
// it, therefore, somebody has to look at the locks: see lane.vouched.
func (s *slow) depths(ctx context.Context) (time.Duration, error) {
	var lanes []*lane
	var vouched time.Time
	begun := s.now()
	s.do(func(st *state) {
		for _, q := range st.inOrder() {
			lanes = append(lanes, q.lanes...)
		}
		if !st.fullAt.IsZero() && begun.Sub(st.fullAt) <= lookAge {
			vouched = st.fullAt
		}
	})
	var cost time.Duration
	if len(lanes) > chunk {
		some, r, err := s.loaded(ctx, lanes)
		cost += r
		if err != nil {
			return cost, err
		}
		s.do(func(*state) {
			for _, l := range lanes {
				if !some[l] {
					l.depth, l.lag, l.vouched = control.Some(0), control.Some(0), vouched
				}
			}
		})
		kept := lanes[:0]
		for _, l := range lanes {
			if some[l] {
				kept = append(kept, l)
			}
		}
		lanes = kept
	}
	hidden := false
	for len(lanes) > 0 {
		n := min(chunk, len(lanes))
		hid, r, err := s.depth(ctx, lanes[:n], vouched)
		cost += r
		if err != nil {
			return cost, err
		}
		hidden, lanes = hidden || hid, lanes[n:]
	}
	s.do(func(st *state) {
		for _, q := range st.queues {
			q.level(begun, s.cfg.window())
		}
		st.partial("depth", hidden, "GRANT SELECT ON ALL SEQUENCES IN SCHEMA "+quoted(s.schema)+" TO "+quoted(st.database.User)+";")
	})
	return cost, nil
}

// loaded returns the lanes that may hold ready jobs.
func (s *slow) loaded(ctx context.Context, lanes []*lane) (map[*lane]bool, time.Duration, error) {
	type place struct {
		queue           string
		priority, shard int
	}
	ends := map[place]int64{}
	r, err := s.ask(ctx, slowTimeout, statement("loaded", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		var at place
		var end int64
		err = rows.Scan(&at.queue, &at.priority, &at.shard, &end, &cost)
		ends[at] = end
		return cost, err
	})
	if err != nil {
		return nil, r.server, err
	}
	some := map[*lane]bool{}
	s.do(func(*state) {
		for _, l := range lanes {
			end, ok := ends[place{l.queue.name, l.priority, l.shard}]
			if l.follow(end, r.sent, l.queue.hot(r.sent)) {
				l.queue.active = r.sent
			}
			if ok && (l.cursor == 0 || end > l.cursor) {
				some[l] = true
			}
		}
	})
	return some, r.server, nil
}

// depth reads one chunk; hidden says that some lanes could not be read for
// want of rights.
func (s *slow) depth(ctx context.Context, lanes []*lane, vouched time.Time) (hidden bool, cost time.Duration, err error) {
	n := len(lanes)
	queues, seqs := make([]string, n), make([]string, n)
	priorities, shards := make([]int16, n), make([]int16, n)
	for i, l := range lanes {
		queues[i], seqs[i], priorities[i], shards[i] = l.queue.name, l.claim, int16(l.priority), int16(l.shard)
	}
	type answer struct {
		cursor, depth *int64
		lag           *float64
	}
	answers := make([]answer, n)
	r, err := s.ask(ctx, slowTimeout, statement("depth", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		var ord int
		var a answer
		if err = rows.Scan(&ord, &a.cursor, &a.depth, &a.lag, &cost); err == nil && ord >= 1 && ord <= n {
			answers[ord-1] = a
		}
		return cost, err
	}, s.schema, queues, priorities, shards, seqs)
	if err != nil {
		return false, r.server, err
	}
	s.do(func(*state) {
		for i, l := range lanes {
			a := answers[i]
			if a.depth == nil {
				hidden = true
				l.depth, l.lag, l.vouched = control.None(), control.None(), time.Time{}
				continue
			}
			l.take(*a.depth, a.lag, *a.cursor, vouched)
		}
	})
	return hidden, r.server, nil
}

// take notes what a depth read found. Nothing ready means no lag, and what lag
// there is begins at 0: a job that may run in the future has not waited.
func (l *lane) take(depth int64, lag *float64, cursor int64, vouched time.Time) {
	l.depth, l.lag, l.cursor, l.vouched = control.Some(float64(depth)), control.Some(0), cursor, vouched
	if depth > 0 && lag != nil {
		l.lag = control.Some(max(*lag, 0))
	}
}
