package probe

import (
	"testing"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// Three probes share two server connections, so every statement may run on
// another one than the last.
func TestTheProbeWorksBehindATransactionPooler(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		awa(t, d, map[string]int{"orders": 2})
		_, tx := begun(t, d, "orders", "holder-app")
		through := d.Bouncer(t, "transaction")
		var all []*Probe
		for range 3 {
			all = append(all, start(t, config(through)))
		}
		for range 3 {
			for _, p := range all {
				s := until(t, p, "everything read", func(s control.Snapshot) bool {
					r := of(s, "orders")
					return r.Samples > 0 && r.Depth.OK() && r.EnqueueRate.OK() && r.Holders == control.Some(1)
				})
				if len(s.Problems) > 0 {
					t.Errorf("problems: %+v", s.Problems)
				}
			}
		}
		_ = tx.Rollback(ctxOf(t))
	})
}
