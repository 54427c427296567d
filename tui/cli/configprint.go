package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// Effective is a setting as it is in the end.
type Effective struct {
	Key   string
	Value any    // string, bool, float64 or []string
	From  string // where it was said, "" for the default
}

// plainValue is what a flag holds, in TOML's types.
func plainValue(v pflag.Value) any {
	switch v := v.(type) {
	case pflag.SliceValue:
		return v.GetSlice()
	default:
		switch v.Type() {
		case "bool":
			return v.String() == "true"
		case "float64":
			var f float64
			_, _ = fmt.Sscan(v.String(), &f) // it prints what it has parsed
			return f
		}
		return v.String()
	}
}

// PrintConfig writes the settings in effect as a configuration file, each with
// where it came from. The connection is written as it is given here, without
// its secrets (hidden: it had some); to is where it leads.
func PrintConfig(w io.Writer, c Command, connection, to string, hidden bool) error {
	var b strings.Builder
	if c.File.Path == "" {
		b.WriteString("# no configuration file\n")
	} else {
		fmt.Fprintf(&b, "# %s", Safe(c.File.Path))
		if c.Profile != "" {
			fmt.Fprintf(&b, ", profile %s", Safe(c.Profile))
		}
		b.WriteString("\n")
	}
	if to != "" {
		fmt.Fprintf(&b, "# connects to %s\n", Safe(to))
	}
	table := ""
	for _, e := range c.Effective {
		name := e.Key
		if in, rest, ok := strings.Cut(e.Key, "."); ok {
			if name = rest; in != table {
				fmt.Fprintf(&b, "\n[%s]\n", in)
				table = in
			}
		}
		if e.Key == connectionKey {
			if e.Value = connection; hidden {
				e.From += "; its password is left out"
			}
		}
		text, err := toml.Marshal(map[string]any{name: e.Value})
		if err != nil {
			return err
		}
		from := e.From
		if from == "" {
			from = "default"
		}
		fmt.Fprintf(&b, "%-40s # %s\n", strings.TrimSpace(string(text)), Safe(from))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
