package probe

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// instances reads Awa's runtime instances.
func (s *slow) instances(ctx context.Context) (time.Duration, error) {
	var all []control.Instance
	r, err := s.ask(ctx, slowTimeout, statement("instances", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		var one control.Instance
		var seen, up *float64
		var stale *bool
		err = rows.Scan(&one.ID, &one.Hostname, &one.PID, &one.Version, &one.Healthy, &one.Leader, &one.ShuttingDn,
			&stale, &seen, &up, &one.Queues, &cost)
		one.Stale = deref(stale)
		one.SeenAgoS, one.UptimeS = value(seen), value(up)
		all = append(all, one)
		return cost, err
	})
	if err == nil {
		s.do(func(st *state) { st.instances = all })
	}
	return r.server, err
}

func value(f *float64) control.Value {
	if f == nil {
		return control.None()
	}
	return control.Some(*f)
}

// reports reads what producers say of themselves, where there is a table for it.
func (s *slow) reports(ctx context.Context) (time.Duration, error) {
	exists, readable := false, false
	r, err := s.ask(ctx, slowTimeout, statement("producertable", s.schema), func(rows pgx.Rows) (cost float64, err error) {
		exists = true
		err = rows.Scan(&readable, &cost)
		return cost, err
	})
	cost := r.server
	found := map[string][]report{}
	if err == nil && exists && readable {
		r, err = s.ask(ctx, slowTimeout, statement("producers", s.schema), func(rows pgx.Rows) (cost float64, err error) {
			var queue string
			var one report
			err = rows.Scan(&one.instance, &queue, &one.shards, &one.ago, &one.at, &cost)
			found[queue] = append(found[queue], one)
			return cost, err
		}, reportFresh.Seconds())
		cost += r.server
	}
	if err != nil {
		return cost, err
	}
	s.do(func(st *state) { st.reports = found })
	if exists && !readable {
		return cost, denied()
	}
	return cost, nil
}
