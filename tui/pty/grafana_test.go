package pty

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
	"shardpilot/probe/metrics/promtest"
)

// watchedFleet is two replicas of `run` over a database at work: a queue that
// is grown, one with a step pending, and one that is pinned and drains. The
// second replica reads through a network that can be cut, as a role to which
// much is hidden.
func watchedFleet(t *testing.T) (s *scene, a, b *replica, network *muteProxy, policy func(string), calm func()) {
	t.Helper()
	s = newScene(t, pgtest.One(t))
	at := func(queue string, count int) rehearsal.Producers {
		return rehearsal.Producers{Queue: queue, Application: "checkout", Count: count, Hold: 20 * time.Millisecond, Report: true, Spread: 8}
	}
	_, stop := s.load(rehearsal.Spec{Keep: true,
		Queues:    []rehearsal.Queue{{Name: hot, Shards: 1}, {Name: "mail", Shards: 1}, {Name: "audit", Shards: 4}},
		Producers: []rehearsal.Producers{at(hot, 8), at("mail", 6), {Queue: "audit", Count: 4, Spread: 4, Rate: 200, On: 40 * time.Second, Off: time.Hour}},
		Workers: []rehearsal.Workers{{Queues: []string{hot, "mail"}, Count: 1, PerJob: 10 * time.Millisecond},
			// So slow that its lanes drain for as long as somebody may take to look.
			{Queues: []string{"audit"}, Count: 1, Batch: 8, PerJob: 200 * time.Millisecond}}})
	s.allow(8, true)
	optIn(t, s.d, "mail", 8)
	file := policyFile(t, quick)
	policy = func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	network, through := proxied(t, role(t, s.d, s.admin, "watcher", "GRANT pg_read_all_data TO ROLE"))
	a = s.replica("A", s.d.URL, "--policy", file)
	s.await("A leads", a.leads)
	b = s.replica("B", through)
	s.await("jobs in audit's upper lanes", func() bool {
		return ask[int](t, s.admin, `SELECT count(*)::int FROM awa.ready_entries WHERE queue = 'audit' AND enqueue_shard > 0`) > 400
	})
	if r := run(t, "set", s.d.URL, "--queue", "audit", "--pin", "1", "--force", "--yes", "--why", "a test"); r.code != 0 {
		t.Fatal(r.both())
	}
	return s, a, b, network, policy, func() { stop() }
}

// Real processes over a real load, scraped by a real Prometheus: every panel
// has something to show, and alerts fire in faults that are made, not told.
func TestTheDashboardAndTheAlertsShowARunningFleet(t *testing.T) {
	t.Parallel()
	_, a, b, network, policy, calm := watchedFleet(t)
	p := promtest.Start(t, map[string][]string{"leading": {a.addr}, "following": {b.addr}})
	p.EachPanelHasData(t)

	until := func(what, alert, job string, fires bool) {
		t.Helper()
		began := time.Now()
		p.Until(t, what, func() []string {
			if now := p.Firing(t); slices.Contains(now[alert], job) != fires {
				return []string{fmt.Sprintf("%s of %s: firing are %v", alert, job, now)}
			}
			return nil
		})
		t.Logf("%s: %.1f s", what, time.Since(began).Seconds())
	}
	until("mail is contended", "ShardpilotQueueContended", "leading", true)
	network.cut()
	policy("Nonsense = 1")
	until("the policy is refused", "ShardpilotPolicyRefused", "leading", true)
	until("B cannot read", "ShardpilotDatabaseDown", "following", true)
	network.heal()
	policy(quick)
	calm()
	until("the policy is good again", "ShardpilotPolicyRefused", "leading", false)
	until("B reads again", "ShardpilotDatabaseDown", "following", false)
	until("nobody stands in line", "ShardpilotQueueContended", "leading", false)
	// A scrape that a busy machine answers late is absent for a moment, too.
	p.Until(t, "no alarm without a fault", func() (list []string) {
		for alert, jobs := range p.Firing(t) {
			if alert == "ShardpilotTwoLead" || alert == "ShardpilotAbsent" {
				list = append(list, fmt.Sprintf("%s fires for %v", alert, jobs))
			}
		}
		return list
	})
}
