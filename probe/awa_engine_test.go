package probe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// templates are databases with Awa migrated and not yet activated, one a
// server, since migrating takes seconds. They go with their servers.
var templates sync.Map // major version → *template

type template struct {
	sync.Mutex
	made bool
}

const templateName = "awa_template"

// migrated replaces d by a copy of a database that `awa migrate` made.
func migrated(t testing.TB, d *pgtest.DB) {
	t.Helper()
	pgtest.AwaVenv(t)
	kept, _ := templates.LoadOrStore(d.Version, &template{})
	template := kept.(*template)
	template.Lock()
	defer template.Unlock()
	admin := d.ConnectAs(t, d.Server.URL("postgres"))
	if !template.made {
		exec(t, admin, `CREATE DATABASE `+templateName+` TEMPLATE template0 ENCODING 'UTF8'`)
		pgtest.MigrateAwa(t, d.Server.URL(templateName))
		template.made = true
	}
	exec(t, admin, `DROP DATABASE `+pgx.Identifier{d.Name}.Sanitize()+` WITH (FORCE)`)
	exec(t, admin, `CREATE DATABASE `+pgx.Identifier{d.Name}.Sanitize()+` TEMPLATE `+templateName)
}

// realAwa is Awa as its users have it: its own schema, client, worker, counts.
type realAwa struct {
	base
	in  io.Writer
	out *bufio.Reader
	log *bytes.Buffer
	mu  sync.Mutex // a command and its answer belong together
}

// newRealAwa gives d a real Awa that is not active yet.
func newRealAwa(t testing.TB, d *pgtest.DB) engine {
	t.Helper()
	migrated(t, d)
	e := &realAwa{base: base{d: d, conn: d.Connect(t)}, log: &bytes.Buffer{}}
	client := osexec.Command(filepath.Join(pgtest.AwaVenv(t), "bin", "python"), filepath.Join("testdata", "awa_client.py"), d.URL)
	client.Stderr = e.log
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatalf("start Awa's client: %v", err)
	}
	e.in, e.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		_ = in.Close() // it ends with its input
		late := time.AfterFunc(patience/4, func() { _ = client.Process.Kill() })
		defer late.Stop()
		if err := client.Wait(); err != nil {
			t.Errorf("Awa's client: %v\n%s", err, e.log)
		}
	})
	return e
}

// newActiveAwa is a real Awa ready for work.
func newActiveAwa(t testing.TB, d *pgtest.DB) *realAwa {
	t.Helper()
	e := newRealAwa(t, d)
	e.activate(t)
	return e.(*realAwa)
}

func (e *realAwa) activate(t testing.TB) {
	t.Helper()
	if !ask1[bool](t, e.conn, `select awa.storage_auto_finalize_if_fresh('awa')`) {
		t.Fatal("Awa did not take its queue storage into use")
	}
}

// tell gives Awa's client one command and puts its answer into answer.
func (e *realAwa) tell(t testing.TB, answer any, do string, args map[string]any) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	command := map[string]any{"do": do}
	for k, v := range args {
		command[k] = v
	}
	line, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("%s: Awa's client is gone: %v\n%s", do, err, e.log)
	}
	line, err = e.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: Awa's client ended: %v\n%s", do, err, e.log)
	}
	var reply struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil || reply.Error != "" {
		t.Fatalf("%s: Awa's client: %s %v", do, reply.Error, err)
	}
	if answer != nil {
		if err := json.Unmarshal(reply.OK, answer); err != nil {
			t.Fatalf("%s: %s: %v", do, reply.OK, err)
		}
	}
}

func (e *realAwa) begin(t testing.TB, queue string, priority int, key string) held {
	t.Helper()
	var got struct {
		Number int   `json:"number"`
		PID    int32 `json:"pid"`
	}
	e.tell(t, &got, "begin", map[string]any{"queue": queue, "priority": priority, "key": key})
	end := func(how string) func() {
		return func() { e.tell(t, nil, how, map[string]any{"number": got.Number}) }
	}
	return held{pid: got.PID, commit: end("commit"), rollback: end("rollback")}
}

func (e *realAwa) batch(t testing.TB, queue string, priority, jobs int, key string) {
	t.Helper()
	e.tell(t, nil, "batch", map[string]any{"queue": queue, "priority": priority, "jobs": jobs, "key": key})
}

func (e *realAwa) cancel(t testing.TB, ids ...int64) {
	t.Helper()
	e.tell(t, nil, "cancel", map[string]any{"ids": ids})
}

func (e *realAwa) counts(t testing.TB, queue string) (int, control.Value) {
	t.Helper()
	var got struct {
		Available int      `json:"available"`
		Lag       *float64 `json:"lag"`
	}
	e.tell(t, &got, "stats", map[string]any{"queue": queue})
	if got.Lag == nil {
		return got.Available, control.None()
	}
	return got.Available, control.Some(*got.Lag)
}

func (e *realAwa) work(t testing.TB, queue string, atLeast int) {
	t.Helper()
	e.tell(t, nil, "work", map[string]any{"queue": queue, "jobs": atLeast})
}

func (e *realAwa) produce(t testing.TB, queue string, sessions int, hold time.Duration) load {
	t.Helper()
	e.tell(t, nil, "produce", map[string]any{"queue": queue, "producers": sessions, "hold": hold.Seconds()})
	return load{
		counted: func() (jobs int, at float64) {
			var got struct {
				Jobs int     `json:"jobs"`
				At   float64 `json:"at"`
			}
			e.tell(t, &got, "counted", nil)
			return got.Jobs, got.At
		},
		stop: func() {
			var errors map[string]int
			e.tell(t, &errors, "stop", nil)
			if len(errors) > 0 {
				t.Errorf("Awa's producers failed: %v", errors)
			}
		},
	}
}
