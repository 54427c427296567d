package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestAnEventWithEverythingShowsEveryMetric(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.policyRead(nil)
	c.move(time.Second)
	m.Observe(c.full("orders"))
	got := scraped(t, m)
	for _, s := range catalogue() {
		for _, d := range s.list {
			if len(got.named(d)) == 0 {
				t.Errorf("%s is described and never shown", d.name)
			}
		}
	}
	for key, want := range map[string]float64{
		`awa_enqueue_lane_lock_wait_seconds_total{queue="orders"}`:                   6,
		`awa_enqueue_lane_waiters{queue="orders"}`:                                   6,
		`awa_enqueue_lane_wait_low_ratio{queue="orders"}`:                            0.71,
		`awa_enqueue_lane_wait_high_ratio{queue="orders"}`:                           0.8,
		`awa_enqueue_lane_wait_cause_ratio{cause="notify",queue="orders"}`:           0.1,
		`awa_enqueue_lane_wait_cause_ratio{cause="unknown",queue="orders"}`:          0.05,
		`awa_enqueue_jobs_total{queue="orders"}`:                                     200,
		`awa_queue_enqueue_shards{queue="orders"}`:                                   2,
		`awa_queue_lane_shards{queue="orders"}`:                                      4,
		`awa_queue_upper_lanes_drained{queue="orders"}`:                              1,
		`awa_queue_upper_lanes_jobs{queue="orders"}`:                                 40,
		`awa_queue_upper_lanes_drain_seconds{queue="orders"}`:                        8,
		`awa_queue_producers{queue="orders"}`:                                        16,
		`awa_queue_producers_applied{queue="orders"}`:                                15,
		`awa_queue_producers_stale{queue="orders"}`:                                  1,
		`shardpilot_queue_target_shards{queue="orders"}`:                             4,
		`shardpilot_queue_max_shards{queue="orders"}`:                                8,
		`shardpilot_queue_pinned{queue="orders"}`:                                    1,
		`shardpilot_queue_pin_shards{queue="orders"}`:                                2,
		`shardpilot_queue_mode{mode="shadow",queue="orders"}`:                        1,
		`shardpilot_queue_decision{action="grow",queue="orders",reason="contended"}`: 1,
		`shardpilot_queue_pending_step_age_seconds{queue="orders"}`:                  90,
		`shardpilot_queue_last_verification_gain_ratio{queue="orders"}`:              1.8,
		`shardpilot_queue_last_verification_predicted_gain_ratio{queue="orders"}`:    1.9,
		`shardpilot_leader`:                                                                                        1,
		`shardpilot_process_mode{mode="shadow"}`:                                                                   1,
		`shardpilot_process_mode{mode="enforced"}`:                                                                 0,
		`shardpilot_clock_skew_seconds`:                                                                            skew.Seconds(),
		`shardpilot_probe_statements_total`:                                                                        9,
		`shardpilot_problem{part="activity"}`:                                                                      1,
		`shardpilot_build_info{goversion="go1.26",version="v1.2.3"}`:                                               1,
		`shardpilot_awa_info{schema="awa_queue",state="active",version="40"}`:                                      1,
		`shardpilot_verifications_total{result="kept"}`:                                                            1,
		`shardpilot_verifications_total{result="harmful"}`:                                                         0,
		`shardpilot_decisions_total{action="grow",mode="shadow",reason="contended"}`:                               1,
		`shardpilot_changes_total{action="grow",actor="controller",outcome="applied",reason="contended"}`:          1,
		`shardpilot_database_info{database="app",environment="prod",host="db.example",port="5432",version="18.4"}`: 1,
	} {
		got.want(t, key, want)
	}
}

func TestWhatWasNotMeasuredHasNoSample(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.tick(control.Reading{Queue: "orders", PeriodS: 1})
	e.Decisions = []control.Decision{{At: e.Snapshot.At, Queue: "orders", Mode: control.ModeManual, Action: control.ActionHold, Reason: control.ReasonNoReading}}
	e.Leader, e.Memory, e.World.Alone = "", "decisions are kept in memory only", true
	m.Observe(e)
	got := scraped(t, m)
	for _, d := range []*definition{laneWaiters, laneHolders, laneSessions, waitShare, waitShareLow, waitShareHigh, waitCause,
		waitPerJob, enqueueRate, depth, lag, configuredShards, laneShards, drained, upperJobs, upperLeft, producers, producersOn, producersStale,
		targetShards, maxShards, pinShards, predictedGain, pendingAge, lastChange, lastVerdict, lastGain, lastPredicted,
		leader, leaderKnown, leaderInfo} {
		if keys := got.named(d); len(keys) > 0 {
			t.Errorf("%v: nothing is known of it", keys)
		}
	}
	got.want(t, `awa_enqueue_lane_lock_wait_seconds_total{queue="orders"}`, 0) // nothing was counted, which is known
	got.want(t, `shardpilot_log_durable`, 0)
	for k, v := range got {
		if v != v {
			t.Errorf("%s is NaN", k)
		}
	}
}

func TestWhetherLanesAreDrainedIsSaidOnlyWhenItIsKnown(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	unknown, full := seen(time.Time{}, "unknown", 1), seen(time.Time{}, "full", 1)
	unknown.Drained, full.Drained = nil, []bool{false, false, false, true}
	m.Observe(c.tick(unknown, full))
	got := scraped(t, m)
	if v, ok := got.of(drained, "unknown"); ok {
		t.Errorf("drained is %v though nobody knows", v)
	}
	got.want(t, `awa_queue_upper_lanes_drained{queue="full"}`, 0)
}

func TestNothingIsShownBeforeTheFirstEventButWhatIsKnown(t *testing.T) {
	c := newClock()
	got := scraped(t, made(c, 10))
	for k := range got {
		name, _, _ := strings.Cut(k, "{")
		if !strings.HasSuffix(name, "_total") && name != buildInfo.name && name != snapshotAge.name {
			t.Errorf("%s is shown", k)
		}
	}
	got.want(t, `shardpilot_snapshots_total`, 0)
}

func TestAVanishedQueueHasNoSeriesAndGoesOnWhereItWas(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.Observe(c.tick(seen(time.Time{}, "orders", 6), seen(time.Time{}, "mail", 1)))
	e := c.tick(seen(time.Time{}, "mail", 1))
	// The controller remembers a vanished queue for a while.
	e.Decisions = []control.Decision{{At: e.Snapshot.At, Queue: "orders", Mode: control.ModeManual, Action: control.ActionHold, Reason: control.ReasonStale}}
	m.Observe(e)
	for k := range scraped(t, m) {
		if strings.Contains(k, "orders") {
			t.Errorf("%s is still shown", k)
		}
	}
	m.Observe(c.tick(seen(time.Time{}, "orders", 6), seen(time.Time{}, "mail", 1)))
	if got, _ := scraped(t, m).of(laneLockWait, "orders"); got != 12 {
		t.Errorf("%v s, want the 6 from before and 6 more", got)
	}
}

func TestAQueueWithAPendingStepIsShownThoughItWasNotRead(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.tick()
	e.Decisions = []control.Decision{thought(e.Snapshot.At, "orders")}
	m.Observe(e)
	got := scraped(t, m)
	got.want(t, `shardpilot_queue_pending_steps{queue="orders"}`, 1)
	if _, ok := got.of(laneWaiters, "orders"); ok {
		t.Error("waiters are shown of a queue that was not read")
	}
}

func TestGaugesDoNotOutliveTheirReading(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.Observe(c.full("orders"))

	m.Observe(c.failed())
	pause := c.failed()
	pause.Err.Waiting = true // no try of its own
	m.Observe(pause)
	got := scraped(t, m)
	got.want(t, `shardpilot_database_up`, 0)
	got.want(t, `shardpilot_snapshot_age_seconds`, 2)
	got.want(t, `shardpilot_read_failures_total`, 1)
	if keys := got.named(laneWaiters); len(keys) > 0 {
		t.Errorf("%v is shown while the database cannot be read", keys)
	}
	got.want(t, `awa_enqueue_lane_lock_wait_seconds_total{queue="orders"}`, 6)

	m.Observe(c.full("orders"))
	if _, ok := scraped(t, m).of(laneWaiters, "orders"); !ok {
		t.Error("waiters are not shown again")
	}
	c.move(usualStale + time.Second) // and then no event ever
	got = scraped(t, m)
	for _, d := range []*definition{laneWaiters, databaseUp, leader, queueMode, probeBusy, problems} {
		if keys := got.named(d); len(keys) > 0 {
			t.Errorf("%v is shown %v after the last event", keys, usualStale)
		}
	}
	got.want(t, `shardpilot_snapshot_age_seconds`, 16)
	got.want(t, `awa_enqueue_lane_lock_wait_seconds_total{queue="orders"}`, 12)
}

func TestTheLongPauseAfterFailuresIsNotTakenForDeath(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.failed()
	e.Err.RetryIn = 30 * time.Second
	m.Observe(e)
	c.move(40 * time.Second)
	scraped(t, m).want(t, `shardpilot_database_up`, 0)
	c.move(10 * time.Second)
	if keys := scraped(t, m).named(databaseUp); len(keys) > 0 {
		t.Errorf("%v is shown though the next attempt is overdue", keys)
	}
}

func TestWhoLeadsIsToldFromNobody(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	for _, one := range []struct {
		leader      string
		self, known float64
	}{{"self", 1, 1}, {"ops@blue", 0, 1}, {"", 0, 0}} {
		e := c.tick()
		e.Leader = one.leader
		m.Observe(e)
		got := scraped(t, m)
		got.want(t, `shardpilot_leader`, one.self)
		got.want(t, `shardpilot_leader_known`, one.known)
		if n := len(got.named(leaderInfo)); n != int(one.known) {
			t.Errorf("leader %q: %d series say who", one.leader, n)
		}
	}
}

// While the log cannot be used either, the lead that was lost must not seem to
// be one that was never sought.
func TestALeadLostWithTheDatabaseIsShownAsLost(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	m.Observe(c.tick())
	e := control.Event{At: c.now(), Err: &control.Failure{What: "no answer", Since: c.now()}, Memory: "the decision log cannot be used since 03:00:00Z: no answer"}
	m.Observe(e)
	got := scraped(t, m)
	got.want(t, `shardpilot_leader`, 0)
	got.want(t, `shardpilot_leader_known`, 0)
	got.want(t, `shardpilot_log_durable`, 0)
}

func TestTheRestIsSummedAsFarAsItIsKnown(t *testing.T) {
	c := newClock()
	m := made(c, 2)
	list := func() []control.Reading {
		all := []control.Reading{seen(time.Time{}, "loud", 50), seen(time.Time{}, "louder", 60)}
		for i := range 4 {
			all = append(all, seen(time.Time{}, fmt.Sprintf("quiet%d", i), float64(i)))
		}
		all[4].Waiters = control.None()
		return all
	}
	m.Observe(c.tick(list()...))
	got := scraped(t, m)
	got.want(t, `awa_enqueue_lane_waiters{queue="__other__"}`, 0+1+3)
	got.want(t, `awa_enqueue_lane_lock_wait_seconds_total{queue="__other__"}`, 0+1+3)
	got.want(t, `awa_queue_depth_jobs{queue="__other__"}`, 4*120)
	got.want(t, `awa_enqueue_jobs_per_second{queue="__other__"}`, 4*200)
	got.want(t, `shardpilot_queue_pending_steps{queue="__other__"}`, 0)
	got.want(t, `shardpilot_queues`, 6)
	got.want(t, `shardpilot_queues_summed`, 4)
	for _, d := range []*definition{waitShare, lag, configuredShards, producers, queueMode} {
		if _, ok := got.of(d, Others); ok {
			t.Errorf("%s cannot be summed", d.name)
		}
	}
	m.Observe(c.tick(list()[:2]...)) // the rest vanishes; its counter stays
	got = scraped(t, m)
	got.want(t, `awa_enqueue_lane_lock_wait_seconds_total{queue="__other__"}`, 4)
	if _, ok := got.of(laneWaiters, Others); ok {
		t.Error("nobody is left to be summed, and a sum is shown")
	}
}

func TestEveryMetricThatIsSummedSaysSo(t *testing.T) {
	c := newClock()
	m := made(c, 1)
	e := c.tick(seen(time.Time{}, "a", 5), seen(time.Time{}, "b", 4), seen(time.Time{}, "c", 3))
	m.Observe(e)
	got := scraped(t, m)
	for _, s := range catalogue() {
		for _, d := range s.list {
			_, summed := got.of(d, Others)
			if says := strings.HasSuffix(d.help, othersHelp); says != summed && d != pendingSteps {
				t.Errorf("%s: summed %v, says so %v", d.name, summed, says)
			}
		}
	}
	if _, ok := got.of(pendingSteps, Others); !ok {
		t.Error("pending steps are not summed")
	}
}
