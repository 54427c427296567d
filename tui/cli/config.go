package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"shardpilot/control"
)

// World is what Load needs from outside the arguments.
type World struct {
	Env  func(name string) (string, bool) // os.LookupEnv
	Read func(path string) ([]byte, error)
	// HasSecret says whether a connection string holds a password.
	HasSecret func(conn string) bool
}

// setting is one thing that flags, the environment and the configuration file
// can say. In the file it has a key, in the environment a variable.
type setting struct {
	key  string // dotted below a table
	flag string // "" for the connection, which is an argument
}

const connectionKey = "connection"

// settings is the closed list, in the order in which they are printed. What
// acts (--mode) and what only one process can have (a port to listen at) is
// not among them: a file that many commands read must not switch it on.
func settings() []setting {
	return []setting{
		{connectionKey, ""}, {"label", "label"}, {"label-color", "label-color"}, {"read-only", "read-only"},
		{"interval", "interval"}, {"glyphs", "glyphs"}, {"color", "color"}, {"theme", "theme"}, {"mouse", "mouse"}, {"columns", "columns"},
		{"log-file", "log-file"}, {"log-format", "log-format"}, {"log-level", "log-level"}, {"verbose", "verbose"},
		{"thresholds.share", "threshold-share"}, {"thresholds.heavy", "threshold-heavy"}, {"thresholds.waiters", "threshold-waiters"},
	}
}

func (s setting) variable() string {
	name := s.flag
	if name == "" {
		name = s.key
	}
	return "SHARDPILOT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// value is where a setting goes; nil when the command has no use for it.
func (s setting) value(c *Command, set *pflag.FlagSet) pflag.Value {
	if s.key != connectionKey {
		if f := set.Lookup(s.flag); f != nil {
			return f.Value
		}
		return nil
	}
	if set.Lookup("host") == nil {
		return nil
	}
	return (*conn)(&c.Conn.String)
}

// conn is a connection string as a pflag.Value.
type conn string

func (v *conn) Set(s string) error { *v = conn(s); return nil }
func (v *conn) String() string     { return string(*v) }
func (v *conn) Type() string       { return "string" }

// given is the value of a setting and where it was said.
type given struct {
	value string // as a flag takes it
	from  string
	rank  int
}

// level is everything that one source says, by key.
type level map[string]given

// Load is Parse with the configuration file below the environment below the
// flags. Its errors are *control.Fault of kind FaultUsage and name every bad
// line of the file.
func Load(args []string, w World) (Command, error) {
	c, set, err := parse(args)
	switch {
	case err != nil:
		return Command{}, err
	case set == nil:
		return *c, nil
	case set.Lookup("config") == nil:
		return *c, check(*c, set)
	}
	if c.File, err = findConfig(c.Config, w); err != nil {
		return Command{}, err
	}
	levels, err := c.File.levels(c.Profile)
	if err != nil {
		return Command{}, err
	}
	env, err := environment(w)
	if err != nil {
		return Command{}, err
	}
	levels = append(levels, env, flagLevel(*c, set))
	flags := len(levels) - 1 // have been set already
	now := merge(levels, c.Name == "demo")
	for _, s := range settings() {
		v := s.value(c, set)
		if v == nil {
			continue
		}
		g, said := now[s.key]
		if said && g.rank < flags {
			if err := v.Set(g.value); err != nil {
				return Command{}, usage("%s is %q: %s", s.key, g.value, err)
			}
			c.Conn.Weak = c.Conn.Weak || s.key == connectionKey
		}
		c.Effective = append(c.Effective, Effective{s.key, plainValue(v), g.from})
	}
	return *c, check(*c, set)
}

// merge lays stronger levels, which come later, over weaker ones. A label that
// was written beside a connection goes with it: it must not stand over another
// database. A demo has a database of its own, so only a flag labels it.
func merge(levels []level, demo bool) level {
	out := level{}
	for rank, l := range levels {
		if was, has := out[connectionKey]; has {
			if _, again := l[connectionKey]; again {
				for _, key := range []string{"label", "label-color"} {
					if out[key].rank == was.rank {
						delete(out, key)
					}
				}
			}
		}
		for key, g := range l {
			g.rank = rank
			out[key] = g
		}
	}
	if demo {
		for _, key := range []string{"label", "label-color"} {
			if out[key].rank < len(levels)-1 {
				delete(out, key)
			}
		}
	}
	return out
}

// placeVariables say where to connect, for libpq and for us.
var placeVariables = []string{"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE"}

// environment is what variables say. Those of libpq describe a whole
// connection: mixed with the file's they could lead to a third place.
func environment(w World) (level, error) {
	out := level{}
	for _, name := range placeVariables {
		if v, _ := w.Env(name); v != "" {
			out[connectionKey] = given{from: "environment " + name}
			break
		}
	}
	for _, s := range settings() {
		v, _ := w.Env(s.variable())
		if v == "" {
			continue
		}
		if err := s.try(v); err != nil {
			return nil, &control.Fault{Kind: control.FaultUsage, What: s.variable() + " cannot be used: " + err.Error(),
				Hint: "set it to something else, or unset it"}
		}
		out[s.key] = given{value: v, from: "environment " + s.variable()}
	}
	return out, nil
}

// flagLevel is what the arguments say. A host, or a string, is a connection of
// its own; --port, --dbname and --user may change a part of another.
func flagLevel(c Command, set *pflag.FlagSet) level {
	out := level{}
	switch {
	case c.Conn.String != "":
		out[connectionKey] = given{from: "argument"}
	case c.Conn.Host != "":
		out[connectionKey] = given{from: "--host"}
	}
	for _, s := range settings() {
		if s.flag != "" && set.Changed(s.flag) {
			out[s.key] = given{from: "--" + s.flag}
		}
	}
	return out
}

const leastShare = 1e-9 // above 0

// try says what is wrong with a value, as a sentence that begins with the key.
func (s setting) try(value string) error {
	var c Command
	spec, _ := find("dashboard")
	set := flagSet(spec, &c)
	v := s.value(&c, set)
	if err := v.Set(value); err != nil {
		return fmt.Errorf("%s is %q, want %s", s.key, value, kindOf(v).example)
	}
	if s.key == "thresholds.heavy" { // alone it would be held against the default of the other
		c.Screen.Thresholds.Share = leastShare
	}
	if err := check(c, set); err != nil {
		what, hint, _ := strings.Cut(err.Error(), "\n")
		if rest, ok := strings.CutPrefix(what, "--"+s.flag); ok {
			return errors.New(s.key + rest) // its hint is about flags
		}
		return errors.New(what + "; " + hint)
	}
	return nil
}

// configPath is the default file, "" when there is no home for one.
func configPath(w World) string {
	if dir, _ := w.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shardpilot", "config.toml")
	}
	if home, _ := w.Env("HOME"); home != "" {
		return filepath.Join(home, ".config", "shardpilot", "config.toml")
	}
	return ""
}

// levels are the file's own settings and, over them, those of a profile.
func (f File) levels(profile string) ([]level, error) {
	if profile == "" {
		return []level{f.base, {}}, nil
	}
	if l, ok := f.profiles[profile]; ok {
		return []level{f.base, l}, nil
	}
	names := make([]string, 0, len(f.profiles))
	for name := range f.profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	hint := "the configuration file has no profiles"
	switch {
	case f.Path == "":
		hint = "there is no configuration file"
	case len(names) > 0:
		hint = f.Path + " has " + strings.Join(names, ", ")
	}
	return nil, &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("there is no profile %q", profile), Hint: hint}
}
