package pty

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
)

// patient is an installation in good health, and how the doctor comes to it.
type patient struct {
	t     *testing.T
	d     *pgtest.DB
	admin *pgx.Conn
	url   string
	flags []string
	role  string // of url, when it is not the superuser's
}

func (p *patient) do(statements ...string) {
	p.t.Helper()
	for _, s := range statements {
		if strings.Contains(s, "OPERATOR_") {
			p.operator()
		}
		if strings.Contains(s, "WATCHER_") {
			p.watcher()
		}
		do(p.t, p.admin, strings.NewReplacer("OPERATOR_", p.role, "WATCHER_", p.role).Replace(s))
	}
}

// operator has the doctor come as a role that may act.
func (p *patient) operator() {
	p.t.Helper()
	if p.role == "" {
		p.url = role(p.t, p.d, p.admin, "operator")
		p.role = roleOf(p.t, p.url)
		p.grant(db.Act)
	}
}

// watcher has the doctor come as a role that may watch.
func (p *patient) watcher() {
	p.t.Helper()
	if p.role == "" {
		p.url = role(p.t, p.d, p.admin, "watcher")
		p.role = roleOf(p.t, p.url)
		p.grant(db.Watch)
	}
}

func (p *patient) grant(level db.Level) {
	p.t.Helper()
	list, err := db.Grants(bounded(p.t), p.admin, p.role, level, control.Installation{Schema: "awa"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(list...)
}

func roleOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.User.Username()
}

// pretend has the server answer a function of the catalogue as we say, in new
// sessions of this database, until honest.
func (p *patient) pretend(signature, body string) {
	p.t.Helper()
	p.do(`CREATE SCHEMA IF NOT EXISTS pretended`, `GRANT USAGE ON SCHEMA pretended TO public`,
		`CREATE FUNCTION pretended.`+signature+` LANGUAGE `+body,
		`ALTER DATABASE `+p.d.Name+` SET search_path = pretended, pg_catalog`)
}

func (p *patient) honest() {
	p.t.Helper()
	p.do(`DROP SCHEMA pretended CASCADE`, `ALTER DATABASE `+p.d.Name+` RESET search_path`)
}

// open begins a transaction of somebody else, and leaves it open.
func (p *patient) open(statements ...string) *pgx.Conn {
	p.t.Helper()
	conn := p.d.Connect(p.t)
	for _, s := range append([]string{"BEGIN"}, statements...) {
		do(p.t, conn, s)
	}
	return conn
}

type examined struct {
	Findings []db.Finding `json:"findings"`
	MayWatch bool         `json:"may_watch"`
	MayAct   bool         `json:"may_act"`
}

// examine runs the doctor, and holds its exit codes against what it says.
func (p *patient) examine() examined {
	p.t.Helper()
	args := append([]string{"doctor", p.url, "--json"}, p.flags...)
	r := run(p.t, append(args, "--level", "act")...)
	var e examined
	if err := json.Unmarshal([]byte(r.out), &e); err != nil {
		p.t.Fatalf("%v in:\n%s", err, r.both())
	}
	if want := map[bool]int{true: 0, false: 3}[e.MayAct]; r.code != want {
		p.t.Errorf("acting possible: %v, and --level act ends with %d:\n%s", e.MayAct, r.code, r.both())
	}
	if !e.MayAct {
		r = run(p.t, args...)
		if want := map[bool]int{true: 0, false: 3}[e.MayWatch]; r.code != want {
			p.t.Errorf("watching possible: %v, and the doctor ends with %d:\n%s", e.MayWatch, r.code, r.both())
		}
	}
	return e
}

func (e examined) codes() []string {
	var out []string
	for _, f := range e.Findings {
		if f.Code != "" && !slices.Contains(out, string(f.Code)) {
			out = append(out, string(f.Code))
		}
	}
	return out
}

func (e examined) of(code string) []db.Finding {
	return slices.DeleteFunc(slices.Clone(e.Findings), func(f db.Finding) bool { return string(f.Code) != code })
}

// follow does what a finding says: SQL as the superuser, commands in a
// terminal, with a yes to each question. It is false for a step in words.
func (p *patient) follow(fix string) bool {
	p.t.Helper()
	switch {
	case strings.HasPrefix(fix, "shardpilot "):
		p.shell(fix)
	case strings.HasSuffix(fix, ";"):
		if _, err := p.admin.Exec(bounded(p.t), fix, pgx.QueryExecModeSimpleProtocol); err != nil {
			p.t.Fatalf("%s: %v", fix, err)
		}
	default:
		return false
	}
	return true
}

func (p *patient) shell(line string) {
	p.t.Helper()
	u, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	password, _ := u.User.Password()
	if strings.Contains(line, password) {
		p.t.Fatalf("the password is in: %s", line)
	}
	env := []string{"PGPASSWORD=" + password, "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}
	tm := openCommand(p.t, 160, 50, env, exec.Command("sh", "-c", line))
	asked := regexp.MustCompile(`Go ahead\? \[y/N\]`)
	answered := 0
	for end := time.Now().Add(2 * patience); ; time.Sleep(20 * time.Millisecond) {
		if n := len(asked.FindAllString(tm.written(), -1)); n > answered {
			answered = n
			tm.keys("y\r")
		}
		select {
		case <-tm.exited:
			if code := exitCode(tm.err); code != 0 {
				p.t.Fatalf("%s ends with %d:\n%s", line, code, tm.screen())
			}
			return
		default:
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s does not end:\n%s", line, tm.screen())
		}
	}
}

// Each finding is made by breaking exactly that, and what it prints mends it.
func TestEachFindingOfTheDoctorIsMendedByWhatItPrints(t *testing.T) {
	t.Parallel()
	for _, a := range ailments() {
		name := a.code
		if a.name != "" {
			name += ", " + a.name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := a.server
			if d == nil {
				d = pgtest.One
			}
			p := &patient{t: t, d: d(t)}
			p.url = p.d.URL
			p.admin = furnish(t, p.d, map[string]int{"orders": 2})
			if well := p.examine(); len(well.codes()) > 0 || !well.MayWatch || !well.MayAct {
				t.Fatalf("not in good health to begin with: %+v", well)
			}
			mend := a.breaks(p)
			var ill examined
			until(t, "the doctor finds "+a.code, 2*patience, func() bool {
				ill = p.examine()
				return len(ill.of(a.code)) > 0
			})
			for _, code := range ill.codes() {
				if code != a.code && !slices.Contains(a.with, code) {
					t.Errorf("%s was broken and %s is found too: %+v", a.code, code, ill.of(code))
				}
			}
			if may := map[string][2]bool{"": {true, true}, "watch": {true, false}, "none": {false, false}}[a.leaves]; may != [2]bool{ill.MayWatch, ill.MayAct} {
				t.Errorf("watching possible: %v, acting: %v", ill.MayWatch, ill.MayAct)
			}
			for _, f := range ill.of(a.code) {
				if f.Detail == "" || f.Check == "" || f.State == db.StateOK || (f.Fix == "") != (a.mends == nothing) {
					t.Errorf("not what a finding should be: %+v", f)
				}
				if f.Fix != "" && p.follow(f.Fix) != (a.mends == printed) {
					t.Errorf("is this a statement or a step: %s", f.Fix)
				}
			}
			if mend != nil {
				mend()
			} else if a.mends == step {
				t.Fatal("nobody takes the step")
			}
			if a.mends != nothing || mend != nil {
				// A session that is told to end does so when it gets a processor.
				until(t, a.code+" is mended", patience, func() bool { return len(p.examine().of(a.code)) == 0 })
			}
		})
	}
}

// TestEachFindingHasACase fails when the doctor can find what the table above
// does not break, or the page does not explain.
func TestEachFindingHasACase(t *testing.T) {
	source, err := os.ReadFile("../../db/findings.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n### All findings\n")
	list, _, _ = strings.Cut(list, "\n#")
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(list, -1) {
		explained[m[1]] = true
	}
	cases := map[string]bool{}
	for _, a := range ailments() {
		cases[a.code] = true
	}
	if db.SchemaVersion == 1 {
		cases[string(db.FoundSchemaOld)] = true // there is no older schema yet that could be found
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+Found\w+\s+Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		if !cases[m[1]] {
			t.Errorf("nothing breaks what %s finds", m[1])
		}
		if !explained[m[1]] {
			t.Errorf("docs/operations.md does not explain %s", m[1])
		}
		delete(cases, m[1])
		delete(explained, m[1])
	}
	for code := range maps.Keys(cases) {
		t.Errorf("there is no finding %s", code)
	}
	for code := range maps.Keys(explained) {
		t.Errorf("docs/operations.md explains %s, which nobody finds", code)
	}
}

// What a watching role lacks for acting is one finding with one block to paste;
// each right by itself is in the JSON.
func TestDoctorFoldsWhatAWatchingRoleLacks(t *testing.T) {
	t.Parallel()
	p := &patient{t: t, d: pgtest.One(t)}
	p.admin = furnish(t, p.d, map[string]int{"orders": 2})
	p.watcher()
	r := run(t, "doctor", p.url)
	if r.code != 0 || strings.Count(r.out, "right to act") != 1 || strings.Count(r.out, "->") != 1 ||
		!strings.Contains(r.out, "INSERT, UPDATE, DELETE ON") || !strings.Contains(r.out, "acting is not possible") {
		t.Errorf("ends with %d:\n%s", r.code, r.both())
	}
	var report db.Report
	if err := json.Unmarshal([]byte(run(t, "doctor", p.url, "--json").out), &report); err != nil {
		t.Fatal(err)
	}
	if lacking := report.Rights.Lacking(); len(lacking) < 15 || lacking[0].Fix == "" {
		t.Errorf("%d rights are told one by one: %+v", len(lacking), lacking)
	}
}
