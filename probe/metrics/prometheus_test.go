package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/probe/metrics/promtest"
)

// patience is for a machine that does much else.
const patience = promtest.Patience

// replica is a process as Prometheus sees it, fed with what it would have
// seen. Its fault makes the difference while it is in trouble.
type replica struct {
	job    string
	fault  func(*control.Event) bool // false: no event at all; nil for none
	m      *Metrics
	addr   string
	events int
}

// feedEvery is the length of a replica's period.
const feedEvery = 500 * time.Millisecond

// event is what a healthy process sees: some waiting, now and then a change
// that pays, a step that is quite new.
func (r *replica) event(now time.Time) control.Event {
	c := &clock{t: now.Add(-time.Second)}
	list := fleet(4, 0.5, 0.2)
	list[0] = seen(time.Time{}, "q00", 0.5)
	for i := range list {
		list[i].PeriodS, list[i].Expected = feedEvery.Seconds(), 4
		list[i].ShareLow = control.Some(0.2)
	}
	list[0].Shards = 2 + r.events/6%2*2
	e := c.tick(list...)
	e.Snapshot.ClockSkew = 0
	d := thought(now, "q00")
	e.Decisions = []control.Decision{d, {At: now, Queue: "q01", Mode: control.ModeManual, Action: control.ActionHold, From: 2, To: 2, Reason: control.ReasonManual}}
	for _, queue := range []string{"q01", "q00"} {
		for _, entry := range c.full(queue).Entries {
			entry.ID, entry.At = int64(r.events*10+len(e.Entries)+1), now
			e.Entries = append(e.Entries, entry)
		}
	}
	return e
}

// faults, by the job whose replicas have them, and the alerts they are to raise.
func faults() map[string]struct {
	alerts []string
	fault  func(*control.Event) bool
} {
	type f = struct {
		alerts []string
		fault  func(*control.Event) bool
	}
	return map[string]f{
		"two leaders": {[]string{"ShardpilotTwoLead"}, func(e *control.Event) bool { e.Leader = "self"; return true }},
		"no leader":   {[]string{"ShardpilotNobodyLeads"}, func(e *control.Event) bool { e.Leader = ""; return true }},
		"no database": {[]string{"ShardpilotDatabaseDown"}, func(e *control.Event) bool {
			e.Err, e.Snapshot = &control.Failure{What: "gone", Since: e.At}, nil
			return true
		}},
		"forgetful": {[]string{"ShardpilotLogNotKept"}, func(e *control.Event) bool { e.Memory = "watch only: no schema"; return true }},
		"half blind": {[]string{"ShardpilotPartsUnread"}, func(e *control.Event) bool {
			e.Snapshot.Problems = []control.Problem{{Part: "depth", Detail: "not allowed"}}
			return true
		}},
		"hanging": {[]string{"ShardpilotSnapshotStale"}, func(*control.Event) bool { return false }},
		"crowd": {[]string{"ShardpilotQueueContended", "ShardpilotStepPendingTooLong", "ShardpilotProbeSlowed", "ShardpilotChangeHarmful", "ShardpilotChangeIneffective"},
			func(e *control.Event) bool {
				e.Snapshot.Readings[0].Waiters, e.Snapshot.Readings[0].ShareLow = control.Some(9), control.Some(0.7)
				e.Decisions[0].Step.At = e.At.Add(-20 * time.Minute)
				e.Snapshot.Cost.SlowedDown = true
				bad := e.Entries[len(e.Entries)-1]
				bad.ID, bad.Queue, bad.Verdict = bad.ID+1, "q01", control.VerdictIneffective
				e.Entries[len(e.Entries)-1].Verdict = control.VerdictHarmful
				e.Entries = append(e.Entries, bad)
				return true
			}},
	}
}

// scene is a Prometheus and the replicas it scrapes.
type scene struct {
	*promtest.Server
	replicas []*replica
	trouble  atomic.Bool
	stop     context.CancelFunc // of the replicas
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{}
	s.trouble.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	add := func(job, leader string, fault func(*control.Event) bool) {
		r := &replica{job: job, fault: fault, m: New(Options{Version: "v1", GoVersion: "go1", Now: time.Now})}
		ln, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r.addr = ln.Addr().String()
		s.replicas = append(s.replicas, r)
		wg.Go(func() {
			if err := Answer(ctx, ln, r.m.Routes()); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			tick := time.NewTicker(feedEvery)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					e := r.event(time.Now())
					e.Leader, e.Snapshot.Problems = leader, nil
					r.events++
					if s.trouble.Load() && r.events > 2 && r.fault != nil && !r.fault(&e) {
						continue
					}
					r.m.Observe(e)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	add("fleet", "self", nil)
	add("fleet", "ops@other", nil)
	for job, f := range faults() {
		add(job, "self", f.fault)
		if job == "two leaders" {
			add(job, "ops@other", f.fault)
		}
	}
	targets := map[string][]string{}
	for _, r := range s.replicas {
		targets[r.job] = append(targets[r.job], r.addr)
	}
	s.Server = promtest.Start(t, targets)
	return s
}

func TestEachPanelHasDataAndEachAlertFiresAndClears(t *testing.T) {
	s := newScene(t)
	s.EachPanelHasData(t)
	s.Until(t, "each alert fires", func() []string {
		now := s.Firing(t)
		var list []string
		for job, f := range faults() {
			for _, a := range f.alerts {
				if !slices.Contains(now[a], job) {
					list = append(list, a+" for "+job)
				}
			}
		}
		for a, jobs := range now {
			if slices.Contains(jobs, "fleet") {
				t.Fatalf("%s fires for a fleet that is well", a)
			}
		}
		return list
	})
	s.trouble.Store(false)
	s.Until(t, "each alert clears", func() []string {
		now := s.Firing(t)
		var list []string
		for a, jobs := range now {
			list = append(list, fmt.Sprint(a, " ", jobs))
		}
		return list
	})
	s.stop()
	s.Until(t, "the alert for nothing at all fires", func() []string {
		now := s.Firing(t)
		if _, ok := now["ShardpilotAbsent"]; !ok {
			return []string{"ShardpilotAbsent"}
		}
		return nil
	})
}
