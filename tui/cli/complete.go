package cli

import (
	"fmt"
	"io"
	"strings"
)

// Completion prints the completions of a shell, drawn from the same tables as
// the help.
func Completion(w io.Writer, shell string) error {
	script := map[string]func() string{"bash": bash, "zsh": zsh, "fish": fish}[shell]
	if script == nil {
		return usageOf("completion", "completion wants %s, got %q", strings.Join(Shells(), ", "), shell)
	}
	_, err := io.WriteString(w, script())
	return err
}

func commandNames() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return append(out, "help")
}

// longNames are the flags of a command as they are typed.
func longNames(spec command) []string {
	var out []string
	for _, f := range flagsOf(spec) {
		out = append(out, "--"+f.name)
	}
	return out
}

// everyFlag is each flag once, of all commands, with everything it means.
func everyFlag() []flagOf {
	at := map[string]int{}
	var out []flagOf
	for _, c := range commands() {
		for _, f := range flagsOf(c) {
			i, seen := at[f.name]
			switch {
			case !seen:
				at[f.name] = len(out)
				out = append(out, f)
			case !strings.Contains(out[i].usage, f.usage):
				out[i].usage += "; " + c.name + ": " + f.usage
			}
		}
	}
	return out
}

// quoted is a word in single quotes, for shells that double no quote in them.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func bash() string {
	var b strings.Builder
	b.WriteString("# bash completion for shardpilot; shardpilot completion bash prints it\n\n")
	b.WriteString("_shardpilot() {\n\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words\n\tCOMPREPLY=()\n\tcase $before in\n")
	var files, free []string
	for _, f := range everyFlag() {
		switch {
		case f.words != nil:
			fmt.Fprintf(&b, "\t--%s) COMPREPLY=($(compgen -W %s -- \"$current\")); return ;;\n", f.name, quoted(strings.Join(f.words, " ")))
		case f.file:
			files = append(files, "--"+f.name)
		case f.value != "":
			free = append(free, "--"+f.name)
		}
	}
	fmt.Fprintf(&b, "\t%s) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", strings.Join(files, "|"))
	fmt.Fprintf(&b, "\t%s) return ;;\n\tesac\n\tcase ${COMP_WORDS[1]} in\n", strings.Join(free, "|"))
	fmt.Fprintf(&b, "\thelp) words=%s ;;\n", quoted(strings.Join(commandNames(), " ")))
	for _, c := range commands() {
		if c.name != "dashboard" { // which is below: also without the word
			fmt.Fprintf(&b, "\t%s) words=%s ;;\n", c.name, quoted(strings.Join(longNames(c), " ")))
		}
	}
	dashboard, _ := find("dashboard")
	fmt.Fprintf(&b, "\t*) words=%s ;;\n\tesac\n", quoted(strings.Join(longNames(dashboard), " ")))
	fmt.Fprintf(&b, "\tif ((COMP_CWORD == 1)) && [[ $current != -* ]]; then\n\t\twords=%s\n\tfi\n", quoted(strings.Join(commandNames(), " ")))
	var withFile []string
	for _, c := range commands() {
		if takesFile(c) {
			withFile = append(withFile, c.name)
		}
	}
	fmt.Fprintf(&b, "\tcase ${COMP_WORDS[1]} in\n\t%s)\n\t\tif ((COMP_CWORD > 1)) && [[ $current != -* ]]; then\n\t\t\tcompopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")); return\n\t\tfi ;;\n\tesac\n", strings.Join(withFile, "|"))
	b.WriteString("\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\ncomplete -F _shardpilot shardpilot\n")
	return b.String()
}

// zshWords are the arguments of _arguments for a command's flags.
func zshWords(spec command) string {
	escape := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`)
	var b strings.Builder
	for _, f := range flagsOf(spec) {
		one := "--" + f.name
		if f.value != "" {
			one += "="
		}
		one += "[" + escape.Replace(f.usage) + "]"
		switch {
		case f.words != nil:
			one += ":" + f.name + ":(" + strings.Join(f.words, " ") + ")"
		case f.file:
			one += ":" + f.name + ":_files"
		case f.value != "":
			one += ":" + f.name + ": "
		}
		b.WriteString(" \\\n\t\t\t" + quoted(one))
	}
	if takesFile(spec) {
		b.WriteString(" \\\n\t\t\t'*:file:_files'")
	}
	return b.String()
}

func zsh() string {
	var b strings.Builder
	b.WriteString("#compdef shardpilot\n# shardpilot completion zsh prints it\n\n_shardpilot() {\n\tlocal -a commands\n\tcommands=(\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "\t\t%s\n", quoted(c.name+":"+strings.ReplaceAll(c.short, ":", `\:`)))
	}
	b.WriteString("\t\t'help:the flags of a command'\n\t)\n\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	b.WriteString("\t\thelp) _describe command commands ;;\n")
	for _, c := range commands() {
		if c.name != "dashboard" {
			fmt.Fprintf(&b, "\t\t%s) _arguments%s ;;\n", c.name, zshWords(c))
		}
	}
	dashboard, _ := find("dashboard")
	fmt.Fprintf(&b, "\t\t*) _arguments%s ;;\n\tesac\n}\n\nif [[ $funcstack[1] == _shardpilot ]]; then\n\t_shardpilot \"$@\"\nelse\n\tcompdef _shardpilot shardpilot\nfi\n", zshWords(dashboard))
	return b.String()
}

func fish() string {
	escape := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	var b strings.Builder
	b.WriteString("# fish completion for shardpilot; shardpilot completion fish prints it\n\ncomplete -c shardpilot -f\n")
	names := strings.Join(commandNames(), " ")
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c shardpilot -n __fish_use_subcommand -a %s -d '%s'\n", c.name, escape.Replace(c.short))
	}
	fmt.Fprintf(&b, "complete -c shardpilot -n __fish_use_subcommand -a help -d 'the flags of a command'\n")
	fmt.Fprintf(&b, "complete -c shardpilot -n '__fish_seen_subcommand_from help' -a '%s'\n", names)
	for _, c := range commands() {
		when := "__fish_seen_subcommand_from " + c.name
		if c.name == "dashboard" {
			when += "; or __fish_use_subcommand"
		}
		if takesFile(c) {
			fmt.Fprintf(&b, "complete -c shardpilot -n '%s' -F\n", when)
		}
		for _, f := range flagsOf(c) {
			fmt.Fprintf(&b, "complete -c shardpilot -n '%s' -l %s", when, f.name)
			if f.short != "" {
				b.WriteString(" -s " + f.short)
			}
			switch {
			case f.words != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(f.words, " "))
			case f.file:
				b.WriteString(" -r -F")
			case f.value != "":
				b.WriteString(" -x")
			}
			fmt.Fprintf(&b, " -d '%s'\n", escape.Replace(f.usage))
		}
	}
	return b.String()
}
