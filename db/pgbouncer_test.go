package db

import (
	"strings"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// Several connections share two backends, so each statement may run elsewhere
// than the one before.
func TestEverythingWorksBehindATransactionPooler(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		direct := withAwa(t, d, rehearsal.Options{})
		lanesOf(t, direct, "orders", "", 2)
		through := d.Bouncer(t, "transaction")

		var wg sync.WaitGroup
		for range 5 {
			conn := connectTo(t, through, Options{})
			wg.Go(func() {
				for range 10 {
					inst, err := Discover(within(t), conn, false)
					if err != nil || inst.State != control.AwaActive {
						t.Errorf("%v %+v", err, inst)
						return
					}
					if _, err := Rights(within(t), conn, inst); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()

		conn := connectTo(t, through, Options{})
		if pooled, err := Pooled(within(t), conn); err != nil || !pooled {
			t.Errorf("pooled %v %v", pooled, err)
		}
		if pooled, err := Pooled(within(t), connectTo(t, d.URL, Options{})); err != nil || pooled {
			t.Errorf("direct: pooled %v %v", pooled, err)
		}
		if _, err := Install(within(t), conn); err != nil {
			t.Error(err)
		}
		s := newStore(t, through, first)
		save(t, s, loop.Batch{Entries: []control.LogEntry{act(control.VerbPause), {Kind: control.LogDecision, Queue: "orders", Actor: "controller"}}})
		if n := len(load(t, s, 0).Entries); n != 2 {
			t.Errorf("%d entries", n)
		}
		if shown, err := Show(within(t), conn, control.Installation{Schema: "awa"}, "orders"); err != nil || shown[0].Last == nil {
			t.Errorf("%+v %v", shown, err)
		}
		report, err := Doctor(within(t), conn, DoctorOptions{Now: time.Now, Command: again})
		if err != nil {
			t.Fatal(err)
		}
		if f := find(report, "pooler"); f.State != StateWarn || !strings.Contains(f.Fix, "direct connection") {
			t.Errorf("%+v", f)
		}
		if f := find(report, "timeouts"); f.State != StateWarn {
			t.Errorf("%+v", f)
		}
		// No timeout of ours was left on a backend that others use.
		for range 20 {
			other := connectTo(t, through, Options{})
			if got := scan[string](t, other, "SELECT current_setting('lock_timeout')"); got != "0" {
				t.Fatalf("lock_timeout %s leaked into the pool", got)
			}
			closeConn(other)
		}
	})
}
