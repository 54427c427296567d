package loop

import (
	"context"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestNumbersOfAQueueHoldForItAndCanBeChangedUnderWay(t *testing.T) {
	d := newDatabase()
	d.shards["mail"], d.crowd["mail"] = 1, 16
	for queue := range d.shards {
		d.allow(control.QueuePolicy{Queue: queue, Enforced: true})
	}
	c := d.config()
	picky := c.Policy
	picky.GrowShare, picky.FastShare = 0.99, 0.99
	c.Queues = map[string]control.Policy{"mail": picky}
	play(t, c, func(t *testing.T, r *Runner) {
		pass(15 * time.Minute)
		if got := decision(t, r, "mail"); got.From != 1 || got.Reason != control.ReasonShareLow {
			t.Errorf("mail is at %d: %s", got.From, got.Reason)
		}
		if d.count("orders") < 2 {
			t.Error("what holds for mail holds for orders too")
		}
		bad := c.Policy
		bad.GrowShare = 2
		err := r.Use(context.Background(), control.Rules{Policy: c.Policy, Queues: map[string]control.Policy{"mail": bad}})
		if err == nil || !strings.Contains(err.Error(), `queue "mail": GrowShare is 2`) {
			t.Errorf("a share of 2 may be set: %v", err)
		}
		pass(time.Minute)
		if got := decision(t, r, "mail"); got.Reason != control.ReasonShareLow {
			t.Errorf("what was refused has an effect: %s", got.Reason)
		}
		if err := r.Use(context.Background(), control.Rules{Policy: c.Policy}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if d.count("mail") < 2 {
			t.Errorf("mail still waits: %+v", decision(t, r, "mail"))
		}
		// Windows of another length have nothing in them.
		long := c.Policy
		long.GrowWindow = 10 * time.Minute
		pass(10 * time.Minute)
		if err := r.Use(context.Background(), control.Rules{Policy: c.Policy, Queues: map[string]control.Policy{"mail": long}}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		gathers := func(queue string) bool {
			for _, b := range decision(t, r, queue).Blockers {
				if b.Rule == control.ReasonGathering {
					return true
				}
			}
			return decision(t, r, queue).Reason == control.ReasonGathering
		}
		if !gathers("mail") || gathers("orders") {
			t.Errorf("mail gathers: %v, orders: %v", gathers("mail"), gathers("orders"))
		}
	})
}
