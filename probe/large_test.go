package probe

import (
	"context"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// More lanes than one statement may read: depth, rates and drained come out as
// they do for a few.
func TestMoreLanesThanOneStatementMayReadGiveTheSameNumbers(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"hot": 4, "still": 8})
		if err := rehearsal.Provision(ctxOf(t), admin, "many", 64, 1, 2, 3, 4); err != nil {
			t.Fatal(err)
		}
		if err := rehearsal.Provision(ctxOf(t), admin, "more", 64, 2); err != nil {
			t.Fatal(err)
		}
		for range 7 {
			exec(t, admin, insert, "still")
		}
		run, err := rehearsal.Run(context.Background(), d.URL, rehearsal.Spec{
			Queues:    []rehearsal.Queue{{Name: "hot", Shards: 4}},
			Producers: []rehearsal.Producers{{Queue: "hot", Count: 4, Hold: 10 * time.Millisecond, Think: 20 * time.Millisecond}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = run.Stop(ctxOf(t)) }()
		p := start(t, config(d.URL))
		s := until(t, p, "all known", func(s control.Snapshot) bool {
			hot, still, many := of(s, "hot"), of(s, "still"), of(s, "many")
			return hot.EnqueueRate.Or(0) > 0 && still.Depth == control.Some(7) && still.EnqueueRate == control.Some(0) &&
				many.EnqueueRate == control.Some(0) && many.Depth == control.Some(0) && hot.Depth.Or(0) > 0
		})
		if r := of(s, "many"); len(r.Lanes) != 256 || r.HighestShard != 64 {
			t.Errorf("%d lanes, highest %d", len(r.Lanes), r.HighestShard)
		}
		if drained, ok := of(s, "many").DrainedAbove(1); !ok || !drained {
			t.Errorf("many: drained %v, known %v", drained, ok)
		}
		if drained, ok := of(s, "still").DrainedAbove(0); !ok || drained {
			t.Errorf("still: drained %v, known %v", drained, ok)
		}
	})
}
