package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// world is a machine with files and variables.
type world struct {
	files map[string]string
	env   map[string]string
}

const home = "/home/erika/.config/shardpilot/config.toml"

func (w world) load(args string) (Command, error) {
	return Load(strings.Fields(args), World{
		Env: func(name string) (string, bool) {
			if v, ok := w.env[name]; ok || name != "HOME" {
				return v, ok
			}
			return "/home/erika", true
		},
		Read: func(path string) ([]byte, error) {
			if text, ok := w.files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		HasSecret: func(conn string) bool { return strings.Contains(conn, "secret") },
	})
}

func (w world) with(name, value string) world {
	env := map[string]string{name: value}
	for k, v := range w.env {
		env[k] = v
	}
	return world{w.files, env}
}

func at(path, text string) world { return world{files: map[string]string{path: text}} }

func mustLoad(t *testing.T, w world, args string) Command {
	t.Helper()
	c, err := w.load(args)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return c
}

func TestFlagsComeBeforeTheEnvironmentTheProfileAndTheFile(t *testing.T) {
	w := at(home, "interval = '2s'\ntheme = 'dark'\n[thresholds]\nshare = 0.1\n[profile.p]\ninterval = '3s'\nthresholds.heavy = 1\n")
	env := w.with("SHARDPILOT_INTERVAL", "4s")
	for _, c := range []struct {
		w    world
		args string
		want time.Duration
	}{
		{world{}, "", time.Second}, {w, "", 2 * time.Second}, {w, "--profile p", 3 * time.Second},
		{env, "--profile p", 4 * time.Second}, {env, "--profile p --interval 5s", 5 * time.Second},
		{w.with("SHARDPILOT_INTERVAL", ""), "", 2 * time.Second}, // empty is not set
	} {
		if got := mustLoad(t, c.w, c.args).Screen.Interval; got != c.want {
			t.Errorf("%q with %v: every %v, want %v", c.args, c.w.env, got, c.want)
		}
	}
	s := mustLoad(t, w, "--profile p").Screen
	if s.Theme != "dark" || s.Thresholds.Share != 0.1 || s.Thresholds.Heavy != 1 {
		t.Errorf("the rest of the file does not hold below its profile: %+v", s)
	}
	if o := s.Options(); o.Thresholds != s.Thresholds {
		t.Errorf("the screen is not told the thresholds: %+v", o.Thresholds)
	}
}

func TestTheFileIsLookedForWhereItIsNamed(t *testing.T) {
	const text = "theme = 'light'"
	for _, c := range []struct {
		path string
		env  map[string]string
		args string
	}{
		{home, nil, ""}, {"/xdg/shardpilot/config.toml", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, ""},
		{home, map[string]string{"XDG_CONFIG_HOME": "relative"}, ""}, // as its standard asks
		{"a.toml", map[string]string{"SHARDPILOT_CONFIG": "a.toml"}, ""},
		{"b.toml", map[string]string{"SHARDPILOT_CONFIG": "a.toml"}, "--config b.toml"},
	} {
		if got := mustLoad(t, world{map[string]string{c.path: text}, c.env}, c.args); got.Screen.Theme != "light" || got.File.Path != c.path {
			t.Errorf("%s was not read with %v and %q: %q", c.path, c.env, c.args, got.File.Path)
		}
	}
	for _, w := range []world{{}, world{}.with("HOME", "")} {
		if c := mustLoad(t, w, ""); c.File.Path != "" {
			t.Errorf("there is no file, and %q was read", c.File.Path)
		}
	}
	for args, env := range map[string]string{"--config gone.toml": "", "": "gone.toml"} {
		_, err := world{}.with("SHARDPILOT_CONFIG", env).load(args)
		isUsage(t, err, "gone.toml")
	}
}

func isUsage(t *testing.T, err error, words ...string) {
	t.Helper()
	var f *control.Fault
	if !errors.As(err, &f) || f.Kind != control.FaultUsage {
		t.Errorf("%v is no usage fault", err)
		return
	}
	for _, s := range words {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("it does not say %q:\n%v", s, err)
		}
	}
}

// A label must never stand over another database than the one it was written
// beside.
func TestALabelGoesWithItsConnection(t *testing.T) {
	w := at(home, `
connection = "host=prod dbname=app"
label = "prod"
label-color = "red"
[profile.staging]
connection = "host=staging"
[profile.calm]
label = "prod (calm)"
`)
	for _, c := range []struct {
		w              world
		args           string
		conn, label    string
		weak           bool
		wantColour     string
		alsoForCommand string
	}{
		{w, "", "host=prod dbname=app", "prod", true, "red", "show"},
		{w, "--user admin", "host=prod dbname=app", "prod", true, "red", "show"},
		{w, "host=other", "host=other", "", false, "", "install"},
		{w, "-d postgres://other/x", "postgres://other/x", "", false, "", "doctor"},
		{w, "--host other", "", "", false, "", "log"},
		{w, "--host other --label mine", "", "mine", false, "", "run"},
		{w, "--profile staging", "host=staging", "", true, "", "grants"},
		{w, "--profile calm", "host=prod dbname=app", "prod (calm)", true, "red", "show"},
		{w.with("PGHOST", "dev"), "", "", "", true, "", "show"},
		{w.with("SHARDPILOT_CONNECTION", "host=dev"), "", "host=dev", "", true, "", "show"},
		{w.with("SHARDPILOT_LABEL", "here"), "host=other", "host=other", "here", false, "", "show"},
		{at(home, "label = 'all mine'"), "host=other", "host=other", "all mine", false, "", "show"},
	} {
		got := mustLoad(t, c.w, c.args)
		if got.Conn.String != c.conn || got.Screen.Label != c.label || got.Screen.LabelColor != c.wantColour || c.conn != "" && got.Conn.Weak != c.weak {
			t.Errorf("%q with %v: %q label %q %q weak %v", c.args, c.w.env, got.Conn.String, got.Screen.Label, got.Screen.LabelColor, got.Conn.Weak)
		}
		got = mustLoad(t, c.w, c.alsoForCommand+" "+c.args)
		if got.Conn.String != c.conn || got.Screen.Label != c.label {
			t.Errorf("%s %q: %q label %q", c.alsoForCommand, c.args, got.Conn.String, got.Screen.Label)
		}
	}
	demo := w.with("SHARDPILOT_LABEL", "env")
	if c := mustLoad(t, demo, "demo"); c.Screen.Label != "" || c.Screen.LabelColor != "" || c.Conn.String != "" {
		t.Errorf("a demo is called %q", c.Screen.Label)
	}
	if c := mustLoad(t, demo, "demo --label mine"); c.Screen.Label != "mine" {
		t.Errorf("a demo that was given a label is called %q", c.Screen.Label)
	}
}

func TestEverythingWrongInAFileIsNamedWithItsLine(t *testing.T) {
	_, err := at(home, `lable = "x"
connection = "postgres://a:secret@b"
interval = "1ms"
theme = 3
read-only = "yes"
columns = ["wait", 1]
interval2 = "soon"
[thresholds]
share = 2
heavy = nan
[colours]
a = 1
[profile.x]
color = "mauve"
columns = [
  "nonsense", # no such column
]
[profile.x.thresholds]
waiters = "one"
`).load("")
	isUsage(t, err, home, "13 things", `line 1: there is no key "lable"; did you mean "label"?`, "line 2: connection holds a password", "passfile",
		"line 3: interval must be 0.25s to 10s, got 1ms", "line 4: theme must be text in quotes", "line 5: read-only must be true or false",
		"line 6: columns must be a list", `line 7: there is no key "interval2"`, "line 9: thresholds.share must be above 0 to 1, got 2",
		"line 10: thresholds.heavy must be above 0 to 1, got NaN", "line 11: there is no table [colours]",
		`line 14: color must be auto, truecolor, 256, 16 or none, got "mauve"`, `line 15: a column is "nonsense"; it may be queue, wait`,
		"line 19: thresholds.waiters must be a number")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is told: %v", err)
	}
	for text, words := range map[string]string{"a = \n": "line 1", "theme = 'dark'\n\ntheme = 'light'\n": "line 3",
		"[[thresholds]]\nshare = 1\n": "no table", "[profile]\n": "no table", "profile = 1": "no key", "label = \"\xff\"": "line 1",
		"thresholds = {share = 0.5, weight = 1}": `"thresholds.weight"`} {
		_, err := at(home, text).load("")
		isUsage(t, err, words)
	}
	_, err = at(home, "[thresholds]\nshare = 0.9\n").load("") // each is fine, together they are not
	isUsage(t, err, "heavy threshold 0.6 is below")
	_, err = world{}.with("SHARDPILOT_READ_ONLY", "perhaps").load("")
	isUsage(t, err, "SHARDPILOT_READ_ONLY", "true or false")
}

func TestAProfileThatIsNotThereIsNamed(t *testing.T) {
	_, err := at(home, "[profile.b]\n[profile.a]\ntheme = 'dark'\n").load("--profile c")
	isUsage(t, err, `no profile "c"`, "a, b")
	_, err = world{}.load("--profile c")
	isUsage(t, err, "no configuration file")
	mustLoad(t, at(home, "[profile.b]\n"), "--profile b")
}

// What is printed loads to the same settings, whatever is in them, and has no
// password in it.
func TestThePrintedConfigurationCanBeUsedAsOne(t *testing.T) {
	w := at(home, "interval = '2s'\nlabel = 'prod \\u001b[31m # \\\"x\\\" '\ncolumns = ['wait','lag']\nread-only = true\n"+
		"[profile.p]\nlog-file = '/tmp/a b'\nthresholds.share = 0.125\n").with("SHARDPILOT_THEME", "mono")
	c := mustLoad(t, w, "--profile p --verbose postgres://a:secret@b")
	var out bytes.Buffer
	if err := PrintConfig(&out, c, "user='a' host='b'", "host=b", true); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, says := range []string{"interval = '2s' +# line 1", `theme = 'mono' +# environment SHARDPILOT_THEME`, `verbose = true +# --verbose`,
		`log-file = '/tmp/a b' +# line 6 \(profile\)`, `glyphs = 'auto' +# default`, `connection = .* # argument; its password is left out`, `# connects to host=b`} {
		if !regexp.MustCompile(says).MatchString(text) {
			t.Errorf("it does not say %s:\n%s", says, text)
		}
	}
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "secret") {
		t.Errorf("it says too much: %q", text)
	}
	again := mustLoad(t, at("p.toml", text), "--config p.toml")
	if !reflect.DeepEqual(again.Screen, c.Screen) || again.Conn.String != "user='a' host='b'" {
		t.Errorf("it loads to %+v %q\nwas %+v\n%s", again.Screen, again.Conn.String, c.Screen, text)
	}
}

func TestEachKeyIsInTheConfigurationPageAndItsExampleLoads(t *testing.T) {
	text := section(t, page(t, "configuration.md"), "## Configuration file")
	rows := table(t, text)
	var keys []string
	for _, s := range settings() {
		keys = append(keys, s.key)
		flag := "the argument"
		if s.flag != "" {
			flag = "`--" + s.flag + "`"
		}
		if want := []string{"`" + s.key + "`", flag, "`" + s.variable() + "`"}; !slices.Equal(rows[s.key], want) {
			t.Errorf("the page has %q, want %q", rows[s.key], want)
		}
	}
	for key := range rows {
		if !slices.Contains(keys, key) {
			t.Errorf("the page has the key %s, which there is not", key)
		}
	}
	_, example, _ := strings.Cut(text, "```toml\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	w := at(home, example)
	prod, staging := mustLoad(t, w, ""), mustLoad(t, w, "--profile staging")
	got := fmt.Sprintln(prod.Conn.String, prod.Screen.Label, prod.Screen.LabelColor, prod.Screen.ReadOnly, "|",
		staging.Conn.String, staging.Screen.Label, staging.Screen.LabelColor, staging.Screen.ReadOnly, staging.Screen.Theme)
	if want := "service=prod prod red true | host=staging.example dbname=app staging green false dark\n"; got != want {
		t.Errorf("the example means %s, want %s", got, want)
	}
}
