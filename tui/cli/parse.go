package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"shardpilot/control"
)

// command is one row of the help: its words, and the groups of flags it takes.
type command struct {
	name    string
	args    string // after the name in the usage line
	short   string
	groups  []group
	example string
}

// group adds its flags to a set and writes into the command.
type group func(*pflag.FlagSet, *Command)

// commands is the closed list, in the order of the help.
func commands() []command {
	return []command{
		{"dashboard", "[postgres-url]", "watch a database (also without the word)",
			[]group{connFlags, screenFlags, runFlags}, "shardpilot postgres://watcher@db.example/app --label prod"},
		{"demo", "", "private PostgreSQL with contending producers, the dashboard on top",
			[]group{demoFlags, screenFlags, runFlags, jsonFlag}, "shardpilot demo --shape bursty"},
		{"doctor", "[postgres-url]", "what works here, what does not, and what would mend it",
			[]group{connFlags, jsonFlag}, "shardpilot doctor service=prod"},
		{"version", "", "print the version", []group{jsonFlag}, "shardpilot version"},
	}
}

func connFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Conn.Host, "host", "", "server host or socket directory")
	f.IntVarP(&c.Conn.Port, "port", "p", 0, "server port")
	f.StringVarP(&c.Conn.DBName, "dbname", "d", "", "database name, URL or keyword string")
	f.StringVarP(&c.Conn.User, "user", "U", "", "role to connect as")
	f.BoolVar(&c.Conn.AllowNewer, "allow-newer-awa", false, "allow writes on an Awa schema newer than the newest known")
}

func screenFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Screen.Label, "label", "", "environment label shown in the header and in every question")
	f.BoolVar(&c.Screen.ReadOnly, "read-only", false, "take the action keys away")
	f.DurationVar(&c.Screen.Interval, "interval", time.Second, "time between pictures, 0.25s to 10s")
	f.StringVar(&c.Screen.Glyphs, "glyphs", "auto", "auto, braille, block or ascii")
	f.StringVar(&c.Screen.Color, "color", "auto", "auto, truecolor, 256, 16 or none")
	f.StringVar(&c.Screen.LogFile, "log-file", "", "write a log to this file; the screen never shows one")
	f.BoolVar(&c.Screen.Verbose, "verbose", false, "log notices and reconnects too")
}

func runFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Run.Mode, "mode", "shadow", "shadow decides and writes nothing; enforced acts on queues that are enforced too")
	f.Float64Var(&c.Run.Pace, "pace", 1, "divide every duration of the policy by this (rehearsals)")
}

func demoFlags(f *pflag.FlagSet, c *Command) {
	f.StringVar(&c.Demo.Shape, "shape", "steady", "steady, bursty, skewed, notify, stuck or idle")
	f.StringVar(&c.Demo.PG, "pg", "", "PostgreSQL major version: 15, 17 or 18 (newest found)")
	f.StringVar(&c.Demo.PGBin, "pg-bin", "", "directory with initdb and postgres")
	f.StringVar(&c.Demo.Keep, "keep", "", "keep the data in this directory")
	f.BoolVar(&c.Demo.Headless, "headless", false, "print lines, no screen (the default without a terminal)")
	f.DurationVar(&c.Demo.Duration, "duration", 0, "stop after this long (until stopped)")
	f.IntVar(&c.Demo.Producers, "producers", 0, "producers of the hot queue (the shape's own)")
	f.DurationVar(&c.Demo.Hold, "hold", -1, "time a producer holds its lane after the enqueue (the shape's own)")
	f.IntVar(&c.Demo.Shards, "shards", 0, "enqueue shards of the hot queue at the start (the shape's own)")
	f.Lookup("hold").DefValue = ""
}

func jsonFlag(f *pflag.FlagSet, c *Command) {
	f.BoolVar(&c.JSON, "json", false, "print JSON, one object or one a line")
}

// Parse turns the arguments after the program's name into a Command. Its
// errors are *control.Fault of kind FaultUsage.
func Parse(args []string) (Command, error) {
	name, rest := "dashboard", args
	if len(args) > 0 {
		if spec, ok := find(args[0]); ok {
			name, rest = spec.name, args[1:]
		} else if args[0] == "help" {
			return parseHelp(args[1:])
		} else if !strings.HasPrefix(args[0], "-") && !looksLikeConn(args[0]) {
			return Command{}, usage("%q is neither a command nor a connection string", args[0])
		}
	}
	spec, _ := find(name)
	c := Command{Name: name}
	set := flagSet(spec, &c)
	if err := set.Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.Help = true
			return c, nil
		}
		return Command{}, usageOf(name, "%s", err)
	}
	if c.Help {
		return c, nil
	}
	if err := positional(&c, spec, set.Args()); err != nil {
		return Command{}, err
	}
	return c, check(c, set)
}

func parseHelp(rest []string) (Command, error) {
	if len(rest) == 0 {
		return Command{Name: "help", Help: true}, nil
	}
	spec, ok := find(rest[0])
	if !ok {
		return Command{}, usage("there is no command %q", rest[0])
	}
	return Command{Name: spec.name, Help: true}, nil
}

func find(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// flagSet is the set of one command; the help is drawn from the same set that
// parses, so the two cannot differ.
func flagSet(spec command, c *Command) *pflag.FlagSet {
	set := pflag.NewFlagSet(spec.name, pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {}
	for _, add := range spec.groups {
		add(set, c)
	}
	set.BoolVarP(&c.Help, "help", "h", false, "print this help")
	return set
}

func looksLikeConn(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://") || strings.Contains(s, "=")
}

func positional(c *Command, spec command, args []string) error {
	takesConn := strings.Contains(spec.args, "postgres-url")
	switch {
	case len(args) == 0:
		return nil
	case !takesConn:
		return usageOf(c.Name, "%s takes no argument, got %q", c.Name, args[0])
	case len(args) > 1:
		return usageOf(c.Name, "%s takes one connection string, got %d arguments", c.Name, len(args))
	case !looksLikeConn(args[0]):
		return usageOf(c.Name, "%q is not a connection string", args[0])
	}
	c.Conn.String = args[0]
	return nil
}

// check refuses values outside their range, naming the flag and the range.
func check(c Command, set *pflag.FlagSet) error {
	has := func(name string) bool { return set.Lookup(name) != nil }
	switch {
	case has("interval") && (c.Screen.Interval < 250*time.Millisecond || c.Screen.Interval > 10*time.Second):
		return usageOf(c.Name, "--interval must be 0.25s to 10s, got %s", c.Screen.Interval)
	case has("glyphs") && !slices.Contains([]string{"auto", "braille", "block", "ascii"}, c.Screen.Glyphs):
		return usageOf(c.Name, "--glyphs must be auto, braille, block or ascii, got %q", c.Screen.Glyphs)
	case has("color") && !slices.Contains([]string{"auto", "truecolor", "256", "16", "none"}, c.Screen.Color):
		return usageOf(c.Name, "--color must be auto, truecolor, 256, 16 or none, got %q", c.Screen.Color)
	case has("mode") && c.Run.Mode != string(control.ModeShadow) && c.Run.Mode != string(control.ModeEnforced):
		return usageOf(c.Name, "--mode must be shadow or enforced, got %q", c.Run.Mode)
	case has("pace") && !(c.Run.Pace >= 1 && c.Run.Pace <= 1000):
		return usageOf(c.Name, "--pace must be 1 to 1000, got %v", c.Run.Pace)
	case has("port") && set.Changed("port") && (c.Conn.Port < 1 || c.Conn.Port > 65535):
		return usageOf(c.Name, "--port must be 1 to 65535, got %d", c.Conn.Port)
	}
	if c.Name == "demo" {
		return checkDemo(c.Demo, set)
	}
	return nil
}

func checkDemo(d Demo, set *pflag.FlagSet) error {
	shapes := []string{"steady", "bursty", "skewed", "notify", "stuck", "idle"}
	switch {
	case !slices.Contains(shapes, d.Shape):
		return usageOf("demo", "--shape must be one of %s, got %q", strings.Join(shapes, ", "), d.Shape)
	case d.PG != "" && !slices.Contains([]string{"15", "17", "18"}, d.PG):
		return usageOf("demo", "--pg must be 15, 17 or 18, got %q", d.PG)
	case d.Duration < 0:
		return usageOf("demo", "--duration must not be negative, got %s", d.Duration)
	case set.Changed("producers") && (d.Producers < 1 || d.Producers > 500):
		return usageOf("demo", "--producers must be 1 to 500, got %d", d.Producers)
	case set.Changed("hold") && (d.Hold < 0 || d.Hold > time.Minute):
		return usageOf("demo", "--hold must be 0s to 1m, got %s", d.Hold)
	case set.Changed("shards") && (d.Shards < 1 || d.Shards > 64):
		return usageOf("demo", "--shards must be 1 to 64, got %d", d.Shards)
	}
	return nil
}

func usage(format string, args ...any) error {
	return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf(format, args...), Hint: "shardpilot help lists the commands"}
}

func usageOf(name, format string, args ...any) error {
	return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf(format, args...),
		Hint: fmt.Sprintf("shardpilot %s --help lists its flags", name)}
}
