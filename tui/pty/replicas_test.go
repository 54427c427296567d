package pty

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/probe/metrics/promtest"
)

// replica is a `shardpilot run` whose metrics are read.
type replica struct {
	*background
	name, addr string
}

func (s *scene) replica(name, url string, args ...string) *replica {
	s.t.Helper()
	r := &replica{name: name, addr: promtest.FreeAddr(s.t)}
	r.background = launch(s.t, nil, append([]string{"run", url, "--mode", "enforced", "--json", "--metrics-listen", r.addr}, args...)...)
	return r
}

// fetch is what an address answers, "" while it does not.
func fetch(url string) string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	page, _ := io.ReadAll(resp.Body) // half a page lacks what is looked for
	return string(page)
}

var sampleLine = regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? (\S+)$`)

// sum adds up a metric of a scrape by one of its labels, "" for all of it.
func (r *replica) sum(metric, label string) map[string]float64 {
	out := map[string]float64{}
	by := regexp.MustCompile(`\b` + label + `="([^"]*)"`)
	for _, m := range sampleLine.FindAllStringSubmatch(fetch("http://"+r.addr+"/metrics"), -1) {
		if v, err := strconv.ParseFloat(m[3], 64); err == nil && m[1] == metric {
			value := ""
			if found := by.FindStringSubmatch(m[2]); label != "" && found != nil {
				value = found[1]
			}
			out[value] += v
		}
	}
	return out
}

func (r *replica) is(metric string, want float64) bool {
	v, ok := r.sum(metric, "")[""]
	return ok && v == want
}

func (r *replica) leads() bool { return r.is("shardpilot_leader", 1) }

func (r *replica) follows() bool {
	return r.is("shardpilot_leader", 0) && r.is("shardpilot_leader_known", 1)
}

// successor waits until one of the replicas leads, and says how long that took.
func (s *scene) successor(what string, among ...*replica) *replica {
	s.t.Helper()
	began := time.Now()
	var next *replica
	s.await("another leader, "+what, func() bool {
		for _, r := range among {
			if r.leads() {
				next = r
			}
		}
		return next != nil
	})
	took := time.Since(began)
	s.t.Logf("%s: %s leads after %.1f s", what, next.name, took.Seconds())
	if took > soon+30*time.Second {
		s.t.Errorf("%s: another led only after %v", what, took)
	}
	return next
}

// applied counts the changes that were written.
func (s *scene) applied() (n int) {
	s.t.Helper()
	for _, e := range s.log(control.LogChange) {
		if e.Outcome == control.OutcomeApplied {
			n++
		}
	}
	return n
}

// agree waits until a replica's counters say of the changes what the log does.
func (s *scene) agree(r *replica) {
	s.t.Helper()
	s.await(r.name+"'s metrics agree with the log", func() bool {
		log, said := map[string]float64{}, r.sum("shardpilot_changes_total", "outcome")
		maps.DeleteFunc(said, func(_ string, n float64) bool { return n == 0 })
		for _, e := range s.log(control.LogChange) {
			log[string(e.Outcome)]++
		}
		return maps.Equal(log, said)
	})
}

// Three replicas, enforced, under load. Whatever happens to the one that leads,
// another leads soon; and the log proves that no two ever wrote.
func TestOfThreeReplicasOneLeadsWhateverHappensToIt(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	s := newScene(t, d)
	s.crowd(24, 40*time.Millisecond)
	s.allow(8, true)
	proxy, throughProxy := proxied(t, d.URL)
	file := policyFile(t, quick)
	a := s.replica("A", throughProxy, "--policy", file)
	s.await("A leads", a.leads)
	b, c := s.replica("B", d.URL, "--policy", file), s.replica("C", d.URL, "--policy", file)
	s.await("B and C follow", func() bool { return b.follows() && c.follows() })
	s.await("a change of A's", func() bool { return s.applied() > 0 })

	proxy.cut()
	before := s.applied()
	leader := s.successor("cut off from the database", b, c)
	s.await("A knows that it does not lead", func() bool { return a.is("shardpilot_leader", 0) })
	s.await("a change of "+leader.name+"'s", func() bool { return s.applied() > before })
	proxy.heal()
	s.await("A follows", a.follows)
	for _, r := range []*replica{a, b, c} {
		s.agree(r)
	}

	left := []*replica{a, b, c}
	for _, end := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGKILL, 128 + 9}, {syscall.SIGTERM, 0}} {
		if err := leader.cmd.Process.Signal(end.signal); err != nil {
			t.Fatal(err)
		}
		rest := left[:0:0]
		for _, r := range left {
			if r != leader {
				rest = append(rest, r)
			}
		}
		was := leader
		leader, left = s.successor("after "+end.signal.String(), rest...), rest
		if code := was.ended(t, actPatience); code != end.code {
			t.Errorf("%s ended with %d, want %d:\n%s", was.name, code, end.code, was.written())
		}
	}
	s.agree(leader)
	s.oneWriter(4)
}

// oneWriter holds the log against itself: each change goes on from where the one
// before it ended, and nothing is written under an epoch that is over. The
// newest epoch is the given one, or later.
func (s *scene) oneWriter(newest int64) {
	s.t.Helper()
	rows, err := s.admin.Query(s.within(), `SELECT kind, coalesce(from_shards, 0), coalesce(to_shards, 0), coalesce(outcome, ''), coalesce(epoch, 0)
		FROM shardpilot.decision ORDER BY id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	at, reign, writers := 1, int64(0), map[int64]int{}
	var lines []string
	for rows.Next() {
		var kind, outcome string
		var from, to int
		var epoch int64
		if err := rows.Scan(&kind, &from, &to, &outcome, &epoch); err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d: %s %d>%d %s", epoch, kind, from, to, outcome))
		if epoch > 0 && epoch < reign {
			s.t.Errorf("an entry of epoch %d after one of %d", epoch, reign)
		}
		reign = max(reign, epoch)
		if control.LogKind(kind) == control.LogAdopted {
			s.t.Error("a change of one of them was taken for one from elsewhere")
		}
		if control.LogKind(kind) == control.LogChange && control.Outcome(outcome) == control.OutcomeApplied {
			if from != at {
				s.t.Errorf("a change goes from %d, where the count was %d", from, at)
			}
			at = to
			writers[epoch]++
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	if n := s.count(); n != at {
		s.t.Errorf("the count is %d, by the log %d", n, at)
	}
	if len(writers) < 2 {
		s.t.Errorf("changes were written in %d reigns only", len(writers))
	}
	now := ask[int64](s.t, s.admin, `SELECT epoch FROM shardpilot.leader`)
	if now < newest { // more, where the machine stood still for so long that the server ended a leader's session
		s.t.Errorf("the newest epoch is %d, want %d", now, newest)
	}
	s.t.Logf("changes by epoch: %v, newest epoch %d", writers, now)
	if s.t.Failed() {
		s.t.Log(strings.Join(lines, "\n"))
	}
}
