package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"shardpilot/control"
	"shardpilot/control/record"
)

// check refuses values outside their range, naming the flag and the range.
func check(c Command, set *pflag.FlagSet) error {
	if err := choose(c.Name, set); err != nil {
		return err
	}
	has := func(name string) bool { return set.Lookup(name) != nil }
	switch {
	case has("interval") && (c.Screen.Interval < 250*time.Millisecond || c.Screen.Interval > 10*time.Second):
		return usageOf(c.Name, "--interval must be 0.25s to 10s, got %s", c.Screen.Interval)
	case has("pace") && c.Name != "experiment" && !(c.Run.Pace >= 1 && c.Run.Pace <= 48):
		return usageOf(c.Name, "--pace must be 1 to 48, got %v", c.Run.Pace)
	case has("metrics-queues") && (c.Run.MetricsQueues < 1 || c.Run.MetricsQueues > 1000):
		return usageOf(c.Name, "--metrics-queues must be 1 to 1000, got %d", c.Run.MetricsQueues)
	case has("why") && utf8.RuneCountInString(c.Act.Why) > control.MaxWhy:
		return usageOf(c.Name, "--why must be at most %d characters, got %d", control.MaxWhy, utf8.RuneCountInString(c.Act.Why))
	case has("port") && set.Changed("port") && (c.Conn.Port < 1 || c.Conn.Port > 65535):
		return usageOf(c.Name, "--port must be 1 to 65535, got %d", c.Conn.Port)
	}
	if has("threshold-share") {
		t := c.Screen.Thresholds
		switch {
		case !(t.Share > 0 && t.Share <= 1):
			return usageOf(c.Name, "--threshold-share must be above 0 to 1, got %v", t.Share)
		case !(t.Heavy > 0 && t.Heavy <= 1):
			return usageOf(c.Name, "--threshold-heavy must be above 0 to 1, got %v", t.Heavy)
		case !(t.Waiters > 0 && t.Waiters <= 1e6):
			return usageOf(c.Name, "--threshold-waiters must be above 0 to 1000000, got %v", t.Waiters)
		}
	}
	if has("theme") {
		if err := c.Screen.Options().Validate(); err != nil {
			return err
		}
	}
	if has("record-max-size") && c.Record.MaxSize < record.MinBytes {
		return usageOf(c.Name, "--record-max-size must be %s or more, got %s", Size(record.MinBytes), c.Record.MaxSize)
	}
	if has("duration") && c.Demo.Duration < 0 {
		return usageOf(c.Name, "--duration must not be negative, got %s", c.Demo.Duration)
	}
	switch c.Name {
	case "demo":
		return cmp.Or(checkPG(c), checkDemo(c.Demo, set))
	case "set":
		return checkSet(c.Act, set)
	case "experiment":
		return checkExperiment(c, set)
	case "approve", "reject":
		if c.Act.Queue == "" {
			return usageOf(c.Name, "%s needs --queue", c.Name)
		}
	case "log":
		if c.Act.Limit < 1 || c.Act.Limit > 10000 {
			return usageOf("log", "--limit must be 1 to 10000, got %d", c.Act.Limit)
		}
		for _, k := range c.Act.Kinds {
			if !slices.Contains(control.LogKinds(), control.LogKind(k)) {
				return usageOf("log", "--kind takes %s, got %q", kindWords(), k)
			}
		}
	}
	return nil
}

// checkSet wants one thing done, and every number in its range.
func checkSet(a Act, set *pflag.FlagSet) error {
	var asked []string
	for _, name := range []string{"auto", "manual", "pin", "unpin", "override", "undo", "pause-up", "pause-down", "resume"} {
		if set.Changed(name) {
			asked = append(asked, "--"+name)
		}
	}
	both := slices.Equal(asked, []string{"--pause-up", "--pause-down"})
	switch {
	case a.Queue == "":
		return usageOf("set", "set needs --queue")
	case len(asked) == 0:
		return usageOf("set", "set needs to know what: --auto, --manual, --pin, --unpin, --override, --undo, --pause-up, --pause-down or --resume")
	case len(asked) > 1 && !both:
		return usageOf("set", "%s exclude each other", strings.Join(asked, " and "))
	case a.Auto && !set.Changed("max"):
		return usageOf("set", "--auto needs --max, 2 to 64")
	case !a.Auto && (set.Changed("max") || a.Enforced || a.Shadow):
		return usageOf("set", "--max, --enforced and --shadow go with --auto")
	case a.Auto && (a.Max < control.MinMax || a.Max > control.MaxMax):
		return usageOf("set", "--max must be %d to %d, got %d", control.MinMax, control.MaxMax, a.Max)
	case set.Changed("override") && (a.Override < control.MinShards || a.Override > control.MaxShards):
		return usageOf("set", "--override must be %d to %d, got %d", control.MinShards, control.MaxShards, a.Override)
	case set.Changed("manual") && (a.Manual < control.MinShards || a.Manual > control.MaxShards):
		return usageOf("set", "--manual must be %d to %d, got %d", control.MinShards, control.MaxShards, a.Manual)
	case a.Enforced && a.Shadow:
		return usageOf("set", "--enforced and --shadow exclude each other")
	case set.Changed("pin") && (a.Pin < control.MinShards || a.Pin > control.MaxShards):
		return usageOf("set", "--pin must be %d to %d, got %d", control.MinShards, control.MaxShards, a.Pin)
	case set.Changed("for") && !set.Changed("pin"):
		return usageOf("set", "--for goes with --pin")
	case set.Changed("for") && a.For <= 0:
		return usageOf("set", "--for must be longer than nothing, got %s", a.For)
	}
	return nil
}

func checkPG(c Command) error {
	if c.Demo.PG != "" && !slices.Contains([]string{"15", "17", "18"}, c.Demo.PG) {
		return usageOf(c.Name, "--pg must be 15, 17 or 18, got %q", c.Demo.PG)
	}
	return nil
}

func checkDemo(d Demo, set *pflag.FlagSet) error {
	switch {
	case set.Changed("producers") && (d.Producers < 1 || d.Producers > 500):
		return usageOf("demo", "--producers must be 1 to 500, got %d", d.Producers)
	case set.Changed("hold") && (d.Hold < 0 || d.Hold > time.Minute):
		return usageOf("demo", "--hold must be 0s to 1m, got %s", d.Hold)
	case set.Changed("shards") && (d.Shards < 1 || d.Shards > 64):
		return usageOf("demo", "--shards must be 1 to 64, got %d", d.Shards)
	}
	return nil
}
