package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"

	"shardpilot/control"
)

// File is a configuration file that was read. The zero File is none.
type File struct {
	Path string

	base     level
	profiles map[string]level
}

// findConfig reads the file that was named by a flag or the environment, or
// the default one, which may be missing.
func findConfig(named string, w World) (File, error) {
	by := "--config"
	if named == "" {
		named, _ = w.Env("SHARDPILOT_CONFIG")
		by = "SHARDPILOT_CONFIG"
	}
	path := named
	if path == "" {
		if path, by = configPath(w), "the default"; path == "" {
			return File{}, nil
		}
	}
	text, err := w.Read(path)
	switch {
	case named == "" && errors.Is(err, fs.ErrNotExist):
		return File{}, nil
	case err != nil:
		return File{}, &control.Fault{Kind: control.FaultUsage, What: "the configuration file cannot be read: " + err.Error(),
			Hint: "it is " + by + "; name another with --config, or mend it", Err: err}
	}
	return readConfig(path, text, w.HasSecret)
}

// readConfig reads a file and names everything in it that cannot be used.
func readConfig(path string, text []byte, hasSecret func(string) bool) (File, error) {
	r := reader{file: File{Path: path, base: level{}, profiles: map[string]level{}}, hasSecret: hasSecret}
	r.read(text)
	if len(r.bad) == 0 {
		return r.file, nil
	}
	what := "the configuration file " + path + " cannot be used"
	if len(r.bad) > 1 {
		what += fmt.Sprintf(", %d things are wrong", len(r.bad))
	}
	return File{}, &control.Fault{Kind: control.FaultUsage, What: what, Hint: strings.Join(r.bad, "\n")}
}

// reader takes a file apart. Values are decoded by hand from the parsed
// expressions, since only these know the line of every key.
type reader struct {
	file      File
	bad       []string
	hasSecret func(string) bool
	parser    unstable.Parser
}

func (r *reader) complain(line int, format string, args ...any) {
	r.bad = append(r.bad, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

func (r *reader) read(text []byte) {
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil { // also finds what is there twice
		line := 1
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		r.complain(line, "%s", strings.TrimPrefix(err.Error(), "toml: "))
		return
	}
	var table []string
	r.parser.Reset(text)
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		key, line := r.key(e.Key())
		if e.Kind == unstable.KeyValue {
			r.take(append(slices.Clone(table), key...), e.Value(), line)
			continue
		}
		table = key
		if e.Kind == unstable.ArrayTable || !knownTable(key) {
			r.complain(line, "there is no table [%s]; tables are [thresholds], [profile.NAME] and [profile.NAME.thresholds]", strings.Join(key, "."))
		} else if key[0] == "profile" {
			r.profile(key[1])
		}
	}
}

func (r *reader) key(it unstable.Iterator) (key []string, line int) {
	for it.Next() {
		key = append(key, string(it.Node().Data))
		line = r.parser.Shape(it.Node().Raw).Start.Line
	}
	return key, line
}

func (r *reader) profile(name string) level {
	if r.file.profiles[name] == nil {
		r.file.profiles[name] = level{}
	}
	return r.file.profiles[name]
}

func knownTable(key []string) bool {
	if len(key) > 0 && key[0] == "profile" {
		return len(key) == 2 || len(key) == 3 && key[2] == "thresholds"
	}
	return len(key) == 1 && key[0] == "thresholds"
}

// take puts one value where it belongs.
func (r *reader) take(key []string, v *unstable.Node, line int) {
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			inner, line := r.key(it.Node().Key())
			r.take(append(slices.Clone(key), inner...), it.Node().Value(), line)
		}
		return
	}
	into, name := r.file.base, strings.Join(key, ".")
	if len(key) > 2 && key[0] == "profile" {
		into = r.profile(key[1])
		name = strings.Join(key[2:], ".")
	} else if len(key) > 1 && !knownTable(key[:1]) {
		return // its table was complained about
	}
	s, ok := settingOf(name)
	if !ok {
		r.complain(line, "there is no key %q%s", name, nearest(name))
		return
	}
	text, err := s.read(v)
	switch {
	case err != nil:
		r.complain(line, "%s", err)
	case s.key == connectionKey && r.hasSecret(text):
		r.complain(line, "%s holds a password, and this file is no place for one: put it into the passfile (~/.pgpass)", name)
	case text != "":
		from := fmt.Sprintf("line %d", line)
		if len(key) > 2 && key[0] == "profile" {
			from += " (profile)"
		}
		into[s.key] = given{value: text, from: from}
	}
}

func settingOf(key string) (setting, bool) {
	all := settings()
	i := slices.IndexFunc(all, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return all[i], true
}

// nearest suggests a key that was probably meant.
func nearest(name string) string {
	for _, s := range settings() {
		short := s.key[strings.LastIndexByte(s.key, '.')+1:]
		same := strings.EqualFold(strings.ReplaceAll(name, "_", "-"), s.key) || s.flag == name
		if same || name == short || letters(name) == letters(s.key) || strings.HasPrefix(s.key, name) {
			return fmt.Sprintf("; did you mean %q?", s.key)
		}
	}
	return ""
}

// letters is a word's letters in order of the alphabet: most slips of a hand
// only swap two.
func letters(s string) string {
	rs := []rune(s)
	slices.Sort(rs)
	return string(rs)
}

// kind is what a setting is in TOML.
type kind struct {
	nodes   []unstable.Kind
	example string
}

func kindOf(v pflag.Value) kind {
	switch v.Type() {
	case "bool":
		return kind{[]unstable.Kind{unstable.Bool}, "true or false"}
	case "float64":
		return kind{[]unstable.Kind{unstable.Float, unstable.Integer}, "a number"}
	case "stringSlice":
		return kind{[]unstable.Kind{unstable.Array}, `a list such as ["wait", "share"]`}
	case "duration":
		return kind{[]unstable.Kind{unstable.String}, `a duration such as "2s"`}
	}
	return kind{[]unstable.Kind{unstable.String}, "text in quotes"}
}

// read is a TOML value as a flag would take it.
func (s setting) read(v *unstable.Node) (string, error) {
	var c Command
	spec, _ := find("dashboard")
	want := kindOf(s.value(&c, flagSet(spec, &c)))
	if !slices.Contains(want.nodes, v.Kind) {
		return "", fmt.Errorf("%s must be %s", s.key, want.example)
	}
	text := string(v.Data)
	if v.Kind == unstable.Array {
		var list []string
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			if it.Node().Kind != unstable.String {
				return "", fmt.Errorf("%s must be %s", s.key, want.example)
			}
			list = append(list, string(it.Node().Data))
		}
		if len(list) == 0 {
			return "", nil
		}
		var b strings.Builder
		w := csv.NewWriter(&b) // which is how the flag reads a list
		if err := w.Write(list); err != nil {
			return "", err
		}
		w.Flush()
		text = strings.TrimSuffix(b.String(), "\n")
	}
	if v.Kind == unstable.Float || v.Kind == unstable.Integer {
		text = strings.ReplaceAll(text, "_", "")
	}
	if text == "" {
		return "", nil
	}
	return text, s.try(text)
}
