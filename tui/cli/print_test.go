package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func printed(t *testing.T, print func(*bytes.Buffer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// packages are Debian's of the programs that only check what we print. A machine
// on which somebody builds need not have them; .ci/run installs them.
var packages = map[string]string{"bash": "bash", "fish": "fish", "groff": "groff-base", "man": "man-db", "systemd-analyze": "systemd", "zsh": "zsh"}

// checker finds one of them. Without it the test is skipped and says what is
// missing, but not where CI is set.
func checker(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		without := t.Skipf
		if os.Getenv("CI") != "" {
			without = t.Fatalf
		}
		without("there is no %s; it is in Debian's package %s", program, packages[program])
	}
	return path
}

// checked gives text to a program, which must have nothing to say about it.
func checked(t *testing.T, text, program string, args ...string) {
	t.Helper()
	t.Run(program, func(t *testing.T) {
		path := checker(t, program)
		file := filepath.Join(t.TempDir(), "shardpilot.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, append(args, file)...)
		// A locale that is not installed, or somebody's own settings, are not ours to check.
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=dumb", "HOME=" + t.TempDir()}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil || errs.Len() > 0 {
			t.Errorf("%s %q: %v\n%s", program, args, err, errs.String())
		}
	})
}

func TestTheManualPageTellsEverythingAndIsWellFormed(t *testing.T) {
	page := printed(t, func(b *bytes.Buffer) error { return Man(b, "1.2-3-gabc") })
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'").Replace(page)
	for _, c := range commands() {
		if !strings.Contains(plain, "\n.B "+c.name+"\n"+capital(c.short)) || !strings.Contains(plain, "\n.B "+c.example+"\n") {
			t.Errorf("%s or its example is not there", c.name)
		}
		for _, f := range flagsOf(c) {
			if !strings.Contains(plain, `\fB--`+f.name+`\fR`) || !strings.Contains(plain, f.usage) && !strings.Contains(plain, capital(f.usage)) {
				t.Errorf("--%s of %s is not there", f.name, c.name)
			}
		}
	}
	checked(t, page, "groff", "-man", "-Tutf8", "-ww", "-z")
	checked(t, page, "man", "--warnings", "-l")
}

func TestCompletionsKnowEachFlagAndAreWellFormed(t *testing.T) {
	check := map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}}
	for _, shell := range Shells() {
		script := printed(t, func(b *bytes.Buffer) error { return Completion(b, shell) })
		for _, c := range commands() {
			for _, f := range flagsOf(c) {
				if !strings.Contains(script, "--"+f.name) && !strings.Contains(script, "-l "+f.name+" ") {
					t.Errorf("%s does not know --%s", shell, f.name)
				}
			}
		}
		checked(t, script, shell, check[shell]...)
	}
	if err := Completion(&bytes.Buffer{}, "tcsh"); err == nil {
		t.Error("completions of tcsh are promised")
	}
}

// What bash offers is asked from bash.
func TestBashCompletesCommandsFlagsAndWords(t *testing.T) {
	bash := checker(t, "bash")
	script := printed(t, func(b *bytes.Buffer) error { return Completion(b, "bash") })
	for line, want := range map[string]string{
		"shardpilot ver":                  "version",
		"shardpilot demo --shape st":      "steady stuck",
		"shardpilot demo --head":          "--headless",
		"shardpilot --read":               "--read-only",
		"shardpilot log --since ":         "",
		"shardpilot help unin":            "uninstall",
		"shardpilot backtest print_t":     "print_test.go",
		"shardpilot set --queue q --unp":  "--unpin",
		"shardpilot service=prod --theme": "--theme",
	} {
		words := strings.Split(line, " ")
		for i := range words {
			words[i] = quoted(words[i])
		}
		cmd := exec.Command(bash, "-c", script+"\nCOMP_WORDS=("+strings.Join(words, " ")+")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_shardpilot\necho \"${COMPREPLY[*]}\"")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %v, offered %q, want %q", line, err, got, want)
		}
	}
}

// The words that are offered are those that are taken, and no others are.
func TestWordsThatAreOfferedAreTaken(t *testing.T) {
	taken := map[string]bool{}
	for _, spec := range commands() {
		var c Command
		set := flagSet(spec, &c)
		for _, ch := range choices() {
			if set.Lookup(ch.flag) == nil {
				continue
			}
			taken[ch.flag] = true
			for _, word := range append(slices.Clone(ch.words), "nonsense") {
				args := []string{spec.name, "--" + ch.flag, word}
				if takesFile(spec) {
					args = append(args, "incident.rec")
				}
				if _, err := Parse(args); (err == nil) != (word != "nonsense") {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
	}
	for _, ch := range choices() {
		if !taken[ch.flag] {
			t.Errorf("no command takes --%s", ch.flag)
		}
	}
}

// The unit starts what can be started, and systemd takes it.
func TestTheServiceUnitIsWellFormed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, "packaging", "shardpilot.service"))
	if err != nil {
		t.Fatal(err)
	}
	const installed = "/usr/local/bin/shardpilot"
	_, start, found := strings.Cut(string(text), "\nExecStart="+installed+" ")
	start, _, _ = strings.Cut(start, "\n")
	c, err := Parse(strings.Fields(strings.ReplaceAll(start, "$ARGS", "--mode enforced")))
	if !found || err != nil || c.Name != "run" {
		t.Errorf("it starts %q: %+v, %v", start, c, err)
	}
	path := checker(t, "systemd-analyze")
	unit := filepath.Join(t.TempDir(), "shardpilot.service")
	here := strings.NewReplacer(installed, "/bin/true", "man:shardpilot(1)", "https://shardpilot.example").Replace(string(text))
	if err := os.WriteFile(unit, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
