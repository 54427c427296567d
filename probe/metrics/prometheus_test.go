package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shardpilot/control"
)

// patience is for a machine that does much else.
const patience = 60 * time.Second

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
	url      string
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
					e.Leader = leader
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
	s.url = s.start(t)
	return s
}

// start runs a Prometheus with the rules of docs/grafana, hurried: what takes
// minutes there takes seconds here, everything else is as written.
func (s *scene) start(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	rules := alertRules(t)
	for _, swap := range [][2]string{{`for: \d+[ms]`, "for: 0s"}, {`\[2m\]`, "[4s]"}, {`> 30 unless`, "> 4 unless"}} {
		re := regexp.MustCompile(swap[0])
		if !re.MatchString(rules) {
			t.Fatalf("the rules have no %s any more", swap[0])
		}
		rules = re.ReplaceAllString(rules, swap[1])
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n", filepath.Join(dir, "rules.yml"))
	for _, job := range s.jobs() {
		fmt.Fprintf(&conf, "  - job_name: %q\n    static_configs: [{targets: [%s]}]\n", job, strings.Join(s.targets(job), ", "))
	}
	for name, content := range map[string]string{"rules.yml": rules, "prometheus.yml": conf.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := freeAddr(t)
	var said bytes.Buffer
	cmd := exec.Command(tool(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its data go with the directory
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus said:\n%s", said.String())
		}
	})
	return "http://" + addr
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // only its port was wanted
	return ln.Addr().String()
}

func (s *scene) jobs() []string {
	jobs := map[string]bool{}
	for _, r := range s.replicas {
		jobs[r.job] = true
	}
	return slices.Sorted(maps.Keys(jobs))
}

func (s *scene) targets(job string) []string {
	var list []string
	for _, r := range s.replicas {
		if r.job == job {
			list = append(list, fmt.Sprintf("%q", r.addr))
		}
	}
	return list
}

// ask puts a question to the API; a question it does not understand is an
// error, one it cannot answer yet is not.
func (s *scene) ask(path string, params url.Values, into any) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(s.url + path + "?" + params.Encode())
	if err != nil {
		return nil // it is not up yet
	}
	defer resp.Body.Close() //nolint:errcheck // whether it was read to its end shows in the decoding
	var got struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return nil // starting up, it answers in plain text
	}
	if got.Status != "success" {
		return fmt.Errorf("%s: %s", params.Get("query"), got.Error)
	}
	return json.Unmarshal(got.Data, into)
}

// hurried is a query of a panel as Grafana would send it, over a short time.
func hurried(query string) string {
	return strings.NewReplacer("$__rate_interval", "5s", "[1m:15s]", "[10s:1s]", "$job", ".*", "$queue", ".*").Replace(query)
}

// data says how many series a query returns.
func (s *scene) data(query string, instant bool) (int, error) {
	now := time.Now()
	path, params := "/api/v1/query", url.Values{"query": {hurried(query)}}
	if !instant {
		path = "/api/v1/query_range"
		params.Set("start", fmt.Sprint(now.Add(-15*time.Second).Unix()))
		params.Set("end", fmt.Sprint(now.Unix()))
		params.Set("step", "1")
	}
	var got struct{ Result []json.RawMessage }
	err := s.ask(path, params, &got)
	return len(got.Result), err
}

// firing are the alerts that fire, by name, with the jobs they name.
func (s *scene) firing() (map[string][]string, error) {
	var got struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	err := s.ask("/api/v1/alerts", nil, &got)
	all := map[string][]string{}
	for _, a := range got.Alerts {
		if a.State == "firing" {
			all[a.Labels["alertname"]] = append(all[a.Labels["alertname"]], a.Labels["job"])
		}
	}
	return all, err
}

// scrapes tells how those went that are not well.
func (s *scene) scrapes() string {
	var got struct {
		ActiveTargets []struct{ ScrapeURL, Health, LastError string }
	}
	if err := s.ask("/api/v1/targets", nil, &got); err != nil || len(got.ActiveTargets) == 0 {
		return fmt.Sprintf("prometheus does not answer (%v)", err)
	}
	said := fmt.Sprintf("%d targets", len(got.ActiveTargets))
	for _, a := range got.ActiveTargets {
		if a.Health != "up" {
			said += fmt.Sprintf("\n%s is %s: %s", a.ScrapeURL, a.Health, a.LastError)
		}
	}
	return said
}

// until asks again and again for what is still missing.
func (s *scene) until(t *testing.T, what string, missing func() []string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	var list []string
	for time.Now().Before(deadline) {
		if list = missing(); len(list) == 0 {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	t.Fatalf("%s, after %v still not:\n%s\n%s", what, patience, strings.Join(list, "\n"), s.scrapes())
}

func TestEachPanelHasDataAndEachAlertFiresAndClears(t *testing.T) {
	s := newScene(t)
	type query struct {
		where, expr string
		instant     bool
	}
	var queries []query
	d := dashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			queries = append(queries, query{p.Title + " " + q.RefID, q.Expr, q.Instant})
		}
	}
	for _, a := range d.Annotations.List {
		queries = append(queries, query{a.Name, a.Expr, false})
	}
	s.until(t, "every panel has data", func() []string {
		var list []string
		queries = slices.DeleteFunc(queries, func(q query) bool {
			n, err := s.data(q.expr, q.instant)
			if err != nil {
				t.Fatalf("%s: %v", q.where, err)
			}
			if n == 0 {
				list = append(list, q.where+": "+hurried(q.expr))
			}
			return n > 0
		})
		return list
	})
	s.until(t, "each alert fires", func() []string {
		now, err := s.firing()
		if err != nil {
			t.Fatal(err)
		}
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
	s.until(t, "each alert clears", func() []string {
		now, err := s.firing()
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for a, jobs := range now {
			list = append(list, fmt.Sprint(a, " ", jobs))
		}
		return list
	})
	s.stop()
	s.until(t, "the alert for nothing at all fires", func() []string {
		now, err := s.firing()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := now["ShardpilotAbsent"]; !ok {
			return []string{"ShardpilotAbsent"}
		}
		return nil
	})
}
