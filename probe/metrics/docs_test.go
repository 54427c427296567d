package metrics

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// go test ./probe/metrics -run Documented -update writes the list anew.
var update = flag.Bool("update", false, "write the list of metrics into docs/metrics.md")

const (
	docsPage  = "../../docs/metrics.md"
	listBegin = "<!-- the list: begin -->\n"
	listEnd   = "<!-- the list: end -->\n"
)

// list is what the page says of every metric.
func list() string {
	var b strings.Builder
	for _, s := range catalogue() {
		fmt.Fprintf(&b, "\n### %s\n", s.title)
		for _, d := range s.list {
			kind := "gauge"
			if d.kind == prometheus.CounterValue {
				kind = "counter"
			}
			fmt.Fprintf(&b, "\n**`%s`**  \n%s · %s", d.name, kind, d.unit)
			if len(d.labels) > 0 {
				fmt.Fprintf(&b, " · labels `%s`", strings.Join(d.labels, "`, `"))
			}
			fmt.Fprintf(&b, "  \n%s\n", d.help)
		}
	}
	return b.String() + "\n"
}

func TestEveryMetricIsDocumentedAndNothingElse(t *testing.T) {
	b, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), listBegin)
	was, after, ok2 := strings.Cut(rest, listEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the list", docsPage)
	}
	if *update {
		if err := os.WriteFile(docsPage, []byte(before+listBegin+list()+listEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was != list() {
		t.Errorf("%s does not say what the code does; go test ./probe/metrics -run Documented -update writes it anew", docsPage)
	}
	known := defined()
	for _, name := range regexp.MustCompile(`\b(?:awa|shardpilot)_[a-z0-9_]+`).FindAllString(before+after, -1) {
		if known[name] == nil {
			t.Errorf("%s speaks of %s, which does not exist", docsPage, name)
		}
	}
}

// defined are all metrics by name.
func defined() map[string]*definition {
	all := map[string]*definition{}
	for _, s := range catalogue() {
		for _, d := range s.list {
			all[d.name] = d
		}
	}
	return all
}

func TestNamesFollowTheConventions(t *testing.T) {
	n := 0
	for name, d := range defined() {
		n++
		if counter := d.kind == prometheus.CounterValue; counter != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: counters, and only they, end in _total", name)
		}
		if strings.HasPrefix(d.unit, seconds) != strings.Contains(name, "_seconds") {
			t.Errorf("%s: its unit is %s", name, d.unit)
		}
		if strings.HasPrefix(d.unit, "ratio") != strings.HasSuffix(name, "_ratio") {
			t.Errorf("%s: its unit is %s", name, d.unit)
		}
		if !regexp.MustCompile(`^(awa|shardpilot)_[a-z0-9]+(_[a-z0-9]+)*$`).MatchString(name) {
			t.Errorf("%s is no name of ours", name)
		}
		if d.help == "" || !strings.HasSuffix(d.help, ".") || d.unit == "" {
			t.Errorf("%s: no sentence or no unit", name)
		}
	}
	listed := 0
	for _, s := range catalogue() {
		listed += len(s.list)
	}
	if n != listed {
		t.Errorf("%d names for %d metrics", n, listed)
	}
}
