// Package promtest holds the dashboard and the alert rules of docs/grafana
// against a real Prometheus.
package promtest

import (
	"bytes"
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
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is for a machine that does much else.
const Patience = 2 * time.Minute

// Board is a Grafana dashboard.
type Board struct {
	Panels      []Panel
	Annotations struct {
		List []struct{ Name, Expr string }
	}
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
}

// Panel is one picture of it.
type Panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		RefID, Expr string
		Instant     bool
	}
}

// File is a file of docs/grafana.
func File(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "../../../docs/grafana", name)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(File(name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Dashboard is the one in docs/grafana.
func Dashboard(t testing.TB) Board {
	t.Helper()
	var d Board
	if err := json.Unmarshal(read(t, "dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Alerts are the rules in docs/grafana, as written.
func Alerts(t testing.TB) string {
	t.Helper()
	return string(read(t, "alerts.yml"))
}

// Tool finds a program of Debian's prometheus package.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("this test needs %s, which is not on PATH; install Debian's package: apt-get install prometheus", name)
	}
	return path
}

// FreeAddr is an address at which nobody listens, given once. It lies below the
// ports that a system gives to connections and to listeners that name none: of
// those another test would take one before the program that is told of it.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range ports {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+(givenPorts.Add(1)+uint32(os.Getpid())*37)%ports)
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

const firstPort, ports = 20000, 12000

var givenPorts atomic.Uint32

// Server is a Prometheus that scrapes each second.
type Server struct{ url string }

// Start runs a Prometheus until the test ends. It scrapes targets, addresses by
// job, and evaluates the rules of docs/grafana, hurried: what takes minutes
// there takes seconds here, everything else is as written.
func Start(t testing.TB, targets map[string][]string) *Server {
	t.Helper()
	dir := t.TempDir()
	rules := Alerts(t)
	for _, swap := range [][2]string{{`for: \d+[ms]`, "for: 0s"}, {`\[2m\]`, "[4s]"}, {`> 30 unless`, "> 4 unless"}} {
		re := regexp.MustCompile(swap[0])
		if !re.MatchString(rules) {
			t.Fatalf("the rules have no %s any more", swap[0])
		}
		rules = re.ReplaceAllString(rules, swap[1])
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n", filepath.Join(dir, "rules.yml"))
	for _, job := range slices.Sorted(maps.Keys(targets)) {
		fmt.Fprintf(&conf, "  - job_name: %q\n    static_configs: [{targets: [\"%s\"]}]\n", job, strings.Join(targets[job], `", "`))
	}
	for name, content := range map[string]string{"rules.yml": rules, "prometheus.yml": conf.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := FreeAddr(t)
	var said bytes.Buffer
	cmd := exec.Command(Tool(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
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
	return &Server{url: "http://" + addr}
}

// ask puts a question to the API; a question it does not understand is an
// error, one it cannot answer yet is not.
func (s *Server) ask(path string, params url.Values, into any) error {
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

// data says how many series a query returns: now, or over the last seconds as
// the graph of a panel shows them.
func (s *Server) data(query string, instant bool) (int, error) {
	query = hurried(query)
	if !instant {
		query = "(" + query + ")[15s:1s]"
	}
	var got struct{ Result []json.RawMessage }
	err := s.ask("/api/v1/query", url.Values{"query": {query}}, &got)
	return len(got.Result), err
}

// Firing are the alerts that fire, by name, with the jobs they name.
func (s *Server) Firing(t testing.TB) map[string][]string {
	t.Helper()
	var got struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	if err := s.ask("/api/v1/alerts", nil, &got); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, a := range got.Alerts {
		if a.State == "firing" {
			all[a.Labels["alertname"]] = append(all[a.Labels["alertname"]], a.Labels["job"])
		}
	}
	return all
}

// scrapes tells how those went that are not well.
func (s *Server) scrapes() string {
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

// Until asks again and again for what is still missing.
func (s *Server) Until(t testing.TB, what string, missing func() []string) {
	t.Helper()
	again, late := time.NewTicker(250*time.Millisecond), time.After(Patience)
	defer again.Stop()
	for list := missing(); len(list) > 0; list = missing() {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("%s, after %v still not:\n%s\n%s", what, Patience, strings.Join(list, "\n"), s.scrapes())
		}
	}
}

// EachPanelHasData waits until every query of the dashboard has returned
// something, each at some time.
func (s *Server) EachPanelHasData(t testing.TB) {
	t.Helper()
	type query struct {
		where, expr string
		instant     bool
	}
	var queries []query
	d := Dashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			queries = append(queries, query{p.Title + " " + q.RefID, q.Expr, q.Instant})
		}
	}
	for _, a := range d.Annotations.List {
		queries = append(queries, query{a.Name, a.Expr, false})
	}
	s.Until(t, "every panel has data", func() []string {
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
}
