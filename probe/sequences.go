package probe

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

const (
	// chunk is how many sequences one statement reads: each keeps a relation
	// lock in the shared lock table until the statement ends.
	chunk = 300
	// activeFor is how long a queue counts as active after its last sign.
	activeFor = 30 * time.Second
)

// sequences reads the enqueue sequences of one chunk of lanes: all of them
// where they fit, otherwise those of active queues in turn. The rest is left to
// the segments (see lane.follow): reading a sequence for the first time costs
// ten times as much as again, and leaves an entry in the caches of our backend
// for good, which tens of thousands of idle lanes are not worth.
func (s *slow) sequences(ctx context.Context) (time.Duration, error) {
	var lanes []*lane
	s.do(func(st *state) {
		all, hot := st.byActivity(s.now())
		if len(all) <= chunk {
			lanes = all
			return
		}
		lanes, s.turn = turn(hot, s.turn, chunk)
	})
	if len(lanes) == 0 {
		return 0, nil
	}
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = l.enqueue
	}
	type point struct {
		last *int64
		at   time.Time
	}
	points := make([]point, len(lanes))
	r, err := s.ask(ctx, slowTimeout, statement("sequences", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		var ord int
		var one point
		if err = rows.Scan(&ord, &one.last, &one.at, &cost); err == nil && ord >= 1 && ord <= len(points) {
			points[ord-1] = one
		}
		return cost, err
	}, s.schema, names)
	if err != nil {
		return r.server, err
	}
	s.do(func(st *state) {
		hidden := false
		for i, l := range lanes {
			hidden = hidden || points[i].last == nil
			if l.advance(points[i].last, points[i].at) {
				l.queue.active = r.sent
			}
		}
		st.partial("sequences", hidden, "GRANT SELECT ON ALL SEQUENCES IN SCHEMA "+quoted(s.schema)+" TO "+quoted(st.database.User)+";")
	})
	return r.server, nil
}

// partial leaves or clears the problem of a part that worked but for some lanes.
func (s *state) partial(part string, hidden bool, hint string) {
	if hidden {
		s.problem(control.Problem{Part: part, Detail: partly(part), Hint: hint})
		return
	}
	if p, ok := s.problems[part]; ok && p.Detail == partly(part) {
		s.mended(part)
	}
}

// advance takes a new point of the enqueue sequence and says whether it moved.
// The first point, and one below the last (a sequence that was set back or made
// anew), give no rate.
func (l *lane) advance(last *int64, at time.Time) bool {
	if last == nil {
		l.rate, l.lastAt = control.None(), time.Time{}
		return false
	}
	was, since := l.last, l.lastAt
	l.last, l.lastAt = *last, at
	d := at.Sub(since).Seconds()
	if !since.IsZero() && *last < was {
		l.cursor = 0 // the claim sequence may have gone back as well
	}
	if since.IsZero() || *last < was || d <= 0 {
		l.rate = control.None()
		return false
	}
	l.rate = control.Some(float64(*last-was) / d)
	return *last > was
}

// follow takes the end of the lane's newest segment, 0 when it has none, where
// sequences are only read for active queues. It says whether there was a sign of
// life: segments are written by committed enqueues alone, so an end that stays
// is a rate of 0. One that went down was pruned, and whether anything came in
// between is for the sequence to tell.
func (l *lane) follow(end int64, at time.Time, hot bool) bool {
	was, since := l.end, l.endAt
	l.end, l.endAt = end, at
	d := at.Sub(since).Seconds()
	known := !since.IsZero() && end >= was && d > 0
	if end < was {
		l.cursor = 0 // pruned most likely; a schema made anew would look the same
	}
	if !hot {
		l.rate, l.lastAt = control.None(), time.Time{}
		if known {
			l.rate = control.Some(float64(end-was) / d)
		}
	}
	return !since.IsZero() && end != was
}

func (q *queue) hot(now time.Time) bool { return !q.active.IsZero() && now.Sub(q.active) < activeFor }

// byActivity returns all lanes and those of active queues, in an order that
// stays the same.
func (s *state) byActivity(now time.Time) (all, hot []*lane) {
	for _, q := range s.inOrder() {
		all = append(all, q.lanes...)
		if q.hot(now) {
			hot = append(hot, q.lanes...)
		}
	}
	return all, hot
}

func (s *state) inOrder() []*queue {
	all := make([]*queue, 0, len(s.queues))
	for _, q := range s.queues {
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b *queue) int { return cmp.Compare(a.name, b.name) })
	return all
}

// turn takes n of all from position at on, wrapping, and returns where the next
// turn begins.
func turn[T any](all []T, at, n int) ([]T, int) {
	n = min(n, len(all))
	if n == 0 {
		return nil, 0
	}
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, all[(at+i)%len(all)])
	}
	return out, (at + n) % len(all)
}
