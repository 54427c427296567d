package cli

import (
	"fmt"
	"io"
)

// Help prints the help of one command, or the list of all of them.
func Help(w io.Writer, name string) error {
	spec, ok := find(name)
	if !ok || name == "help" {
		return helpAll(w)
	}
	var c Command
	set := flagSet(spec, &c)
	usageLine := spec.name
	if spec.args != "" {
		usageLine += " " + spec.args
	}
	_, err := fmt.Fprintf(w, "%s\n\nUsage:\n  shardpilot %s [flags]\n\nExample:\n  %s\n\nFlags:\n%s%s",
		capital(spec.short), usageLine, spec.example, set.FlagUsages(), exitCodes)
	return err
}

const exitCodes = `
Exit: 0 done, 1 failed, 2 usage, 3 refused or superseded, 4 no connection,
5 the experiment's gate is not passed;
128 + the signal's number when a signal ended it (run, record: 0, an orderly end).
`

func helpAll(w io.Writer) error {
	if _, err := fmt.Fprint(w, `shardpilot watches the enqueue lanes of Awa job queues on PostgreSQL.

Usage:
  shardpilot [flags] [postgres-url]
  shardpilot command [flags]

Commands:
`); err != nil {
		return err
	}
	for _, c := range commands() {
		if _, err := fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, `
Without a URL the connection comes from PGHOST, PGSERVICE, the passfile and
their fellows, as psql reads them. shardpilot help COMMAND lists its flags;
shardpilot man prints the manual page, shardpilot completion bash|zsh|fish
completions.
`+exitCodes)
	return err
}

func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
