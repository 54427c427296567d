package probe

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// queues reads the configured counts and which queues there are.
func (s *slow) queues(ctx context.Context) (time.Duration, error) {
	found := map[string]int{}
	var at time.Time
	r, err := s.ask(ctx, slowTimeout, statement("queues", s.schema), func(rows pgx.Rows) (float64, error) {
		var name string
		var shards int
		var cost float64
		err := rows.Scan(&name, &shards, &at, &cost)
		found[name] = shards
		return cost, err
	})
	if err != nil {
		return r.server, err
	}
	s.do(func(st *state) {
		s.changed = append(s.changed, st.configure(found, at, r.sent, s.cfg)...)
	})
	return r.server, nil
}

// configure takes over the queues found and returns those whose lanes should
// be read again. at is the server's clock, seen ours.
func (s *state) configure(found map[string]int, at, seen time.Time, c Config) (changed []string) {
	s.queuesAt = seen
	for name := range s.queues {
		if _, still := found[name]; !still {
			delete(s.queues, name)
			changed = append(changed, name)
		}
	}
	for name, shards := range found {
		q := s.queues[name]
		if q == nil {
			span := c.window()
			s.queues[name] = &queue{name: name, shards: shards, known: shards, groups: map[groupKey]*group{},
				window: control.NewWindow(span, span/windowParts)}
			changed = append(changed, name)
			continue
		}
		if q.known != shards {
			q.prev, q.known = q.known, shards
			q.changedAt, q.changedSeen = at, seen
			q.restart()
			for _, g := range q.groups {
				g.forgetPicks()
			}
			changed = append(changed, name)
		}
		q.shards = shards
	}
	return changed
}

// lanesWanted says whether the lane register cannot wait for its turn.
func (s *slow) lanesWanted() bool {
	return (s.all || len(s.changed) > 0) && !s.now().Before(s.lanesHold)
}

// lanes keeps the register current: the lanes of queues that changed at once,
// everything when the number of lanes is not what it was.
func (s *slow) lanes(ctx context.Context) (time.Duration, error) {
	var cost time.Duration
	if len(s.changed) > 0 && !s.all {
		r, err := s.readLanes(ctx, s.changed)
		cost += r
		if err != nil {
			return cost, err
		}
		s.changed = nil
		if s.now().Before(s.lanesDue) {
			return cost, nil
		}
	}
	if !s.all {
		same, r, err := s.sameLanes(ctx)
		cost += r
		if err != nil || same {
			return cost, err
		}
	}
	r, err := s.readLanes(ctx, nil)
	cost += r
	if err != nil {
		s.all = true
		return cost, err
	}
	s.all, s.changed = false, nil
	return cost, nil
}

// laneCount is the number of registered heads of both kinds.
type laneCount struct{ enqueue, claim int }

// sameLanes asks whether the number of lanes is what it was at the last asking.
// Only a full read follows a difference, so that lanes of queues that we do not
// list, or heads without a partner, cannot make it differ for ever.
func (s *slow) sameLanes(ctx context.Context) (bool, time.Duration, error) {
	var enqueue, claim int
	r, err := s.ask(ctx, slowTimeout, statement("lanecount", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		err = rows.Scan(&enqueue, &claim, &cost)
		return cost, err
	})
	if err != nil {
		return false, r.server, err
	}
	now := laneCount{enqueue, claim}
	same := now == s.count
	s.count = now
	return same, r.server, nil
}

// readLanes reads the lanes of the named queues, nil for all.
func (s *slow) readLanes(ctx context.Context, names []string) (time.Duration, error) {
	var found []lane
	r, err := s.ask(ctx, slowTimeout, statement("lanes", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		var name string
		var l lane
		err = rows.Scan(&name, &l.priority, &l.shard, &l.key, &l.enqueue, &l.claim, &cost)
		l.queue = &queue{name: name}
		found = append(found, l)
		return cost, err
	}, s.schema, names)
	if err != nil {
		return r.server, err
	}
	s.do(func(st *state) { st.register(slices.Clone(names), found, s.now()) })
	return r.server, nil
}
