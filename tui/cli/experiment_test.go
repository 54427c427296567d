package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"shardpilot/control/experiment"
)

func parsed(t *testing.T, args string) Command {
	t.Helper()
	c, err := Parse(strings.Fields(args))
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return c
}

// TestFlagsMakeThePlan, and without any it is the full gate's.
func TestFlagsMakeThePlan(t *testing.T) {
	full := parsed(t, "experiment").Experiment.Plan("v1")
	if len(full.Shapes) != 8 || full.Quick || full.Program != "v1" || !slices.Equal(full.Static, []int{1, 2, 4, 8}) || full.Lengths == nil {
		t.Errorf("%+v", full)
	}
	p := parsed(t, "experiment --shapes idle,steady --settings 1,4 --seeds 3 --duration 30s --pace 20").Experiment.Plan("v1")
	if !slices.Equal(p.Shapes, []string{"steady", "idle"}) || !slices.Equal(p.Static, []int{1, 4}) || len(p.Seeds) != 3 {
		t.Errorf("%+v", p)
	}
	for _, j := range p.Jobs() {
		if j.Seconds != 30 || j.Pace != 20 {
			t.Errorf("%+v", j)
		}
	}
	if q := parsed(t, "experiment --quick").Experiment.Plan("v1"); !q.Quick || q.Margins.Settled >= full.Margins.Settled {
		t.Errorf("%+v", q)
	}
	sweep, err := parsed(t, "experiment --sweep GrowShare=0.2,0.3 --sweep Settle=30s --shapes idle").Experiment.SweepPlan()
	if err != nil || len(sweep.Trials) != 3 || sweep.Trials[2].Set[0] != "Settle=30s" || len(sweep.Shapes) != 1 {
		t.Errorf("%+v, %v", sweep, err)
	}
}

// TestOnlyAFullRunIsKeptUnasked: it takes too long to be lost.
func TestOnlyAFullRunIsKeptUnasked(t *testing.T) {
	for args, want := range map[string]experiment.Folder{
		"experiment": defaultOut, "experiment --quick": "", "experiment --simulate": "", "experiment --quick --out x": "x",
	} {
		if got := parsed(t, args).Experiment.Folder(); got != want {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// TestAReportNamesTheFlagsAndNoConnection: it may hold a password.
func TestAReportNamesTheFlagsAndNoConnection(t *testing.T) {
	c := parsed(t, "experiment postgres://a:secret@b/c --allow-load --user a --shapes idle,steady --seeds 2 --json")
	if got := strings.Join(c.Flags, " "); got != "--allow-load --shapes idle,steady --seeds 2 --json" {
		t.Errorf("got %s", got)
	}
}

func told(terminal bool) (*campaign, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	return &campaign{out: &out, err: &out, terminal: terminal, now: func() time.Time { return now }, total: 12}, &out, &now
}

// TestProgressIsOneLineOnATerminalAndALineARunWithout.
func TestProgressIsOneLineOnATerminalAndALineARunWithout(t *testing.T) {
	last := experiment.Result{Job: experiment.Job{Shape: "steady"}, Throughput: 570.04, P99S: 0.041,
		Changes: []experiment.ChangeAt{{From: 1, To: 2}, {From: 2, To: 4}}, Errors: map[string]uint64{"40001": 3}}
	at := experiment.Progress{Done: 6, Total: 12, Job: experiment.Job{Shape: "sine", Setting: experiment.Setting{Static: 4}}, Left: 90 * time.Second, Last: &last}

	p, out, now := told(true)
	p.tell(at)
	*now = now.Add(30 * time.Second)
	p.draw()
	if got := out.String(); strings.Contains(got, "\n") || !strings.HasSuffix(got, "[##########..........] 6/12 sine, S = 4, 1m0s left\x1b[K") {
		t.Errorf("on a terminal: %q", got)
	}
	p, out, _ = told(false)
	p.tell(at)
	if got := out.String(); got != "experiment:  6/12  steady  controller   570.0 jobs/s, p99    41 ms, 1->2->4, 40001 x3\n" {
		t.Errorf("without one: %q", got)
	}
	p, out, _ = told(false)
	p.json = true
	p.tell(at)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["type"] != "run" || line["done"] != 6.0 || line["throughput"] != 570.04 {
		t.Errorf("as JSON: %v %s", err, out)
	}
	p, out, _ = told(false)
	p.interrupted(3, "dir")
	if got := out.String(); !strings.Contains(got, "3 of 12 runs are kept in dir") {
		t.Errorf("stopped: %q", got)
	}
}

// TestAVerdictHasALineForEachLine: figure, bound and how it went.
func TestAVerdictHasALineForEachLine(t *testing.T) {
	v := experiment.Verdict{Lines: []experiment.Line{
		{Shape: "steady", Metric: experiment.MetricSettled, Value: 0.981, Limit: 0.95, Standing: experiment.Passed, Detail: "98 against 100"},
		{Shape: "steady", Metric: experiment.MetricP99, Value: 1.2, Limit: 1.1, AtMost: true, Standing: experiment.Failed},
		{Shape: "ramp", Metric: experiment.MetricSettled, Limit: 0.95, Standing: experiment.Missing, Detail: "no run of the controller"},
		{Shape: "stuck", Metric: experiment.MetricSettled, Value: 0.5, Limit: 0.95, Standing: experiment.Cannot, Detail: "by design"},
	}}
	var out bytes.Buffer
	if err := Verdict(&out, v, false); err != nil {
		t.Fatal(err)
	}
	want := `steady   throughput after settling      0.98 >= 0.95   passed        98 against 100
steady   p99 enqueue latency            1.20 <= 1.10   failed
ramp     throughput after settling       n/a >= 0.95   not measured  no run of the controller
stuck    throughput after settling      0.50 >= 0.95   excepted      by design

the gate is not passed
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}
