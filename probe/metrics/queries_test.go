package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardpilot/probe/metrics/promtest"
)

const alertsTest = "testdata/alerts_test.yml"

var (
	alertName = regexp.MustCompile(`(?m)^ +- alert: (\S+)$`)
	alertExpr = regexp.MustCompile(`(?m)^        expr: (?:\|\n((?:          .*\n)+)|(.*)\n)`)
)

// exprs are the queries of the rules, in their order.
func exprs(rules string) []string {
	var list []string
	for _, m := range alertExpr.FindAllStringSubmatch(rules, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// What a query consists of beside names of metrics.
var (
	inQuotes  = regexp.MustCompile(`"[^"]*"`)
	inBraces  = regexp.MustCompile(`\{[^}]*\}`)
	inRange   = regexp.MustCompile(`\[[^\]]*\]`)
	grouping  = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\b\s*(\([^)]*\))?`)
	function  = regexp.MustCompile(`\b[a-z_]+\s*\(`)
	operators = regexp.MustCompile(`\b(and|or|unless|bool|offset)\b`)
	word      = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
)

// metricsOf are the names of metrics in a query.
func metricsOf(query string) []string {
	for _, r := range []*regexp.Regexp{inQuotes, inBraces, inRange, grouping, function, operators} {
		query = r.ReplaceAllString(query, " ")
	}
	return word.FindAllString(query, -1)
}

func TestQueriesAreOfMetricsThatExist(t *testing.T) {
	known, used := defined(), map[string]bool{}
	check := func(where, query string) {
		names := metricsOf(query)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", where, query)
		}
		for _, name := range names {
			used[name] = true
			if known[name] == nil {
				t.Errorf("%s asks for %q, which does not exist", where, name)
			}
		}
		for _, labels := range inBraces.FindAllString(query, -1) {
			for _, m := range regexp.MustCompile(`([a-z_]+)\s*[=!]`).FindAllStringSubmatch(labels, -1) {
				has := func(n string) bool { return slices.Contains(known[n].labels, m[1]) }
				if m[1] != "job" && !slices.ContainsFunc(names, func(n string) bool { return known[n] != nil && has(n) }) {
					t.Errorf("%s asks for a label %q that none of %v has", where, m[1], names)
				}
			}
		}
	}
	d := promtest.Dashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			check("panel "+p.Title, q.Expr)
		}
	}
	for _, a := range d.Annotations.List {
		check("annotation "+a.Name, a.Expr)
	}
	for _, v := range d.Templating.List {
		if m := regexp.MustCompile(`^label_values\(([^,]*), *\w+\)$`).FindStringSubmatch(v.Definition); v.Type == "query" && m != nil {
			check("variable "+v.Name, m[1])
		} else if v.Type == "query" {
			t.Errorf("variable %s: %q", v.Name, v.Definition)
		}
	}
	rules := promtest.Alerts(t)
	names, queries := alertName.FindAllStringSubmatch(rules, -1), exprs(rules)
	if len(names) == 0 || len(names) != len(queries) {
		t.Fatalf("%d alerts and %d queries", len(names), len(queries))
	}
	for i, q := range queries {
		check("alert "+names[i][1], q)
	}
	for name := range known {
		if !used[name] {
			t.Errorf("neither a panel nor an alert shows %s", name)
		}
	}
}

func TestThePanelsAreWhole(t *testing.T) {
	d := promtest.Dashboard(t)
	ids := map[int]bool{}
	var taken [1000][24]string
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %q has id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				if taken[y][x] != "" {
					t.Fatalf("%s lies on %s", p.Title, taken[y][x])
				}
				taken[y][x] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s lacks a description, a unit, the data source or a query", p.Title)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if refs[q.RefID] {
				t.Errorf("%s has two queries %s", p.Title, q.RefID)
			}
			refs[q.RefID] = true
		}
	}
}

func TestTheAlertRulesFireInTheirFaultAndClearAfterIt(t *testing.T) {
	promtool := promtest.Tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", promtest.File("alerts.yml")}, {"test", "rules", alertsTest}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	b, err := os.ReadFile(filepath.FromSlash(alertsTest))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range alertName.FindAllStringSubmatch(promtest.Alerts(t), -1) {
		cases := regexp.MustCompile(`alertname: `+m[1]+`\n +exp_alerts:( \[\])?\n`).FindAllStringSubmatch(string(b), -1)
		var story string // f fires, c is clear
		for _, c := range cases {
			if c[1] == "" {
				story += "f"
			} else {
				story += "c"
			}
		}
		if !regexp.MustCompile(`c.*f.*c`).MatchString(story) {
			t.Errorf("%s is rehearsed as %q, want it clear, firing, and clear again", m[1], story)
		}
	}
}

func TestMetricsOfAQueryAreFound(t *testing.T) {
	query := `max by (queue, mode) (rate(a_b_total{x=~"c_d"}[5m])) * on (queue) group_left max without (i) (e:f) > 0.25 unless g_h offset 5m == 1`
	query = strings.ReplaceAll(query, " offset 5m", "")
	if got := fmt.Sprint(metricsOf(query)); got != "[a_b_total e:f g_h]" {
		t.Errorf("found %s", got)
	}
}
