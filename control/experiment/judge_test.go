package experiment

import (
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

var update = flag.Bool("update", false, "write the golden files")

// madeUp is a run in ten bins at a rate, all latencies alike.
func madeUp(shape string, static int, seed uint64, rate, p99ms float64) Result {
	r := Result{
		Job:   Job{Shape: shape, Setting: Setting{static}, Seed: seed, Seconds: 600},
		Bench: "made up", Start: max(static, 1), End: max(static, 1),
		Changes: []ChangeAt{}, Errors: map[string]uint64{}, Verdicts: []string{}, Broken: []string{},
	}
	for i := range 10 {
		n := uint64(rate * 60)
		r.Bins = append(r.Bins, Bin{AtS: float64(60 * i), Seconds: 60, Jobs: n, ShardS: 60 * float64(r.Start), Share: 0.5,
			Latency: []Bucket{{UpToS: p99ms / 2000, N: n / 2}, {UpToS: p99ms / 1000, N: n - n/2}}})
	}
	r.Complete()
	return r
}

// grown is a run of the controller that was slow for three minutes on its way to a count.
func grown(shape string, seed uint64, before, after, p99ms float64, to int) Result {
	r := madeUp(shape, 0, seed, after, p99ms)
	for i := range 3 {
		r.Bins[i].Jobs = uint64(before * 60)
	}
	at := 1
	for at < to {
		r.Changes = append(r.Changes, ChangeAt{AtS: float64(60 * len(r.Changes)), From: at, To: 2 * at, Reason: "contended"})
		at *= 2
	}
	for i := range r.Bins {
		r.Bins[i].ShardS = 60 * float64(min(to, 1<<min(i, 10)))
	}
	r.End = to
	r.Complete()
	return r
}

func goodResults() []Result {
	return []Result{
		madeUp("steady", 1, 1, 146, 120), madeUp("steady", 2, 1, 290, 60), madeUp("steady", 4, 1, 570, 30), madeUp("steady", 8, 1, 880, 20),
		grown("steady", 1, 700, 870, 20.5, 8), grown("steady", 2, 720, 875, 20.2, 8),
		madeUp("idle", 1, 1, 1, 2), madeUp("idle", 2, 1, 1, 2), madeUp("idle", 4, 1, 1, 2), madeUp("idle", 8, 1, 1, 2), madeUp("idle", 0, 1, 1, 2),
		madeUp("skewed", 1, 1, 146, 120), madeUp("skewed", 8, 1, 195, 120), grown("skewed", 1, 150, 172, 120, 2),
	}
}

func lineOf(t *testing.T, v Verdict, shape string, metric Metric) Line {
	t.Helper()
	for _, l := range v.Lines {
		if l.Shape == shape && l.Metric == metric {
			return l
		}
	}
	t.Fatalf("no line for %s, %s", shape, metric)
	return Line{}
}

// TestTheGateTellsGoodFromBad: results that keep the margins pass, and each way
// of missing one fails with that line and no other.
func TestTheGateTellsGoodFromBad(t *testing.T) {
	v := Judge(goodResults(), FullMargins())
	if !v.Passed {
		t.Fatalf("good results do not pass: %+v", v.Lines)
	}
	if v.Best["steady"] != 8 || v.Best["idle"] != 1 {
		t.Errorf("best settings %v: steady is fastest with 8, idle as good with 1", v.Best)
	}
	if l := lineOf(t, v, "skewed", MetricSettled); l.Standing != Cannot || !strings.Contains(l.Detail, "ordering key") {
		t.Errorf("the hot key's line: %+v", l)
	}
	back := ChangeAt{AtS: 500, From: 8, To: 4, Reason: "calm"}
	for _, bad := range []struct {
		metric Metric
		run    func() Result
	}{
		{MetricSettled, func() Result { return grown("steady", 1, 880, 820, 20, 8) }},
		{MetricTransition, func() Result { return grown("steady", 1, 500, 875, 20, 8) }},
		{MetricP99, func() Result { return grown("steady", 1, 860, 875, 23, 8) }},
		{MetricReversals, func() Result {
			r := grown("steady", 1, 860, 875, 20, 4)
			r.Changes = append(r.Changes[:1:1], back)
			r.Complete()
			return r
		}},
		{MetricSteps, func() Result {
			r := grown("steady", 1, 860, 875, 20, 8)
			r.Changes = append(r.Changes, ChangeAt{AtS: 200, From: 8, To: 16})
			r.Complete()
			return r
		}},
		{MetricShardHours, func() Result {
			r := grown("steady", 1, 860, 875, 20, 8)
			for i := range r.Bins {
				r.Bins[i].ShardS = 60 * 11
			}
			r.Complete()
			return r
		}},
		{MetricErrors, func() Result {
			r := grown("steady", 1, 860, 875, 20, 8)
			r.Errors = map[string]uint64{"23505": 6}
			return r
		}},
		{MetricPromises, func() Result {
			r := grown("steady", 1, 860, 875, 20, 8)
			r.Broken = []string{"more than one step"}
			return r
		}},
	} {
		results := append(goodResults()[:4], bad.run())
		v := Judge(results, FullMargins())
		if v.Passed {
			t.Errorf("%s: passed", bad.metric)
		}
		for _, l := range v.Lines {
			if failed := l.Standing == Failed; failed != (l.Metric == bad.metric) {
				t.Errorf("%s: line %+v", bad.metric, l)
			}
		}
	}
}

// TestTheGateNeedsSomethingToJudge: no results, or half of them, do not pass.
func TestTheGateNeedsSomethingToJudge(t *testing.T) {
	if Judge(nil, FullMargins()).Passed {
		t.Error("nothing passes")
	}
	for _, half := range [][]Result{goodResults()[:4], goodResults()[4:6]} {
		v := Judge(half, FullMargins())
		if v.Passed || v.Lines[0].Standing != Missing {
			t.Errorf("half of the runs: %+v", v)
		}
	}
	silent := []Result{madeUp("steady", 1, 1, 0, 1), madeUp("steady", 0, 1, 0, 1)}
	silent[1].Bins, silent[0].Bins = nil, nil
	if v := Judge(silent, QuickMargins()); len(v.Lines) == 0 {
		t.Error("runs without bins have no verdict")
	}
}

// TestReportReadsAsWritten compares the report, chart and table with the golden
// files; run with -update and read the difference.
func TestReportReadsAsWritten(t *testing.T) {
	results := goodResults()
	results[4].Verdicts = []string{"05 00:12:00 1→2 kept: enqueue rate ×1.99"}
	results[5].Errors = map[string]uint64{"40001": 2}
	v := Judge(results, FullMargins())
	facts := []Fact{{"Machine", "2 cores"}, {"Command", "shardpilot experiment | tee <log>"}}
	table, err := CSV(results)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"report.md": Report("Experiment", facts, results, v), "steady.svg": Chart("steady", results), "results.csv": table,
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) {
			t.Errorf("%s is another one; run with -update and read the difference\n%s", name, got)
		}
	}
}

// TestChartsAreWellFormedWhateverTheResults: empty runs, no runs, hostile names.
func TestChartsAreWellFormedWhateverTheResults(t *testing.T) {
	for _, results := range [][]Result{nil, goodResults(), {madeUp("steady", 0, 1, 0, 0)}, {{Job: Job{Shape: "steady", Seconds: 5}}}} {
		var into struct {
			XMLName xml.Name
		}
		if err := xml.Unmarshal(Chart("steady", results), &into); err != nil || into.XMLName.Local != "svg" {
			t.Errorf("%d results: %v", len(results), err)
		}
		if s := string(Chart("steady", results)); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Error("a chart with NaN or Inf in it")
		}
	}
	hostile := goodResults()[:6]
	for i := range hostile {
		hostile[i].Shape = "a|b<script>\n# c"
	}
	if s := string(Report("x", nil, hostile, Judge(hostile, FullMargins()))); strings.Contains(s, "<script>") || strings.Contains(s, "\n# c") {
		t.Errorf("a name became markup:\n%s", s)
	}
}

// TestABookReadsBackAsItWasWritten and nothing else is taken for one.
func TestABookReadsBackAsItWasWritten(t *testing.T) {
	book := Book{Plan: Plan{Shapes: []string{"steady"}, Seeds: []uint64{1}, Seconds: 600, Margins: FullMargins(), Created: time.Unix(1e9, 0).UTC()}, Results: goodResults()}
	data, err := book.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadBook(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.JSON()
	if err != nil || string(again) != string(data) {
		t.Errorf("the book changed on its way (%v)", err)
	}
	for _, bad := range []string{"", "{", string(data[:len(data)/2]), `{"version":2}`, `{"version":0}`, "[1]"} {
		var fault *control.Fault
		if _, err := ReadBook([]byte(bad)); !errors.As(err, &fault) || fault.Hint == "" {
			t.Errorf("%.20q was read: %v", bad, err)
		}
	}
}
