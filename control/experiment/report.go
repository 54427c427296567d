package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fact is a line about where a report comes from: machine, date, versions,
// command.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Report renders the results as Markdown that refers to one chart a shape,
// named by ChartName in the same folder.
func Report(title string, facts []Fact, results []Result, v Verdict) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title)
	for _, f := range facts {
		fmt.Fprintf(&b, "- %s: %s\n", f.Name, cell(f.Text))
	}
	if len(facts) > 0 {
		b.WriteString("\n")
	}
	verdict(&b, v)
	for _, shape := range shapesOf(results) {
		section(&b, shape, results, v)
	}
	return []byte(b.String())
}

// ChartName is the file of a shape's chart.
func ChartName(shape string) string {
	return "experiment-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, shape) + ".svg"
}

func verdict(b *strings.Builder, v Verdict) {
	failed, cannot := 0, 0
	for _, l := range v.Lines {
		switch l.Standing {
		case Failed, Missing:
			failed++
		case Cannot:
			cannot++
		case Passed:
		}
	}
	switch {
	case len(v.Lines) == 0:
		b.WriteString("**The gate is not passed: there are no results.**\n\n")
		return
	case v.Passed:
		fmt.Fprintf(b, "**The gate is passed**: %d lines hold.\n\n", len(v.Lines)-cannot)
	default:
		fmt.Fprintf(b, "**The gate is not passed**: %d of %d lines fail.\n\n", failed, len(v.Lines))
	}
	if v.Part != "" {
		fmt.Fprintf(b, "This was a part of the gate, %s.\n\n", cell(v.Part))
	}
	switch cannot {
	case 0:
	case 1:
		b.WriteString("One line is missed for a known reason; it is listed with it and fails nothing.\n\n")
	default:
		fmt.Fprintf(b, "%d lines are missed for a known reason; they are listed with it and fail nothing.\n\n", cannot)
	}
	b.WriteString("| shape | line | value | limit | | |\n|---|---|---:|---:|---|---|\n")
	for _, l := range v.Lines {
		sign := "≥"
		if l.AtMost {
			sign = "≤"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s %s | %s | %s |\n", cell(l.Shape), l.Metric, short(l.Value), sign, short(l.Limit), l.Standing, cell(l.Detail))
	}
	b.WriteString("\n")
}

func section(b *strings.Builder, shape string, results []Result, v Verdict) {
	fmt.Fprintf(b, "## %s\n\n", cell(shape))
	for _, s := range Shapes() {
		if s.Name == shape {
			fmt.Fprintf(b, "%s.\n\n", strings.ToUpper(s.What[:1])+s.What[1:])
		}
	}
	fmt.Fprintf(b, "![%s](%s)\n\n", cell(shape), ChartName(shape))
	b.WriteString("| setting | seed | jobs/s | p50 ms | p99 ms | changes | reversals | settled after | shards, mean | errors |\n")
	b.WriteString("|---|---:|---:|---:|---:|---|---:|---:|---:|---|\n")
	own, static := pools(shape, results)
	for _, n := range keys(static) {
		name := fmt.Sprintf("S = %d", n)
		if v.Best[shape] == n {
			name += " (best)"
		}
		for _, r := range static[n] {
			row(b, name, r)
		}
	}
	for _, r := range own {
		row(b, "controller", r)
	}
	b.WriteString("\n")
	for _, r := range own {
		notes(b, r)
	}
}

func row(b *strings.Builder, setting string, r *Result) {
	var changes, errs []string
	for _, c := range r.Changes {
		if len(changes) == 12 {
			changes = append(changes, fmt.Sprintf("and %d more", len(r.Changes)-12))
			break
		}
		changes = append(changes, fmt.Sprintf("%d→%d", c.From, c.To))
	}
	for _, class := range slices.Sorted(maps.Keys(r.Errors)) {
		errs = append(errs, fmt.Sprintf("%s ×%d", class, r.Errors[class]))
	}
	settled := "-"
	if len(r.Changes) > 0 {
		settled = elapsed(r.SettleS)
	}
	mean := 0.0
	if all := r.over(0); all.seconds > 0 {
		mean = all.shardS / all.seconds
	}
	fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %d | %s | %s | %s |\n", setting, r.Seed, short(r.Throughput), short(1000*r.P50S), short(1000*r.P99S),
		orDash(strings.Join(changes, " ")), r.Reversals, settled, short(mean), cell(orDash(strings.Join(errs, ", "))))
}

// notes are what a run of the controller has to say beyond its figures.
func notes(b *strings.Builder, r *Result) {
	var list []string
	if r.Oscillating {
		list = append(list, "in the end it was held as oscillating")
	}
	list = append(list, r.Verdicts...)
	for _, s := range r.Broken {
		list = append(list, "**a promise was broken**: "+s)
	}
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "Seed %d:\n\n", r.Seed)
	for _, s := range list {
		fmt.Fprintf(b, "- %s\n", cell(s))
	}
	b.WriteString("\n")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// cell makes any text fit into one cell of a table, or one line.
func cell(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(clean)
}

func keys(static map[int]pool) []int { return slices.Sorted(maps.Keys(static)) }
