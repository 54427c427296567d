package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words. They are told to whoever
// completes a command line, and nothing else is taken.
type choice struct {
	flag  string
	words []string
}

func choices() []choice {
	return []choice{
		{"glyphs", []string{"auto", "braille", "block", "ascii"}},
		{"color", []string{"auto", "truecolor", "256", "16", "none"}},
		{"theme", []string{"auto", "dark", "light", "contrast", "mono"}},
		{"log-format", []string{"text", "json"}},
		{"log-level", []string{"debug", "info", "warn", "error"}},
		{"mode", []string{"shadow", "enforced"}},
		{"shape", []string{"steady", "bursty", "skewed", "notify", "stuck", "idle"}},
		{"pg", []string{"15", "17", "18"}},
		{"level", []string{"watch", "act"}},
	}
}

// choose refuses a word that is none of a flag's.
func choose(command string, set *pflag.FlagSet) error {
	for _, c := range choices() {
		f := set.Lookup(c.flag)
		if f != nil && f.Value.String() != f.DefValue && !slices.Contains(c.words, f.Value.String()) {
			last := len(c.words) - 1
			return usageOf(command, "--%s must be %s or %s, got %q", c.flag, strings.Join(c.words[:last], ", "), c.words[last], f.Value.String())
		}
	}
	return nil
}

// Shells are those that completions can be printed for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// named are flags whose value is the name of a file.
var named = []string{"log-file", "config", "pg-bin", "keep", "record"}

// takesFile says whether a command has the name of a file as an argument.
func takesFile(spec command) bool { return strings.Contains(spec.args, "FILE") }

// flagOf is one flag as help, manual and completions tell it.
type flagOf struct {
	name, short string
	value       string // what kind of value, "" for a switch
	usage       string
	def         string // default, "" when it is none
	words       []string
	file        bool
}

// flagsOf lists the flags of a command.
func flagsOf(spec command) []flagOf {
	var out []flagOf
	var c Command
	flagSet(spec, &c).VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		one := flagOf{name: f.Name, short: f.Shorthand, value: value, usage: usage, file: slices.Contains(named, f.Name)}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			one.def = f.DefValue
		}
		for _, c := range choices() {
			if c.flag == f.Name {
				one.words = c.words
			}
		}
		out = append(out, one)
	})
	return out
}
