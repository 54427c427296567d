// Command shardpilot watches the enqueue lanes of Awa queues on PostgreSQL.
//
// This file turns arguments into one command, wires the packages together and
// is the only place that reads the clock and ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local"
	"shardpilot/db/rehearsal"
	"shardpilot/probe"
	"shardpilot/tui"
	"shardpilot/tui/cli"
)

// version is stamped by the linker (make build).
var version = "dev"

func main() {
	ctx, stop := untilSignal()
	err := run(ctx, os.Args[1:])
	stop()
	os.Exit(finish(ctx, err))
}

// run carries out what the arguments ask for.
func run(ctx context.Context, args []string) error {
	cmd, err := cli.Parse(args)
	if err != nil {
		return err
	}
	if cmd.Help {
		return cli.Help(os.Stdout, cmd.Name)
	}
	switch cmd.Name {
	case "demo":
		return demo(ctx, cmd)
	case "doctor":
		return doctor(ctx, cmd)
	case "version":
		return printVersion(cmd)
	default:
		return dashboard(ctx, cmd)
	}
}

// finish says what went wrong and turns it into the exit code.
func finish(ctx context.Context, err error) int {
	var sig *signalled
	if errors.As(context.Cause(ctx), &sig) && (err == nil || errors.Is(err, context.Canceled)) {
		return 128 + int(sig.Signal)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(os.Stderr, "shardpilot: %s\n", tui.SafeLines(err.Error()))
	}
	return control.ExitCode(err)
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ Signal syscall.Signal }

func (s *signalled) Error() string { return "ended by " + s.Signal.String() }

// untilSignal is a context that SIGINT, SIGTERM and SIGHUP end. A SIGHUP that
// was ignored at the start (nohup) stays ignored: a terminal that is gone then
// shows as a failing read or write.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	signal.Notify(caught, list...)
	go func() {
		select {
		case s := <-caught:
			cancel(&signalled{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

func printVersion(cmd cli.Command) error {
	if cmd.JSON {
		return cli.Object(os.Stdout, map[string]string{"version": version, "go": runtime.Version(),
			"os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	_, err := fmt.Printf("shardpilot %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// connector parses the connection of a command and tries it once, asking for a
// password when the server wants one and a person is there to give it.
func connector(ctx context.Context, c cli.Conn, log *slog.Logger) (*db.Config, error) {
	opts := db.Options{Host: c.Host, User: c.User, Database: c.DBName, OnNotice: func(n *pgconn.Notice) {
		log.Info("notice", "severity", n.Severity, "code", n.Code, "message", n.Message)
	}}
	if c.Port != 0 {
		opts.Port = strconv.Itoa(c.Port)
	}
	cfg, err := db.Parse(c.String, opts)
	if err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintln(os.Stderr, "shardpilot: "+tui.Safe(w))
	}
	conn, err := cfg.Connect(ctx)
	if err != nil && db.NeedsPassword(err) && term.IsTerminal(os.Stdin.Fd()) {
		password, askErr := askPassword(cfg.User())
		if askErr != nil {
			return nil, askErr
		}
		cfg = cfg.WithPassword(password)
		conn, err = cfg.Connect(ctx)
	}
	if err != nil {
		return nil, err
	}
	return cfg, conn.Close(ctx)
}

func askPassword(user string) (string, error) {
	fmt.Fprintf(os.Stderr, "Password for user %s: ", tui.Safe(user))
	secret, err := term.ReadPassword(os.Stdin.Fd())
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return "", &control.Fault{Kind: control.FaultNoConnection, What: "no password was given",
			Hint: "put it into the passfile (~/.pgpass) to be asked no more", Err: err}
	}
	return string(secret), nil
}

func doctor(ctx context.Context, cmd cli.Command) error {
	cfg, err := connector(ctx, cmd.Conn, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	conn, err := cfg.Connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	report, err := db.Doctor(ctx, conn, db.DoctorOptions{AllowNewer: cmd.Conn.AllowNewer, Now: time.Now})
	if err != nil {
		return err
	}
	if err := printReport(cmd, report); err != nil {
		return err
	}
	if !report.MayWatch {
		return &control.Fault{Kind: control.FaultRefused, What: "watching is not possible here", Hint: "the report says what would mend it"}
	}
	return nil
}

func printReport(cmd cli.Command, report db.Report) error {
	if cmd.JSON {
		return cli.Object(os.Stdout, report)
	}
	findings := make([]cli.Finding, 0, len(report.Findings))
	for _, f := range report.Findings {
		findings = append(findings, cli.Finding{Check: f.Check, State: string(f.State), Detail: f.Detail, Fix: f.Fix})
	}
	return cli.Report(os.Stdout, report.Database, findings, report.Summary)
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server notices by itself when this fails
}

func dashboard(ctx context.Context, cmd cli.Command) error {
	if err := wantsTerminal("shardpilot demo --headless prints lines"); err != nil {
		return err
	}
	log, closeLog, err := logger(cmd.Screen, io.Discard)
	if err != nil {
		return err
	}
	defer closeLog()
	cfg, err := connector(ctx, cmd.Conn, log)
	if err != nil {
		return err
	}
	return watch(ctx, cmd, cfg, log, screen(cmd))
}

// wantsTerminal refuses to draw where nobody could see it.
func wantsTerminal(instead string) error {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return &control.Fault{Kind: control.FaultUsage, What: "the dashboard needs a terminal for its input and output", Hint: instead}
	}
	if t := os.Getenv("TERM"); t == "dumb" || t == "" {
		return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("the terminal (TERM=%q) cannot place text", t),
			Hint: "set TERM to what the terminal is, or " + instead}
	}
	return nil
}

// logger writes to the log file of the screen, or to fallback without one.
func logger(s cli.Screen, fallback io.Writer) (*slog.Logger, func(), error) {
	level := slog.LevelWarn
	if s.Verbose {
		level = slog.LevelDebug
	}
	w, done := fallback, func() {}
	if s.LogFile != "" {
		f, err := os.OpenFile(s.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, &control.Fault{Kind: control.FaultUsage, What: "the log file cannot be opened: " + err.Error(),
				Hint: "choose another with --log-file", Err: err}
		}
		w, done = f, func() { _ = f.Close() }
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), done, nil
}

// demo starts a private PostgreSQL, puts a load on it and watches that.
func demo(ctx context.Context, cmd cli.Command) (err error) {
	headless := cmd.Demo.Headless || cmd.JSON || !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd())
	if !headless {
		if err := wantsTerminal("add --headless"); err != nil {
			return err
		}
	}
	log, closeLog, err := logger(cmd.Screen, io.Discard)
	if err != nil {
		return err
	}
	defer closeLog()
	if cmd.Demo.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmd.Demo.Duration)
		defer cancel()
	}
	say := func(line string) { fmt.Fprintln(os.Stderr, "demo: "+line) }
	server, err := local.Start(ctx, local.Options{Version: cmd.Demo.PG, Bin: cmd.Demo.PGBin, Keep: cmd.Demo.Keep, Log: say,
		Settings: map[string]string{"max_connections": strconv.Itoa(cmd.Demo.Producers + 200)}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	url := server.URL(demoDatabase)
	if err := furnish(ctx, server, say); err != nil {
		return err
	}
	load, err := startLoad(ctx, url, cmd.Demo, log)
	if err != nil {
		return err
	}
	cfg, err := db.Parse(url, db.Options{})
	if err != nil {
		return err
	}
	sink := screen(cmd)
	if headless {
		sink = lines(cmd)
	}
	say("shape " + cmd.Demo.Shape + ", queue " + rehearsal.HotQueue + " under load")
	watched := watch(ctx, cmd, cfg, log, sink)
	return errors.Join(ignoreDeadline(watched), sumUp(load, cmd, headless))
}

const demoDatabase = "demo"

// furnish makes the database and the schema of the demo, unless a kept data
// directory has them already.
func furnish(ctx context.Context, server *local.Server, say func(string)) error {
	admin, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return fmt.Errorf("the demo's own server does not let us in: %w", err)
	}
	defer closeConn(admin)
	var there bool
	if err := admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", demoDatabase).Scan(&there); err != nil {
		return err
	}
	if there {
		say("using the database that was kept")
		return nil
	}
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{demoDatabase}.Sanitize()); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, server.URL(demoDatabase))
	if err != nil {
		return err
	}
	defer closeConn(conn)
	say("installing an Awa-compatible schema")
	return rehearsal.Install(ctx, conn, rehearsal.Options{})
}

func startLoad(ctx context.Context, url string, d cli.Demo, log *slog.Logger) (*rehearsal.Running, error) {
	spec, err := rehearsal.Shape(d.Shape, d.Producers, max(d.Hold, 0))
	if err != nil {
		return nil, err
	}
	for i := range spec.Queues {
		if q := &spec.Queues[i]; q.Name == rehearsal.HotQueue && d.Shards > 0 {
			q.Shards = d.Shards
		}
	}
	spec.OnError = func(i rehearsal.Incident) {
		log.Warn("load", "role", i.Role, "queue", i.Queue, "class", i.Class, "error", i.Err)
	}
	// The load outlives the watching, so that it can be stopped gracefully.
	return rehearsal.Run(context.WithoutCancel(ctx), url, spec)
}

// sumUp ends the load and prints what it did.
func sumUp(load *rehearsal.Running, cmd cli.Command, print bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := load.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // cut off; what was in flight was rolled back
	}
	if !print {
		return err
	}
	stats := load.Stats()
	sum := cli.Summary{Enqueued: int64(stats.Enqueued), Completed: int64(stats.Completed), LaneWaitS: stats.LaneWaitS, BySQL: map[string]int64{}}
	for class, n := range stats.Errors {
		sum.Errors += int64(n)
		sum.BySQL[class] = int64(n)
	}
	return errors.Join(err, stream(cmd).Summary(sum))
}

func ignoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func stream(cmd cli.Command) cli.Stream {
	if cmd.JSON {
		return cli.JSONStream(os.Stdout)
	}
	return cli.TextStream(os.Stdout)
}

// sink takes events until ctx ends or it has had enough.
type sink func(ctx context.Context, events <-chan control.Event) error

func lines(cmd cli.Command) sink {
	return func(ctx context.Context, events <-chan control.Event) error {
		out := stream(cmd)
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case e := <-events:
				if err := out.Event(e); err != nil {
					return err
				}
			}
		}
	}
}

func screen(cmd cli.Command) sink {
	return func(ctx context.Context, events <-chan control.Event) error {
		return tui.Run(ctx, tui.Options{Events: events, Now: time.Now, Label: cmd.Screen.Label, ReadOnly: cmd.Screen.ReadOnly,
			Glyphs: cmd.Screen.Glyphs, Color: cmd.Screen.Color, Interval: cmd.Screen.Interval, LogFile: cmd.Screen.LogFile,
			Input: os.Stdin, Output: os.Stdout})
	}
}

// watch looks at a database once a second and hands what is seen to sink.
func watch(ctx context.Context, cmd cli.Command, cfg *db.Config, log *slog.Logger, to sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := probe.Start(ctx, probe.Config{Connect: cfg.Connect, Where: db.Where, Now: time.Now, Pace: cmd.Run.Pace,
		Discover: func(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
			return db.Discover(ctx, conn, cmd.Conn.AllowNewer)
		}})
	defer p.Close()
	events := make(chan control.Event, 4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pump(ctx, p, events)
	}()
	err := to(ctx, events)
	cancel()
	<-done
	return err
}

func pump(ctx context.Context, p *probe.Probe, events chan<- control.Event) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		e := control.Event{At: time.Now(), ProcessMode: control.ModeShadow}
		s, err := p.Read(ctx)
		if err != nil {
			e.Err = &control.Failure{What: err.Error()}
		} else {
			e.Snapshot = &s
		}
		select {
		case events <- e:
		case <-ctx.Done():
			return
		}
	}
}
