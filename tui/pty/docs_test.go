package pty

import (
	"fmt"
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

// What README.md and docs/ tell people to type is typed here, line by line, at
// a real PostgreSQL with the rehearsal schema. A block of commands is marked
// sh, one of SQL sql; a trailing backslash joins lines. Everything between the
// page and the shell is in the tables below.

// notRun are commands that no test can run, by how they begin, with the
// reason. One that no page shows fails the test.
var notRun = map[string]string{
	"cd":         "into the folder of a release",
	"go":         "benchmarks run for minutes, and prove nothing on a busy machine",
	"install":    "it writes where only root may",
	"journalctl": "it reads the journal of a service that is not installed",
	"podman":     "it fetches images, and not every machine has it",
	"sha256sum":  "there is no release to check; make dist has just written the sums",
	"systemctl":  "it works on the services of the machine; the unit is verified in tui/cli",
	"tar":        "there is no release to unpack",
	"useradd":    "it makes users of the machine",

	"shardpilot experiment": "it measures for minutes; .ci/run has the quick one",
	"make":                  "it works on the whole tree: the test runs inside of make test, and .ci/run builds",
}

// ends are the commands whose documented exit code is not 0, by a part of
// them.
var ends = map[string]int{
	// Nothing is pending by then: whether a step still holds would be up to the
	// load of this machine.
	"shardpilot approve": 3,
}

// reader is somebody with a terminal who does what the pages say: their hosts,
// files and times are replaced by those of this machine.
type reader struct {
	t     *testing.T
	d     *pgtest.DB
	admin *pgx.Conn
	home  string
	words *strings.Replacer // page to machine
	typed map[string]bool
}

var (
	durations = regexp.MustCompile(`--duration[ =]\S+`)
	ports     = regexp.MustCompile(`127\.0\.0\.1:91\d\d`)
)

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, d: pgtest.One(t), home: t.TempDir(), typed: map[string]bool{}}
	r.admin = furnish(t, r.d, map[string]int{"orders": 2})
	u, err := url.Parse(r.d.URL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	here := "host=127.0.0.1 port=" + u.Port() + " dbname=" + r.d.Name
	r.words = strings.NewReplacer(
		"./shardpilot", "shardpilot",
		"@db.example/app", "@127.0.0.1:"+u.Port()+"/"+r.d.Name,
		"PGHOST=db.example PGDATABASE=app", "PGHOST=127.0.0.1 PGPORT="+u.Port()+" PGUSER=postgres PGDATABASE="+r.d.Name,
		"host=db1,db2 dbname=app", "host=127.0.0.1,127.0.0.1 port="+u.Port()+" user=postgres dbname="+r.d.Name,
		"host=staging.example dbname=app", here+" user=postgres",
		"/var/log/", r.home+"/", "incident", r.home+"/incident", "/etc/shardpilot/", r.home+"/",
		"awa_owner", "postgres", // of SQL
	)
	service := fmt.Sprintf("host=127.0.0.1\nport=%s\ndbname=%s\nuser=postgres\n", u.Port(), r.d.Name)
	r.write(".pg_service.conf", "[prod]\n"+service+"[staging]\n"+service)
	r.write(".pgpass", "*:*:*:*:"+password+"\n")
	r.roles(password)
	return r
}

func (r *reader) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// roles makes those that the pages connect as.
func (r *reader) roles(password string) {
	r.t.Helper()
	do(r.t, r.admin, `CREATE ROLE watcher LOGIN PASSWORD '`+password+`'`)
	do(r.t, r.admin, `CREATE ROLE admin LOGIN SUPERUSER PASSWORD '`+password+`'`)
	r.t.Cleanup(func() {
		for _, sql := range []string{`DROP OWNED BY watcher CASCADE`, `REASSIGN OWNED BY admin TO postgres`, `DROP ROLE watcher, admin`} {
			do(r.t, r.admin, sql)
		}
	})
	list, err := db.Grants(bounded(r.t), r.admin, "watcher", db.Watch, control.Installation{Schema: "awa"})
	if err != nil {
		r.t.Fatal(err)
	}
	do(r.t, r.admin, strings.Join(list, ""))
}

// asBefore puts the database into the state in which each command is typed:
// queue orders at 2 after a step from 1, opted in, with a step to 4 pending.
func (r *reader) asBefore() {
	r.t.Helper()
	if _, err := db.Install(bounded(r.t), r.admin); err != nil {
		r.t.Fatal(err)
	}
	for _, sql := range []string{
		`TRUNCATE shardpilot.policy, shardpilot.decision, shardpilot.pending, shardpilot.producer`,
		`UPDATE awa.queue_meta SET enqueue_shards = 2 WHERE queue = 'orders'`,
		`INSERT INTO shardpilot.policy (queue, auto, max_shards, accepted_by, accepted_at, updated_by) VALUES ('orders', true, 8, 'erika', now(), 'erika')`,
		`INSERT INTO shardpilot.decision (kind, queue, mode, action, from_shards, to_shards, reason, actor, outcome)
		   VALUES ('change', 'orders', 'shadow', 'grow', 1, 2, 'override', 'erika', 'applied')`,
		`INSERT INTO shardpilot.pending (queue, from_shards, to_shards, generation, reason, created_at, expires_at)
		   VALUES ('orders', 2, 4, 1, 'contended', now(), now() + interval '1 hour')`,
	} {
		do(r.t, r.admin, sql)
	}
}

// line types one line in a shell, answers yes to what it asks, and leaves what
// does not end by itself once it shows the queue.
func (r *reader) line(line string) {
	r.t.Helper()
	command := durations.ReplaceAllString(ports.ReplaceAllString(r.words.Replace(line), "127.0.0.1:0"), "--duration 8s")
	if r.typed[command] {
		return
	}
	r.typed[command] = true
	r.asBefore()
	if strings.Contains(line, "shardpilot approve") {
		do(r.t, r.admin, `TRUNCATE shardpilot.pending`)
	}
	if strings.HasPrefix(command, "shardpilot ") && !strings.ContainsAny(command, "|;&") {
		command = "exec " + command // so that ctrl-c ends nobody else
	}
	if !strings.Contains(line, "shardpilot demo ") { // which looks for its server below the folder it is started in
		command = `cd "$HOME" && ` + command
	}
	cmd := exec.Command("sh", "-c", command)
	tm := openCommand(r.t, 160, 50, []string{"HOME=" + r.home, "XDG_CONFIG_HOME=" + r.home, "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}, cmd)
	asked := regexp.MustCompile(`Go ahead\? \[y/N\]`)
	answered, left := 0, false
	for end := time.Now().Add(2 * patience); ; time.Sleep(20 * time.Millisecond) {
		out := tm.written()
		if n := len(asked.FindAllString(out, -1)); n > answered {
			answered = n
			tm.keys("y\r")
		}
		if screen := strings.Contains(out, "\x1b[?1049h"); !left && strings.Contains(out, "orders") && (screen || strings.Contains(command, "shardpilot run ")) {
			left = true
			tm.keys(map[bool]string{true: "q", false: "\x03"}[screen])
		}
		select {
		case <-tm.exited:
			<-tm.drawn
			if code := exitCode(tm.err); code != expected(line) {
				r.t.Errorf("%s\nends with %d, not %d:\n%s", line, code, expected(line), tm.written())
			}
			return
		default:
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s\ndoes not end:\n%s", line, tm.screen())
		}
	}
}

func expected(line string) int {
	for part, code := range ends {
		if strings.Contains(line, part) {
			return code
		}
	}
	return 0
}

// sql runs a block as psql does, statement by statement in its own
// transactions.
func (r *reader) sql(block string) {
	r.t.Helper()
	r.asBefore()
	if _, err := r.admin.PgConn().Exec(bounded(r.t), r.words.Replace(block)).ReadAll(); err != nil {
		r.t.Errorf("%v in\n%s", err, block)
		do(r.t, r.admin, `ROLLBACK`)
	}
}

// block is what stands between two fences.
type block struct {
	tag, text, config string // config is the toml of the same section
}

var fences = regexp.MustCompile("(?m)^ *```(\\S*)\n((?:.*\n)*?) *```$|^##+ .*$")

func blocksOf(page string) []block {
	var out []block
	config := ""
	for _, m := range fences.FindAllStringSubmatch(page, -1) {
		switch {
		case m[1] == "" && m[2] == "":
			config = "" // a heading
		case m[1] == "toml":
			config = m[2]
			fallthrough
		default:
			out = append(out, block{m[1], m[2], config})
		}
	}
	return out
}

// commandsOf are the lines of a block, joined at backslashes.
func commandsOf(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

var firstWord = regexp.MustCompile(`^(?:[A-Z_]+=\S* +)*(?:\./)?(\S+)`)

func TestWhatThePagesSayToTypeWorks(t *testing.T) {
	t.Parallel()
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	r := newReader(t)
	excused := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimPrefix(page, "../../"), func(t *testing.T) {
			outer := r.t
			r.t = t
			defer func() { r.t = outer }()
			for _, b := range blocksOf(string(text)) {
				r.block(b, excused)
			}
		})
	}
	for begins := range notRun {
		if !excused[begins] {
			t.Errorf("no page shows %s: it needs no excuse", begins)
		}
	}
	for part := range ends {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.typed)), func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("no page shows %s: its exit code is not needed", part)
		}
	}
}

// excuse is the beginning of the line that is in notRun, "" when none is.
func excuse(line string) string {
	for begins := range notRun {
		if strings.HasPrefix(line+" ", begins+" ") {
			return begins
		}
	}
	return ""
}

func (r *reader) block(b block, excused map[string]bool) {
	r.t.Helper()
	config, policy := b.config, ""
	if strings.Contains(b.text, "--policy ") { // what stands above it is such a file
		config, policy = "", b.config
	}
	r.write("shardpilot/config.toml", r.words.Replace(config))
	r.write("policy.toml", policy)
	switch b.tag {
	case "sh":
		for _, line := range commandsOf(b.text) {
			if why := excuse(line); why != "" {
				excused[why] = true
				continue
			}
			if firstWord.FindStringSubmatch(line)[1] != "shardpilot" {
				r.t.Errorf("it is not known how to try %q; is it to be in notRun?", line)
				continue
			}
			r.line(line)
		}
	case "sql":
		r.sql(b.text)
	case "":
		for _, line := range commandsOf(b.text) {
			if firstWord.FindStringSubmatch(line)[1] == "shardpilot" || excuse(line) != "" {
				r.t.Errorf("a block with the command %q is not marked sh", line)
			}
		}
	default:
		if !slices.Contains([]string{"toml", "yaml", "ini", "json"}, b.tag) {
			r.t.Errorf("what is a block of %s?", b.tag)
		}
	}
}
