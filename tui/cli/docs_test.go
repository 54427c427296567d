package cli

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"shardpilot/control"
)

// The pages are held against the program: what can be counted is counted here.

const docs = "../../docs"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands below a heading, up to the next one of its level or
// above.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %q", heading)
	}
	level := len(heading) - len(strings.TrimLeft(heading, "#"))
	var out []string
	for line := range strings.SplitSeq(rest, "\n") {
		if n := len(line) - len(strings.TrimLeft(line, "#")); n > 0 && n <= level && strings.HasPrefix(line[n:], " ") {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

var firstCell = regexp.MustCompile("^\\| `([^`]+)` ")

// table is the rows whose first cell is code, by that code.
func table(t *testing.T, text string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.SplitSeq(text, "\n") {
		m := firstCell.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if rows[m[1]] != nil {
			t.Errorf("%s has two rows", m[1])
		}
		for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
			rows[m[1]] = append(rows[m[1]], strings.TrimSpace(cell))
		}
	}
	if len(rows) == 0 {
		t.Fatal("there is no such table")
	}
	return rows
}

func TestEachFlagOfEachCommandIsInTheConfigurationPage(t *testing.T) {
	rows := table(t, section(t, page(t, "configuration.md"), "## Flags"))
	takes := map[string][]string{}
	defaults := map[string]string{}
	for _, spec := range commands() {
		var c Command
		flagSet(spec, &c).VisitAll(func(f *pflag.Flag) {
			takes["--"+f.Name] = append(takes["--"+f.Name], spec.name)
			defaults["--"+f.Name] = f.DefValue
		})
	}
	for flag, want := range takes {
		row := rows[flag]
		if len(row) != 4 {
			t.Errorf("%s: want a row of flag, commands, default, meaning; got %q", flag, row)
			continue
		}
		if got := namedCommands(row[1]); !slices.Equal(got, want) {
			t.Errorf("%s: the page says %q, it is taken by %q", flag, got, want)
		}
		if d := defaults[flag]; d != "" && d != "0" && d != "0s" && d != "false" && row[2] != "`"+d+"`" {
			t.Errorf("%s: the page says its default is %s, it is %s", flag, row[2], d)
		}
	}
	for flag := range rows {
		if takes[flag] == nil {
			t.Errorf("the page has %s, which no command takes", flag)
		}
	}
}

// namedCommands reads "all", "all but a, b" or "a, b", in the order of the help.
func namedCommands(cell string) []string {
	rest, all := strings.CutPrefix(cell, "all")
	rest = strings.TrimPrefix(rest, " but ")
	named := strings.Split(rest, ", ")
	var out []string
	for _, c := range commands() {
		if slices.Contains(named, c.name) != all {
			out = append(out, c.name)
		}
	}
	return out
}

func TestEachCommandIsInTheConfigurationPage(t *testing.T) {
	rows := table(t, section(t, page(t, "configuration.md"), "## Commands"))
	for _, c := range commands() {
		if rows[c.name] == nil {
			t.Errorf("%s is not there", c.name)
		}
		delete(rows, c.name)
	}
	for name := range rows {
		t.Errorf("there is no command %s", name)
	}
}

func TestEachNumberOfThePolicyIsInTheConfigurationPage(t *testing.T) {
	rows := table(t, section(t, page(t, "configuration.md"), "## The controller's numbers"))
	policy := reflect.ValueOf(control.DefaultPolicy())
	for i := range policy.NumField() {
		name := policy.Type().Field(i).Name
		row := rows[name]
		delete(rows, name)
		if len(row) != 4 {
			t.Errorf("%s: want a row of name, default, range, meaning; got %q", name, row)
			continue
		}
		if want := plain(policy.Field(i)); row[1] != want {
			t.Errorf("%s: the page says %q, the default is %q", name, row[1], want)
		}
		if err := sameRange(row[2], rangeOf(t, i, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range rows {
		t.Errorf("the policy has no %s", name)
	}
}

// plain is a number as the page writes it.
func plain(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		s := d.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(s, zero) {
				s = s[:len(s)-2]
			}
		}
		return s
	}
	return fmt.Sprint(v.Interface())
}

// rangeOf is what Validate says of a value that no field may have.
func rangeOf(t *testing.T, field int, name string) string {
	t.Helper()
	p := control.DefaultPolicy()
	v := reflect.ValueOf(&p).Elem().Field(field)
	if v.CanInt() {
		v.SetInt(-1)
	} else {
		v.SetFloat(-1)
	}
	var bad control.BadFields
	if err := p.Validate(); !errors.As(err, &bad) {
		t.Fatalf("%s may be -1: %v", name, err)
	}
	for _, b := range bad {
		if _, limits, found := strings.Cut(b, ", must be "); found && strings.HasPrefix(b, name+" is ") {
			return limits
		}
	}
	t.Fatalf("%s may be -1", name)
	return ""
}

// sameRange compares "above 0 to 1" with "above 0 to 1, below that", and "10s to
// 1h" with "10s to 1h0m0s".
func sameRange(written, real string) error {
	bounds, _, _ := strings.Cut(real, ", ")
	if strings.HasPrefix(written, "above ") != strings.HasPrefix(bounds, "above ") {
		return fmt.Errorf("the page says %q, the range is %q", written, real)
	}
	low, high, _ := strings.Cut(strings.TrimPrefix(written, "above "), " to ")
	wantLow, wantHigh, _ := strings.Cut(strings.TrimPrefix(bounds, "above "), " to ")
	for _, pair := range [][2]string{{low, wantLow}, {high, wantHigh}} {
		got, err1 := amount(pair[0])
		want, err2 := amount(pair[1])
		if err1 != nil || err2 != nil || math.Abs(got-want) > 1e-8 {
			return fmt.Errorf("the page says %q, the range is %q", written, real)
		}
	}
	return nil
}

// amount is a number, or a duration in seconds; days are 24 hours.
func amount(s string) (float64, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f, nil
	}
	if days, found := strings.CutSuffix(s, " days"); found {
		f, err := strconv.ParseFloat(days, 64)
		return f * 86400, err
	}
	d, err := time.ParseDuration(s)
	return d.Seconds(), err
}

func TestEachFieldOfTheStreamsIsInTheirPage(t *testing.T) {
	text := page(t, "streams.md")
	for heading, line := range map[string]any{
		"## reading": readingLine{}, "## decision": decisionLine{}, "## change": changeLine{},
		"## verification": verificationLine{}, "## problem": problemLine{}, "## summary": summaryLine{},
		"## run": runLine{}, "## gate": gateLine{}, "## verdict": verdictLine{},
	} {
		rows := table(t, section(t, text, heading))
		want := map[string]bool{}
		keys(reflect.TypeOf(line), "", want, map[reflect.Type]bool{})
		for key := range want {
			if rows[key] == nil {
				t.Errorf("%s: %s is not there", heading, key)
			}
			delete(rows, key)
		}
		for key := range rows {
			t.Errorf("%s: no line has %s", heading, key)
		}
	}
}

// keys collects the JSON keys of a type, those of objects within as a.b and of
// lists of objects as a[].b. An object that is in a line twice is told once.
func keys(typ reflect.Type, above string, into map[string]bool, told map[reflect.Type]bool) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !f.IsExported():
			continue
		case tag == "" && f.Anonymous:
			keys(f.Type, above, into, told)
			continue
		}
		into[above+tag] = true
		within, name := f.Type, above+tag
		for within.Kind() == reflect.Slice || within.Kind() == reflect.Pointer {
			if within.Kind() == reflect.Slice {
				name += "[]"
			}
			within = within.Elem()
		}
		plain := within == reflect.TypeFor[time.Time]() || within == reflect.TypeFor[control.Value]()
		if within.Kind() == reflect.Struct && !plain && !told[within] {
			told[within] = true
			keys(within, name+".", into, told)
		}
	}
}

func TestEachReasonIsInTheOperationsPage(t *testing.T) {
	source, err := os.ReadFile("../../control/reasons.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := table(t, section(t, page(t, "operations.md"), "### All reasons"))
	codes := regexp.MustCompile(`(?m)^\s+Reason\w+\s+Reason = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) == 0 {
		t.Fatal("no reason was found in the source")
	}
	for _, m := range codes {
		if !control.Reason(m[1]).Known() {
			t.Errorf("%s is not in the closed list", m[1])
		}
		if rows[m[1]] == nil {
			t.Errorf("%s is not there", m[1])
		}
		delete(rows, m[1])
	}
	for code := range maps.Keys(rows) {
		t.Errorf("there is no reason %s", code)
	}
}

func TestCommandsInTheDocumentationParse(t *testing.T) {
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"*.md", "*/*.md"} {
		more, err := filepath.Glob(filepath.Join(docs, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	shown := map[string]bool{}
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shellCommands(string(text)) {
			words, err := split(line)
			if err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
				continue
			}
			c, err := Parse(words[1:])
			if err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
			shown[c.Name] = true
		}
	}
	for _, c := range commands() {
		if !shown[c.name] {
			t.Errorf("no page shows how %s is called", c.name)
		}
	}
}

// shellCommands are the lines in sh blocks that call shardpilot; a backslash at
// the end joins a line with the next one.
func shellCommands(text string) []string {
	var out []string
	in, joined := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		if fence, found := strings.CutPrefix(strings.TrimSpace(line), "```"); found {
			in = fence == "sh"
			continue
		}
		if !in {
			continue
		}
		joined += strings.TrimSpace(line)
		if rest, more := strings.CutSuffix(joined, `\`); more {
			joined = rest
			continue
		}
		if first, _, _ := strings.Cut(joined, " "); first == "shardpilot" || first == "./shardpilot" {
			out = append(out, joined)
		}
		joined = ""
	}
	return out
}

// split cuts a command into words as a shell does that expands nothing. It ends
// at a pipe, a redirection, another command or a comment.
func split(line string) ([]string, error) {
	var words []string
	word, open, quote := "", false, rune(0)
	end := func() {
		if open {
			words, word, open = append(words, word), "", false
		}
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			end()
		case strings.ContainsRune("|>;&", r), r == '#' && !open:
			end()
			return words, nil
		default:
			word, open = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	end()
	return words, nil
}

func TestCommandsAreCutOutOfPagesAsAShellWould(t *testing.T) {
	text := "```sh\nshardpilot log \\\n  --queue 'a b' | head # no\npsql\n```\n```\nshardpilot no\n```\n"
	lines := shellCommands(text)
	if len(lines) != 1 {
		t.Fatalf("got %q", lines)
	}
	words, err := split(lines[0])
	if want := []string{"shardpilot", "log", "--queue", "a b"}; err != nil || !slices.Equal(words, want) {
		t.Fatalf("got %q, %v, want %q", words, err, want)
	}
}
