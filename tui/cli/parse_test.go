package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func TestArgumentsNameOneCommand(t *testing.T) {
	for _, tc := range []struct {
		args string
		name string
		conn string
	}{
		{"", "dashboard", ""},
		{"postgres://a@b/c", "dashboard", "postgres://a@b/c"},
		{"--label prod postgresql://a@b/c", "dashboard", "postgresql://a@b/c"},
		{"service=prod", "dashboard", "service=prod"},
		{"dashboard service=prod", "dashboard", "service=prod"},
		{"demo --shape notify", "demo", ""},
		{"doctor postgres://a@b/c --json", "doctor", "postgres://a@b/c"},
		{"version", "version", ""},
		{"help", "help", ""},
		{"help demo", "demo", ""},
	} {
		c, err := Parse(strings.Fields(tc.args))
		if err != nil {
			t.Errorf("%q: %v", tc.args, err)
			continue
		}
		if c.Name != tc.name || c.Conn.String != tc.conn {
			t.Errorf("%q: got %s %q, want %s %q", tc.args, c.Name, c.Conn.String, tc.name, tc.conn)
		}
	}
}

func TestBadArgumentsAreUsageFaultsThatNameTheFlag(t *testing.T) {
	for _, tc := range []struct{ args, names string }{
		{"frobnicate", `"frobnicate"`},
		{"help frobnicate", `"frobnicate"`},
		{"--frobnicate", "--frobnicate"},
		{"--interval 0.1s", "--interval"},
		{"--interval 11s", "--interval"},
		{"--interval soon", "soon"},
		{"--glyphs runes", "--glyphs"},
		{"--color mauve", "--color"},
		{"--mode brave", "--mode"},
		{"--theme neon", "neon"},
		{"--label-color plaid", "plaid"},
		{"--columns waiters,nonsense", "column"},
		{"--pace 0.5", "--pace"},
		{"--pace NaN", "--pace"},
		{"--pace 49", "--pace"},
		{"--port 0", "--port"},
		{"run --metrics-queues 0", "--metrics-queues"},
		{"--port 65536", "--port"},
		{"postgres://a/b postgres://c/d", "one connection string"},
		{"doctor prod", `"prod"`},
		{"version x=1", `"x=1"`},
		{"demo postgres://a/b", "no argument"},
		{"demo --shape round", "--shape"},
		{"demo --pg 9", "--pg"},
		{"demo --duration -1s", "--duration"},
		{"demo --producers 0", "--producers"},
		{"demo --producers 501", "--producers"},
		{"demo --hold -5ms", "--hold"},
		{"demo --shards 65", "--shards"},
		{"set --auto --max 8", "--queue"},
		{"set --queue q --unpin --why " + strings.Repeat("x", 201), "--why"},
		{"reject --queue q --why " + strings.Repeat("ü", 201), "--why"},
		{"set --queue q", "--auto"},
		{"set --queue q --auto", "--max"},
		{"set --queue q --auto --max 1", "--max"},
		{"set --queue q --auto --max 65", "--max"},
		{"set --queue q --max 8", "--auto"},
		{"set --queue q --auto --manual 4 --max 8", "--auto and --manual"},
		{"set --queue q --auto --max 8 --enforced --shadow", "exclude"},
		{"set --queue q --pin 0", "--pin"},
		{"set --queue q --manual 0", "--manual"},
		{"set --queue q --manual 65", "--manual"},
		{"set --queue q --pin 65", "--pin"},
		{"set --queue q --pin 4 --for tomorrow", "tomorrow"},
		{"set --queue q --pin 4 --for -2h", "--for"},
		{"set --queue q --unpin --for 2h", "--for"},
		{"set --queue q --override 65", "--override"},
		{"set --queue q --override 2 --undo", "--override and --undo"},
		{"approve", "--queue"},
		{"reject --why x", "--queue"},
		{"log --limit 0", "--limit"},
		{"log --since -1h", "--since"},
		{"grants --level admin", "--level"},
		{"experiment --shapes wild", "wild"},
		{"experiment --settings 0", "--settings"},
		{"experiment --settings 1,1", "twice"},
		{"experiment --shapes steady,idle,steady", "twice"},
		{"experiment --shapes=", "no shape"},
		{"experiment --settings=", "--settings"},
		{"experiment --settings one", "--settings"},
		{"experiment --seeds 0", "--seeds"},
		{"experiment --duration 2s", "--duration"},
		{"experiment --duration 3500ms", "--duration"},
		{"experiment --duration 25h", "--duration"},
		{"experiment --pace 49", "--pace"},
		{"experiment --pg 9", "--pg"},
		{"experiment --allow-load", "--allow-load"},
		{"experiment --awa .awa --allow-load -d x", "--awa"},
		{"experiment --awa .awa --simulate", "--awa"},
		{"experiment --allow-load --simulate -d x", "--allow-load"},
		{"experiment --allow-load -d x --pg 18", "--pg"},
		{"experiment --simulate --quick", "simulator"},
		{"experiment --sweep GrowShare", "--sweep"},
		{"experiment --sweep Nonsense=1", "Nonsense"},
		{"experiment --sweep GrowShare=many", "many"},
		{"experiment --sweep GrowShare=7", "GrowShare"},
	} {
		_, err := Parse(strings.Fields(tc.args))
		var f *control.Fault
		if !errors.As(err, &f) || f.Kind != control.FaultUsage {
			t.Errorf("%q: got %v, want a usage fault", tc.args, err)
			continue
		}
		if !strings.Contains(f.What, tc.names) || f.Hint == "" {
			t.Errorf("%q: %q does not name %s, or has no hint %q", tc.args, f.What, tc.names, f.Hint)
		}
	}
}

func TestEveryPaceThatIsTakenMakesAPolicy(t *testing.T) {
	for pace := 1.0; pace <= 48; pace += 0.5 {
		if err := control.DefaultPolicy().Pace(pace).Validate(); err != nil {
			t.Errorf("--pace %v is taken and makes no policy: %v", pace, err)
		}
	}
}

func TestARecordingBesideARehearsalTakesItsPace(t *testing.T) {
	c, err := Parse([]string{"record", "a.rec", "--pace", "20"})
	if err != nil || c.Run.Pace != 20 || c.Record.File != "a.rec" {
		t.Errorf("pace %v, file %q, %v", c.Run.Pace, c.Record.File, err)
	}
	if _, err := Parse([]string{"record", "a.rec", "--pace", "0"}); control.ExitCode(err) != 2 {
		t.Errorf("a pace of 0: %v", err)
	}
}

func TestDefaultsAreTheContractsOnes(t *testing.T) {
	c, err := Parse([]string{"demo"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Screen.Interval != time.Second || c.Run.Mode != "shadow" || c.Run.Pace != 1 || c.Demo.Shape != "steady" || c.Demo.Hold >= 0 {
		t.Errorf("unexpected defaults: %+v", c)
	}
}

func TestHelpListsEveryCommandAndEveryFlag(t *testing.T) {
	var all bytes.Buffer
	if err := Help(&all, "help"); err != nil {
		t.Fatal(err)
	}
	for _, spec := range commands() {
		if !strings.Contains(all.String(), "  "+spec.name+" ") {
			t.Errorf("help does not list %s", spec.name)
		}
		var one bytes.Buffer
		if err := Help(&one, spec.name); err != nil {
			t.Fatal(err)
		}
		for _, must := range []string{"Usage:", "Example:", "--help", "Exit:"} {
			if !strings.Contains(one.String(), must) {
				t.Errorf("help of %s lacks %s", spec.name, must)
			}
		}
		if _, err := Parse(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(spec.example, "shardpilot "), "\"deploy at noon\"", "noon"))); err != nil {
			t.Errorf("the example of %s does not parse: %v", spec.name, err)
		}
	}
}
