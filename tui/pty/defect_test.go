package pty

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shardpilot/db/local/pgtest"
)

// defects are the places at which a program with defects breaks: when its
// variable DEFECT has the name. The sources stay as they are; the compiler is
// given others in their stead.
var defects = []struct{ name, file, before string }{
	{"looking", "probe/sampler.go", "\t\terr := s.once(ctx)\n"},
	{"leading", "db/leader.go", "\t\terr := l.session(ctx)\n"},
	{"deciding", "control/decide.go", "\td := Decision{"},
	{"keys", "tui/keys.go", "\te := m.press(key)\n"},
}

// defective builds the program with the defects.
func defective(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for _, d := range defects {
		path := filepath.Join(root(t), d.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		broken := strings.Replace(string(text), d.before, "\tif v, _ := syscall.Getenv(\"DEFECT\"); v == \""+d.name+
			"\" {\n\t\tpanic(\"a defect in "+d.name+"\")\n\t}\n"+d.before, 1)
		broken = strings.Replace(broken, "\nimport ", "\nimport \"syscall\"\nimport ", 1)
		if strings.Count(broken, "syscall") != 2 {
			t.Fatalf("no place for a defect in %s", d.file)
		}
		replace[path] = filepath.Join(dir, d.name+".go")
		if err := os.WriteFile(replace[path], []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "shardpilot")
	if said, err := exec.Command("go", "build", "-overlay", list, "-o", out, "shardpilot").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return out
}

// CASES 9: wherever it breaks, the terminal is as it was, the exit code is not
// 0, a sentence is left, and the log has the rest.
func TestADefectPutsTheTerminalBack(t *testing.T) {
	t.Parallel()
	program := defective(t)
	d := pgtest.One(t)
	furnish(t, d, map[string]int{"orders": 1})
	for _, c := range defects {
		log := filepath.Join(t.TempDir(), "log")
		tm := openCommand(t, 100, 30, []string{"DEFECT=" + c.name}, exec.Command(program, d.URL, "--log-file", log))
		if c.name == "keys" {
			tm.see(`\[Overview\][^§]*orders`, patience)
			tm.keys("j")
		}
		if code := tm.ended(patience); code != 1 {
			t.Errorf("%s: exit code %d", c.name, code)
		}
		<-tm.drawn
		tm.restored()
		if s := tm.screen(); !strings.Contains(s, "internal error in") || !strings.Contains(s, "--log-file") || strings.Contains(tm.written(), "goroutine ") {
			t.Errorf("%s: it leaves\n%s", c.name, s)
		}
		if said, err := os.ReadFile(log); err != nil || !strings.Contains(string(said), "a defect in "+c.name) || !strings.Contains(string(said), "goroutine ") {
			t.Errorf("%s: the log does not tell (%v): %s", c.name, err, said)
		}
	}
}
