package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
			[]group{connFlags, placeFlags, screenFlags, runFlags, listenFlags, recordFlag, recordingFlags}, "shardpilot postgres://watcher@db.example/app --label prod"},
		{"demo", "", "private PostgreSQL with contending producers, the dashboard on top",
			[]group{demoFlags, placeFlags, screenFlags, runFlags, listenFlags, recordFlag, recordingFlags, jsonFlag}, "shardpilot demo --shape bursty"},
		{"run", "[postgres-url]", "the controller without a screen: lines, or JSON lines",
			[]group{connFlags, placeFlags, logFileFlags, runFlags, listenFlags, recordFlag, recordingFlags, jsonFlag}, "shardpilot run service=prod --mode enforced --json"},
		{"doctor", "[postgres-url]", "what works here, what does not, and what would mend it",
			[]group{levelFlag, connFlags, placeFlags, jsonFlag}, "shardpilot doctor service=prod"},
		{"show", "[postgres-url]", "count, mode, signal, last decision and why",
			[]group{queueFlag, connFlags, placeFlags, jsonFlag}, "shardpilot show service=prod --queue orders"},
		{"set", "[postgres-url]", "what the controller may do with a queue",
			[]group{queueFlag, setFlags, handFlags, connFlags, placeFlags, jsonFlag}, "shardpilot set service=prod --queue orders --auto --max 8 --shadow"},
		{"approve", "[postgres-url]", "take the pending step of a queue",
			[]group{queueFlag, handFlags, connFlags, placeFlags, jsonFlag}, "shardpilot approve service=prod --queue orders"},
		{"reject", "[postgres-url]", "do not take it",
			[]group{queueFlag, handFlags, connFlags, placeFlags, jsonFlag}, "shardpilot reject service=prod --queue orders --why \"deploy at noon\""},
		{"log", "[postgres-url]", "the decision log",
			[]group{queueFlag, logFlags, connFlags, placeFlags, jsonFlag}, "shardpilot log service=prod --queue orders --since 24h"},
		{"install", "[postgres-url]", "make the schema shardpilot (policy, decision log, leadership)",
			[]group{yesFlag, connFlags, placeFlags, jsonFlag}, "shardpilot install service=prod"},
		{"uninstall", "[postgres-url]", "remove it, with everything in it",
			[]group{yesFlag, uninstallFlags, connFlags, placeFlags, jsonFlag}, "shardpilot uninstall service=prod"},
		{"grants", "[postgres-url]", "print the SQL that lets a role watch, or act",
			[]group{grantFlags, connFlags, placeFlags, jsonFlag}, "shardpilot grants service=prod --role watcher --level watch"},
		{"record", "FILE [postgres-url]", "watch, and keep what is seen and decided in a file",
			[]group{recordingFlags, paceFlag, durationFlag, connFlags, placeFlags, logFileFlags, jsonFlag}, "shardpilot record incident.rec service=prod"},
		{"replay", "FILE", "the dashboard on a recording, or its lines without a terminal",
			[]group{placeFlags, lookFlags, jsonFlag}, "shardpilot replay incident.rec"},
		{"backtest", "FILE", "what other thresholds would have decided about a recording",
			[]group{backtestFlags, jsonFlag}, "shardpilot backtest incident.rec --set GrowShare=0.3"},
		{"experiment", "[postgres-url]", "the gate: is the controller as good as the best fixed count?",
			[]group{experimentFlags, yesFlag, connFlags, jsonFlag}, "shardpilot experiment --pg 18 --out results"},
		{"version", "", "print the version", []group{jsonFlag}, "shardpilot version"},
	}
}

// Parse turns the arguments after the program's name into a Command, as they
// stand, without configuration. Its errors are *control.Fault of kind
// FaultUsage.
func Parse(args []string) (Command, error) {
	c, set, err := parse(args)
	if err != nil {
		return Command{}, err
	}
	if set == nil {
		return *c, nil
	}
	return *c, check(*c, set)
}

// parse reads the flags of the command that args name. The command is the
// one that the set's values go to; the set is nil when only help is wanted.
func parse(args []string) (*Command, *pflag.FlagSet, error) {
	name, rest := "dashboard", args
	if len(args) > 0 {
		if spec, ok := find(args[0]); ok {
			name, rest = spec.name, args[1:]
		} else if args[0] == "help" {
			c, err := parseHelp(args[1:])
			return &c, nil, err
		} else if args[0] == "man" || args[0] == "completion" {
			c, err := parsePrinted(args[0], args[1:])
			return &c, nil, err
		} else if !strings.HasPrefix(args[0], "-") && !looksLikeConn(args[0]) {
			return nil, nil, usage("%q is neither a command nor a connection string", args[0])
		}
	}
	spec, _ := find(name)
	c := &Command{Name: name}
	set := flagSet(spec, c)
	if err := set.Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.Help = true
			return c, nil, nil
		}
		return nil, nil, usageOf(name, "%s", err)
	}
	if c.Help {
		return c, nil, nil
	}
	if err := positional(c, spec, set.Args()); err != nil {
		return nil, nil, err
	}
	c.Flags = flagsGiven(set)
	return c, set, nil
}

// flagsGiven lists the flags that were set, but those of the connection.
func flagsGiven(set *pflag.FlagSet) []string {
	var conn Command
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	connFlags(connection, &conn)
	var list []string
	set.Visit(func(f *pflag.Flag) {
		switch {
		case connection.Lookup(f.Name) != nil:
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			list = append(list, "--"+f.Name)
		default:
			list = append(list, "--"+f.Name+" "+strings.Trim(f.Value.String(), "[]"))
		}
	})
	return list
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

// parsePrinted reads the two commands for packagers, which are not in the list
// of commands.
func parsePrinted(name string, rest []string) (Command, error) {
	c := Command{Name: name}
	if name == "completion" {
		if len(rest) != 1 || !slices.Contains(Shells(), rest[0]) {
			return Command{}, usage("completion wants one of %s", strings.Join(Shells(), ", "))
		}
		c.Shell = rest[0]
	} else if len(rest) > 0 {
		return Command{}, usage("man takes no argument, got %q", rest[0])
	}
	return c, nil
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
	if strings.HasPrefix(spec.args, "FILE") {
		if len(args) == 0 {
			return usageOf(c.Name, "%s needs a file", c.Name)
		}
		c.Record.File, args = args[0], args[1:]
	}
	takesConn := strings.Contains(spec.args, "postgres-url")
	if looksLikeConn(c.Conn.DBName) { // as psql takes it
		args, c.Conn.DBName = append(args, c.Conn.DBName), ""
	}
	switch {
	case len(args) == 0:
		return nil
	case !takesConn:
		words := "no argument"
		if c.Record.File != "" {
			words = "no argument but a file"
		}
		return usageOf(c.Name, "%s takes %s, got %q", c.Name, words, args[0])
	case len(args) > 1:
		return usageOf(c.Name, "%s takes one connection string, got %d arguments", c.Name, len(args))
	case !looksLikeConn(args[0]):
		return usageOf(c.Name, "%q is not a connection string", args[0])
	}
	c.Conn.String = args[0]
	return nil
}

func usage(format string, args ...any) error {
	return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf(format, args...), Hint: "shardpilot help lists the commands"}
}

func usageOf(name, format string, args ...any) error {
	return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf(format, args...),
		Hint: fmt.Sprintf("shardpilot %s --help lists its flags", name)}
}
