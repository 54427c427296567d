package cli

import (
	"time"

	"github.com/spf13/pflag"

	"shardpilot/control/record"
)

func connFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Conn.Host, "host", "", "server host or socket directory")
	f.IntVarP(&c.Conn.Port, "port", "p", 0, "server port")
	f.StringVarP(&c.Conn.DBName, "dbname", "d", "", "database name, URL or keyword string")
	f.StringVarP(&c.Conn.User, "user", "U", "", "role to connect as")
	f.BoolVar(&c.Conn.AllowNewer, "allow-newer-awa", false, "allow writes on an Awa schema newer than the newest known")
}

// placeFlags name what is connected to, and the file that may say so.
func placeFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Screen.Label, "label", "", "environment label shown in the header and in every question")
	f.StringVar(&c.Config, "config", "", "configuration file ($XDG_CONFIG_HOME/shardpilot/config.toml)")
	f.StringVar(&c.Profile, "profile", "", "table [profile.NAME] of the file to lay over the rest of it")
	f.BoolVar(&c.PrintConfig, "print-config", false, "print the settings in effect and where each comes from, and do nothing else")
}

func screenFlags(f *pflag.FlagSet, c *Command) {
	lookFlags(f, c)
	f.BoolVar(&c.Screen.ReadOnly, "read-only", false, "take the action keys away, and do not compete for the lead (a demo leads all the same)")
	logFileFlags(f, c)
}

// lookFlags say how a screen looks.
func lookFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Screen.LabelColor, "label-color", "", "colour of the label: a name such as red, or #rrggbb")
	f.DurationVar(&c.Screen.Interval, "interval", time.Second, "time between pictures, 0.25s to 10s")
	f.StringVar(&c.Screen.Glyphs, "glyphs", "auto", "auto, braille, block or ascii")
	f.StringVar(&c.Screen.Color, "color", "auto", "auto, truecolor, 256, 16 or none")
	f.BoolVar(&c.Screen.Mouse, "mouse", false, "take clicks and the wheel: choose, open, scroll; nothing that acts")
	f.StringVar(&c.Screen.Theme, "theme", "auto", "auto, dark, light, contrast or mono")
	f.StringSliceVar(&c.Screen.Columns, "columns", nil, "columns of the overview, in their order, separated by commas (all)")
	f.Float64Var(&c.Screen.Thresholds.Share, "threshold-share", 0.25, "wait share from which a queue is marked as contended, above 0 to 1")
	f.Float64Var(&c.Screen.Thresholds.Heavy, "threshold-heavy", 0.6, "wait share from which it is marked as bad, above 0 to 1")
	f.Float64Var(&c.Screen.Thresholds.Waiters, "threshold-waiters", 1, "sessions waiting below which a share means little")
}

func logFileFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Screen.LogFile, "log-file", "", "append the log to this file (run: standard error; otherwise none is written)")
	f.StringVar(&c.Screen.LogFormat, "log-format", "text", "text or json, one object a line")
	f.StringVar(&c.Screen.LogLevel, "log-level", "info", "debug, info, warn or error: what is logged, and everything above it")
	f.BoolVar(&c.Screen.Verbose, "verbose", false, "log reconnects and other small things too, as --log-level debug")
}

func runFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Run.Mode, "mode", "shadow", "shadow decides and proposes but changes no count; enforced acts on queues that are enforced too")
	f.StringVar(&c.Run.Policy, "policy", "", "file of the controller's numbers, TOML or JSON; run reads it again on SIGHUP")
	paceFlag(f, c)
}

func paceFlag(f *pflag.FlagSet, c *Command) {
	f.Float64Var(&c.Run.Pace, "pace", 1, "divide every duration of the policy by this (rehearsals)")
}

func listenFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Run.MetricsListen, "metrics-listen", "", "serve Prometheus metrics at this address, e.g. 127.0.0.1:9187")
	f.StringVar(&c.Run.HealthListen, "health-listen", "", "serve /live and /ready at this address")
	f.StringVar(&c.Run.OTLPEndpoint, "otlp-endpoint", "", "push the metrics to this OpenTelemetry collector, e.g. http://127.0.0.1:4318")
	f.IntVar(&c.Run.MetricsQueues, "metrics-queues", 200, "queues with series of their own, 1 to 1000; the rest is summed")
}

func demoFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Demo.Shape, "shape", "steady", "steady, bursty, skewed, notify, stuck or idle")
	serverFlags(f, c)
	f.StringVar(&c.Demo.Keep, "keep", "", "keep the data in this directory")
	f.BoolVar(&c.Demo.Headless, "headless", false, "print lines, no screen (the default without a terminal)")
	f.DurationVar(&c.Demo.Duration, "duration", 0, "stop after this long (until stopped)")
	f.IntVar(&c.Demo.Producers, "producers", 0, "producers of the hot queue (the shape's own)")
	f.DurationVar(&c.Demo.Hold, "hold", -1, "time a producer holds its lane after the enqueue (the shape's own)")
	f.IntVar(&c.Demo.Shards, "shards", 0, "enqueue shards of the hot queue at the start (the shape's own)")
	f.Lookup("hold").DefValue = "0s" // not shown: the shape has its own
}

func recordFlag(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Record.File, "record", "", "record what is seen and decided to this file, which must not exist")
}

func recordingFlags(f *pflag.FlagSet, c *Command) {
	c.Record.MaxSize = record.DefaultBytes
	f.Var(&c.Record.MaxSize, "record-max-size", "bytes a recording may take; the oldest quarter goes when it is full")
	f.BoolVar(&c.Record.Hash, "hash-names", false, "record without names: queues, applications, addresses, people")
}

func backtestFlags(f *pflag.FlagSet, c *Command) {
	f.StringArrayVar(&c.Record.Set, "set", nil, "a threshold and its other value, e.g. GrowShare=0.3; may be given again")
	f.StringVar(&c.Act.Queue, "queue", "", "physical name of the queue to look at (all)")
}

func durationFlag(f *pflag.FlagSet, c *Command) {
	f.DurationVar(&c.Demo.Duration, "duration", 0, "stop after this long (until stopped)")
}

// serverFlags choose the private PostgreSQL.
func serverFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Demo.PG, "pg", "", "PostgreSQL major version: 15, 17 or 18 (newest found)")
	f.StringVar(&c.Demo.PGBin, "pg-bin", "", "directory with initdb and postgres")
}

func experimentFlags(f *pflag.FlagSet, c *Command) {
	e := &c.Experiment
	f.BoolVar(&e.Quick, "quick", false, "a trimmed gate with wider margins, below five minutes")
	f.BoolVar(&e.Simulate, "simulate", false, "on the simulator: days in seconds, no PostgreSQL")
	f.StringArrayVar(&e.Sweep, "sweep", nil, "threshold=a,b,c: compare thresholds on the simulator; may be repeated")
	f.StringSliceVar(&e.Shapes, "shapes", nil, "loads to play (all)")
	f.IntSliceVar(&e.Settings, "settings", nil, "fixed counts to hold the controller against, 1 to 64 (1,2,4,8)")
	f.IntVar(&e.Seeds, "seeds", 0, "runs of each shape and setting, 1 to 20 (1)")
	f.DurationVar(&e.Duration, "duration", 0, "length of each run (each shape has its own)")
	f.Float64Var(&e.Pace, "pace", 0, "divide every duration of the policy by this (48)")
	f.StringVar(&e.Out, "out", "", "keep results, report and charts in this directory, and go on with what it holds")
	f.StringVar(&e.Awa, "awa", "", "play on the real Awa of this Python environment (make awa-venv makes .awa)")
	f.BoolVar(&e.AllowLoad, "allow-load", false, "play on the database that is named, which must hold no Awa")
	serverFlags(f, c)
}

func queueFlag(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Act.Queue, "queue", "", "physical name of the queue")
}

func setFlags(f *pflag.FlagSet, c *Command) {
	f.BoolVar(&c.Act.Auto, "auto", false, "let the controller decide, up to --max; accepts partitioned FIFO")
	f.IntVar(&c.Act.Max, "max", 0, "highest count it may choose, 2 to 64")
	f.BoolVar(&c.Act.Enforced, "enforced", false, "with --auto: act too, in a process that runs --mode enforced")
	f.BoolVar(&c.Act.Shadow, "shadow", false, "with --auto: decide and write nothing (the default)")
	f.IntVar(&c.Act.Manual, "manual", 0, "set this count, 1 to 64, and never touch the queue again")
	f.IntVar(&c.Act.Pin, "pin", 0, "keep the queue at this count, 1 to 64")
	f.DurationVar(&c.Act.For, "for", 0, "with --pin: how long (until unpinned)")
	f.BoolVar(&c.Act.Unpin, "unpin", false, "end the pin")
	f.IntVar(&c.Act.Override, "override", 0, "set this count now, 1 to 64; the mode stays")
	f.BoolVar(&c.Act.Undo, "undo", false, "take the last change back")
	f.BoolVar(&c.Act.PauseUp, "pause-up", false, "take no steps up")
	f.BoolVar(&c.Act.PauseDown, "pause-down", false, "take no steps down")
	f.BoolVar(&c.Act.Resume, "resume", false, "end pauses, and being held as oscillating")
}

// handFlags are taken by everything that a person does to a queue.
func handFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Act.Why, "why", "", "reason, kept in the log")
	f.BoolVar(&c.Act.Force, "force", false, "overrule what may be overruled")
	yesFlag(f, c)
}

func yesFlag(f *pflag.FlagSet, c *Command) {
	f.BoolVar(&c.Yes, "yes", false, "do not ask")
}

func uninstallFlags(f *pflag.FlagSet, c *Command) {
	f.BoolVar(&c.Act.Force, "force", false, "remove objects in the schema that are not ours too")
}

func logFlags(f *pflag.FlagSet, c *Command) {
	f.IntVar(&c.Act.Limit, "limit", 50, "newest entries to print, 1 to 10000")
	f.Var(moment{&c.Act.Since}, "since", "only entries from this time on: how long ago, a date, or RFC 3339")
	f.Var(moment{&c.Act.Until}, "until", "only entries before this time")
	f.StringVar(&c.Act.By, "by", "", "only what this actor did: name@host, or name alone")
	f.StringSliceVar(&c.Act.Kinds, "kind", nil, "only these kinds of entry, separated by commas (all)")
}

func grantFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Act.Role, "role", "", "role that gets the rights (the connected one)")
	levelFlag(f, c)
}

func levelFlag(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Act.Level, "level", "watch", "watch or act")
}

func jsonFlag(f *pflag.FlagSet, c *Command) {
	f.BoolVar(&c.JSON, "json", false, "print JSON, one object or one a line")
}
