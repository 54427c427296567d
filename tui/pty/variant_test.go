package pty

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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

// wrongClock replaces the clock of main.go, the only place that reads one, by
// one that is off by the duration in CLOCK.
const wrongClock = `
func wrongNow() time.Time {
	off, _ := time.ParseDuration(os.Getenv("CLOCK"))
	return time.Now().Add(off)
}
`

// variant is the program with the defects and the wrong clock, built once.
var variant = struct {
	once sync.Once
	path string
	err  error
}{}

func variantProgram(t *testing.T) string {
	t.Helper()
	variant.once.Do(func() { variant.path, variant.err = buildVariant(root(t)) })
	if variant.err != nil {
		t.Fatal(variant.err)
	}
	return variant.path
}

// buildVariant puts it beside the program itself, where it is cleared up with it.
func buildVariant(root string) (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "variant")
	replace := map[string]string{}
	change := func(name, file string, edit func(string) string) error {
		path := filepath.Join(root, file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := edit(string(text))
		if changed == string(text) {
			return fmt.Errorf("no place for %s in %s", name, file)
		}
		replace[path] = filepath.Join(dir, name+".go")
		return os.WriteFile(replace[path], []byte(changed), 0o600)
	}
	err := os.Mkdir(dir, 0o700)
	for _, d := range defects {
		err = errors.Join(err, change(d.name, d.file, func(text string) string {
			breaks := fmt.Sprintf("if v, _ := syscall.Getenv(\"DEFECT\"); v == %q { panic(\"a defect in %s\") }\n", d.name, d.name)
			before, after, found := strings.Cut(text, d.before)
			if !found {
				return text
			}
			return strings.Replace(before, "\nimport ", "\nimport \"syscall\"\nimport ", 1) + breaks + d.before + after
		}))
	}
	err = errors.Join(err, change("clock", "main.go", func(text string) string {
		if !strings.Contains(text, "time.Now") {
			return text
		}
		return strings.ReplaceAll(text, "time.Now", "wrongNow") + wrongClock
	}))
	overlay, encodeErr := json.Marshal(map[string]any{"Replace": replace})
	list, out := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "shardpilot")
	if err = errors.Join(err, encodeErr, os.WriteFile(list, overlay, 0o600)); err != nil {
		return "", err
	}
	if said, err := exec.Command("go", "build", "-overlay", list, "-o", out, "shardpilot").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return out, nil
}

// CASES 9: wherever it breaks, the terminal is as it was, the exit code is not
// 0, a sentence is left, and the log has the rest.
func TestADefectPutsTheTerminalBack(t *testing.T) {
	t.Parallel()
	program := variantProgram(t)
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
		tm.restored()
		if s := tm.screen(); !strings.Contains(s, "internal error in") || !strings.Contains(s, "--log-file") || strings.Contains(tm.written(), "goroutine ") {
			t.Errorf("%s: it leaves\n%s", c.name, s)
		}
		if said, err := os.ReadFile(log); err != nil || !strings.Contains(string(said), "a defect in "+c.name) || !strings.Contains(string(said), "goroutine ") {
			t.Errorf("%s: the log does not tell (%v): %s", c.name, err, said)
		}
	}
}

// CASES 12: a clock that is off by minutes is said to be, and moves no age: not
// of the readings, not of a pending step, not of the log's entries.
func TestAWrongClockIsShownAndMovesNoAge(t *testing.T) {
	t.Parallel()
	program := variantProgram(t)
	d := pgtest.One(t)
	conn := furnish(t, d, map[string]int{"orders": 1})
	optIn(t, d, "orders", 8)
	for off, says := range map[string]string{"10m": `server minus ours -(10m|59[5-9]|60[0-5])`, "-10m": `server minus ours (10m|59[5-9]|60[0-5])`} {
		do(t, conn, `DELETE FROM shardpilot.pending`)
		do(t, conn, `INSERT INTO shardpilot.pending (queue, from_shards, to_shards, reason, detail, evidence, predicted_gain, created_at, expires_at, generation)
			SELECT 'orders', 1, 2, 'contended', 'for a test', '{}', 1.9, clock_timestamp() - interval '3 minutes', clock_timestamp() + interval '20 minutes', 4711`)
		env := []string{"TZ=Asia/Kathmandu", "CLOCK=" + off}
		tm := openCommand(t, 120, 40, env, exec.Command(program, d.URL, "--read-only"))
		tm.see(`\[Overview\][^§]*orders`, patience)
		s := tm.see(`\d\d:\d\d:\d\d \+0545  age [0-5]s[^§]*made (3m|4m|1[89]\d|2[0-9]\d)[^§]*good for another (1\d|20)m`, patience)
		shown := regexp.MustCompile(`(\d\d):(\d\d):\d\d \+0545`).FindStringSubmatch(s)
		server := ask[string](t, conn, `SELECT to_char(clock_timestamp() AT TIME ZONE 'Asia/Kathmandu', 'HH24:MI')`)
		minute := func(hhmm string) int { var h, m int; _, _ = fmt.Sscanf(hhmm, "%d:%d", &h, &m); return h*60 + m }
		if apart := (minute(server) - minute(shown[1]+":"+shown[2]) + 1440) % 1440; apart > 5 && apart < 1440-5 {
			t.Errorf("%s: the screen says %s, the server %s", off, shown[0], server)
		}
		tm.toScreen("Health")
		s = tm.see(says, patience)
		if negative := regexp.MustCompile(`(age|lag|since|ago|made|for) -\d`).FindString(s); negative != "" {
			t.Errorf("%s: %q", off, negative)
		}
		tm.keys("q")
		tm.ended(patience)
		cmd := exec.Command(program, "log", d.URL, "--since", "8m")
		prepare(t, cmd, env)
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "orders") {
			t.Errorf("%s: the log of the last minutes is %q (%v)", off, out, err)
		}
	}
}
