package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff is text of a manual page, in which nothing is a request.
func roff(s string) string {
	s = roffEscapes.Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// Man prints the manual page, drawn from the same tables as the help. The same
// version gives the same bytes.
func Man(w io.Writer, version string) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SHARDPILOT 1 \"\" \"shardpilot %s\" \"User Commands\"\n", roff(version))
	b.WriteString(".SH NAME\nshardpilot \\- watch and scale the enqueue lanes of Awa job queues on PostgreSQL\n.SH SYNOPSIS\n")
	for i, c := range commands() {
		if i > 0 {
			b.WriteString(".br\n")
		}
		name := " " + c.name
		if c.name == "dashboard" {
			name = ""
		}
		fmt.Fprintf(&b, ".B shardpilot%s\n[\\fIflags\\fR]%s\n", roff(name), italic(c.args))
	}
	b.WriteString(`.SH DESCRIPTION
A terminal dashboard with a built\-in controller for enqueue shards: which
queue's producers stand in line for a lane, what that costs them, whether more
shards would help, and a hand on the count. Until told otherwise it writes
nothing.
.PP
The connection is described as
.BR psql (1)
takes it: a URL or keyword string, then the PG* variables, the service file and
the passfile.
.SH COMMANDS
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(c.name), roff(capital(c.short)+"."))
	}
	b.WriteString(".SH OPTIONS\nEach is followed by the commands that take it.\n")
	for _, f := range everyFlag() {
		b.WriteString(".TP\n")
		if f.short != "" {
			fmt.Fprintf(&b, "\\fB%s\\fR, ", roff("-"+f.short))
		}
		fmt.Fprintf(&b, "\\fB%s\\fR%s\n%s", roff("--"+f.name), italic(f.value), roff(capital(f.usage)))
		if f.def != "" {
			fmt.Fprintf(&b, " (default %s)", roff(f.def))
		}
		fmt.Fprintf(&b, ".\n.br\n[%s]\n", roff(takers(f.name)))
	}
	b.WriteString(`.SH EXIT STATUS
` + roff(strings.TrimPrefix(exitCodes, "\nExit: ")) + `doctor: 3 when what
.B \-\-level
asks for is not possible.
.SH FILES
.TP
.I ~/.pgpass, ~/.pg_service.conf
passwords and services, as libpq reads them
.TP
.I ~/.config/shardpilot/config.toml
what would be typed every time
.SH EXAMPLES
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, ".TP\n%s:\n.B %s\n", roff(capital(c.short)), roff(c.example))
	}
	b.WriteString(".SH SEE ALSO\n.BR psql (1)\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func italic(s string) string {
	if s == "" {
		return ""
	}
	return " \\fI" + roff(s) + "\\fR"
}

// takers names the commands that take a flag.
func takers(flag string) string {
	var out []string
	for _, c := range commands() {
		if slices.ContainsFunc(flagsOf(c), func(f flagOf) bool { return f.name == flag }) {
			out = append(out, c.name)
		}
	}
	if len(out) == len(commands()) {
		return "all"
	}
	return strings.Join(out, ", ")
}
