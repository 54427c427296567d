package bench

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local"
)

//go:embed awa_worker.py
var awaWorker string

const (
	template = "awa_template"
	// migrateWithin bounds some 10,000 statements of DDL: three seconds, on a busy
	// machine twenty.
	migrateWithin = 4 * time.Minute
	// workerStop is how long a worker may take to end before it is killed.
	workerStop = 5 * time.Second
)

// awa is a real Awa on a private server, as its Python package brings it: a
// database that is copied for each run, and a worker.
type awa struct {
	server *local.Server
	venv   string
	schema int // version of Awa's schema
}

// newAwa lets Awa make its schema in a database of its own and takes its queue
// storage into use there.
func newAwa(ctx context.Context, server *local.Server, venv string) (*awa, error) {
	a := &awa{server: server, venv: venv}
	for _, tool := range []string{"awa", "python"} {
		if _, err := os.Stat(a.tool(tool)); err != nil {
			return nil, &control.Fault{Kind: control.FaultUsage, What: "--awa " + venv + " is no Python environment with Awa: it has no bin/" + tool,
				Hint: "make awa-venv makes one in .awa: awa-pg and awa-cli from PyPI", Err: err}
		}
	}
	if err := administer(ctx, server, "CREATE DATABASE "+template+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, migrateWithin)
	defer cancel()
	migrate := a.command(limited, "awa", server.URL(template), "migrate")
	if out, err := migrate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("awa migrate: %w: %s", err, lastLines(string(out)))
	}
	conn, err := pgx.Connect(ctx, server.URL(template))
	if err != nil {
		return nil, fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	defer closeConn(conn)
	var active bool
	if err := conn.QueryRow(ctx, statement("activate")).Scan(&active, &a.schema); err != nil {
		return nil, fmt.Errorf("take Awa's queue storage into use: %w", err)
	}
	if !active {
		return nil, errors.New("the real Awa did not take its queue storage into use")
	}
	return a, nil
}

func (a *awa) tool(name string) string { return filepath.Join(a.venv, "bin", name) }

// command is a program of Awa's environment. The URL travels in its
// environment, where a list of processes does not show it.
func (a *awa) command(ctx context.Context, name, url string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.tool(name), args...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url, "RUST_LOG=error")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl-c is for us: it ends when we have taken notice
	return cmd
}

// lastLines is what is worth keeping of a program's output.
func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// anew replaces the database by a copy of the one that was never used.
func (a *awa) anew(ctx context.Context) error {
	return administer(ctx, a.server, "DROP DATABASE "+database+" WITH (FORCE)", "CREATE DATABASE "+database+" TEMPLATE "+template)
}

// work starts Awa's worker on the queue. stop ends it and says what went wrong
// with it, if anything did.
func (a *awa) work(ctx context.Context) (stop func() error, err error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cmd := a.command(own, "python", a.server.URL(database), "-c", awaWorker, queue)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start Awa's worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start Awa's worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start Awa's worker: %w", err)
	}
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); err == nil && strings.TrimSpace(line) == "ready" {
			close(ready)
		}
		_, _ = io.Copy(io.Discard, lines) // until it ends
		ended <- cmd.Wait()
	}()
	stop = func() error {
		defer cancel()
		_ = in.Close() // it ends with its input
		late := time.AfterFunc(workerStop, cancel)
		defer late.Stop()
		if err := <-ended; err != nil && own.Err() == nil {
			return fmt.Errorf("the worker of Awa: %w: %s", err, lastLines(said.String()))
		}
		return nil
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-ready:
		return stop, nil
	case err := <-ended:
		cancel()
		return nil, fmt.Errorf("the worker of Awa did not come up: %w: %s", orEnded(ctx, err), lastLines(said.String()))
	case <-limit.C:
		err = fmt.Errorf("the worker of Awa was not ready within %v", patience)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return nil, errors.Join(err, stop())
}
