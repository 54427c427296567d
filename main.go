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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
	"shardpilot/control/experiment"
	"shardpilot/control/loop"
	"shardpilot/control/plainfile"
	"shardpilot/control/record"
	"shardpilot/db"
	"shardpilot/db/bench"
	"shardpilot/db/rehearsal"
	"shardpilot/db/stage"
	"shardpilot/probe"
	"shardpilot/probe/metrics"
	"shardpilot/probe/notify"
	"shardpilot/tui"
	"shardpilot/tui/cli"
)

// version is stamped by the linker (make build).
var version = "dev"

func main() {
	ctx, stop := cli.UntilSignal()
	err := run(ctx, os.Args[1:])
	stop()
	os.Exit(cli.Finish(ctx, err))
}

// run carries out what the arguments ask for.
func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	cmd, err := cli.Load(args, cli.World{Env: os.LookupEnv, Read: plainfile.ReadSettings, HasSecret: db.HasSecret})
	if err != nil {
		return err
	}
	if cmd.Help {
		return cli.Help(os.Stdout, cmd.Name)
	}
	if cmd.PrintConfig {
		return printConfig(cmd)
	}
	switch cmd.Name {
	case "demo":
		return demo(ctx, cmd)
	case "run":
		return headless(ctx, cmd)
	case "record":
		return recording(ctx, cmd)
	case "replay":
		return cli.Replay(ctx, cmd, time.Now)
	case "backtest":
		return cli.Backtest(os.Stdout, cmd)
	case "doctor":
		return doctor(ctx, cmd)
	case "show":
		return show(ctx, cmd)
	case "set":
		return set(ctx, cmd)
	case "approve", "reject":
		return settleApproval(ctx, cmd)
	case "log":
		return showLog(ctx, cmd)
	case "install":
		return install(ctx, cmd)
	case "uninstall":
		return uninstall(ctx, cmd)
	case "grants":
		return grants(ctx, cmd)
	case "experiment":
		return prove(ctx, cmd)
	case "version":
		return printVersion(cmd)
	case "man":
		return cli.Man(os.Stdout, version)
	case "completion":
		return cli.Completion(os.Stdout, cmd.Shell)
	default:
		return dashboard(ctx, cmd)
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
	cfg, err := db.Parse(c.String, connOptions(c, logged(log)))
	if err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintln(os.Stderr, "shardpilot: "+tui.Safe(w))
	}
	conn, err := cfg.Connect(ctx)
	if err != nil && db.NeedsPassword(err) && cli.CanAskPassword() {
		password, askErr := cli.AskPassword(ctx, os.Stdin, os.Stderr, cfg.User())
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

// connOptions adds what flags say of the connection.
func connOptions(c cli.Conn, opts db.Options) db.Options {
	opts.Host, opts.User, opts.Database, opts.FlagsWin = c.Host, c.User, c.DBName, c.Weak
	if c.Port != 0 {
		opts.Port = strconv.Itoa(c.Port)
	}
	return opts
}

// printConfig prints the settings in effect, and connects to nothing.
func printConfig(cmd cli.Command) error {
	opts := connOptions(cmd.Conn, db.Options{})
	public, err := db.Public(cmd.Conn.String, opts)
	if err != nil {
		return err
	}
	to := ""
	if cmd.Name != "demo" {
		cfg, err := db.Parse(cmd.Conn.String, opts)
		if err != nil {
			return err
		}
		to = cfg.String()
	}
	return cli.PrintConfig(os.Stdout, cmd, public, to, db.HasSecret(cmd.Conn.String))
}

// logged are options by which what happens to connections gets into the log.
func logged(log *slog.Logger) db.Options {
	return db.Options{
		OnNotice: func(n *pgconn.Notice) {
			log.Info("notice", "severity", n.Severity, "code", n.Code, "message", n.Message)
		},
		OnConnect: func(err error) {
			var f *control.Fault
			switch {
			case err == nil:
				log.Debug("connected")
			case errors.As(err, &f):
				log.Warn("not connected", "error", f.What, "hint", f.Hint)
			case !errors.Is(err, context.Canceled):
				log.Warn("not connected", "error", err)
			}
		},
	}
}

func doctor(ctx context.Context, cmd cli.Command) error {
	return with(ctx, cmd, func(ctx context.Context, conn *pgx.Conn) error {
		report, err := db.Doctor(ctx, conn, db.DoctorOptions{AllowNewer: cmd.Conn.AllowNewer, Now: time.Now, Command: cmd.Conn.CommandLine})
		if err != nil {
			return err
		}
		if err := printReport(cmd, report); err != nil {
			return err
		}
		return report.Allows(db.Level(cmd.Act.Level))
	})
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
	if err := cli.WantsTerminal("shardpilot show prints where queues stand, shardpilot run goes on without a screen"); err != nil {
		return err
	}
	return logging(ctx, cmd, io.Discard, func(cfg *db.Config, log *slog.Logger) error {
		return watch(ctx, cmd, cfg, log, !cmd.Screen.ReadOnly, screen(cmd))
	})
}

// headless is the controller without a screen, for a service manager: lines on
// standard output, and an orderly end, which is no failure, on a signal.
func headless(ctx context.Context, cmd cli.Command) error {
	_, stopHangups := cli.Hangups() // they end nothing, from the start on
	defer stopHangups()
	err := logging(ctx, cmd, os.Stderr, func(cfg *db.Config, log *slog.Logger) error {
		return watch(ctx, cmd, cfg, log, true, printed(cmd, &cli.Summary{}))
	})
	var sig *cli.Signalled
	if errors.As(err, &sig) {
		fmt.Fprintln(os.Stderr, "shardpilot: "+sig.Error())
		return cli.ErrEnded
	}
	return err
}

// recording watches without a screen, leads nothing, and writes what it sees
// to a file. A signal is its ordinary end.
func recording(ctx context.Context, cmd cli.Command) error {
	var status func() record.Status
	err := logging(ctx, cmd, io.Discard, func(cfg *db.Config, log *slog.Logger) error {
		ctx, cancel := atMost(ctx, cmd.Demo.Duration)
		defer cancel()
		return watch(ctx, cmd, cfg, log, false, func(ctx context.Context, s *station, events <-chan control.Event) error {
			status = s.recorder.Status
			return cli.Recording(ctx, s.recorder, events)
		})
	})
	if status != nil {
		err = errors.Join(cli.IgnoreDeadline(err), cli.Recorded(os.Stdout, status(), time.Now(), cmd.JSON))
	}
	if err != nil && cli.Ended(err) {
		return cli.ErrEnded
	}
	return err
}

// logging opens the log, which goes to otherwise where no file is named,
// connects, and hands both to do.
func logging(ctx context.Context, cmd cli.Command, otherwise io.Writer, do func(*db.Config, *slog.Logger) error) error {
	log, closeLog, err := cmd.Screen.Logger(otherwise)
	if err != nil {
		return err
	}
	defer closeLog()
	cfg, err := connector(ctx, cmd.Conn, log)
	if err != nil {
		return err
	}
	return noted(log, do(cfg, log))
}

// noted writes the cause of a Fault, which is not for the terminal, to the log.
func noted(log *slog.Logger, err error) error {
	var f *control.Fault
	if errors.As(err, &f) && f.Err != nil {
		log.Error(f.What, "cause", f.Err)
	}
	return err
}

// atMost ends ctx after d, if d is any.
func atMost(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return context.WithCancel(ctx)
}

// demo puts a load on a private PostgreSQL and watches that.
func demo(ctx context.Context, cmd cli.Command) (err error) {
	headless := cmd.Demo.Headless || cmd.JSON || !cli.HasTerminal()
	if !headless {
		if err := cli.WantsTerminal("add --headless"); err != nil {
			return err
		}
	}
	log, closeLog, err := cmd.Screen.Logger(io.Discard)
	if err != nil {
		return err
	}
	defer closeLog()
	who, host := cli.Who()
	d := cmd.Demo
	set, err := stage.Open(ctx, stage.Options{Shape: d.Shape, PG: d.PG, PGBin: d.PGBin, Keep: d.Keep, Producers: d.Producers,
		Hold: d.Hold, Shards: d.Shards, Enforced: cmd.Run.Mode == string(control.ModeEnforced), By: who + "@" + host,
		Connect: logged(log), Now: time.Now, Say: func(line string) { fmt.Fprintln(os.Stderr, "demo: "+line) },
		OnError: func(i rehearsal.Incident) {
			log.Warn("load", "role", i.Role, "queue", i.Queue, "class", i.Class, "error", i.Err)
		}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	cmd.Screen.Reach = cli.Conn{String: set.Address}.CommandLineWith(set.Passfile, "show")
	fmt.Fprintln(os.Stderr, "demo: from another terminal: "+cmd.Screen.Reach)
	ctx, cancel := atMost(ctx, d.Duration)
	defer cancel()
	if !headless {
		return cli.IgnoreDeadline(noted(log, watch(ctx, cmd, set.Config, log, true, screen(cmd))))
	}
	sum := cli.Summary{BySQL: map[string]int64{}}
	err = cli.IgnoreDeadline(noted(log, watch(ctx, cmd, set.Config, log, true, printed(cmd, &sum))))
	stats, stopErr := set.Stop()
	sum.Enqueued, sum.Completed, sum.LaneWaitS = int64(stats.Enqueued), int64(stats.Completed), stats.LaneWaitS
	for class, n := range stats.Errors {
		sum.Errors += int64(n)
		sum.BySQL[class] = int64(n)
	}
	return errors.Join(err, stopErr, cmd.Stream().Summary(sum))
}

// sink takes events until ctx ends or it has had enough.
type sink func(ctx context.Context, s *station, events <-chan control.Event) error

func printed(cmd cli.Command, sum *cli.Summary) sink {
	return func(ctx context.Context, _ *station, events <-chan control.Event) error {
		return cmd.Lines(ctx, events, sum)
	}
}

func screen(cmd cli.Command) sink {
	return func(ctx context.Context, s *station, events <-chan control.Event) error {
		who, host := cli.Who()
		o := cmd.Screen.Options()
		o.Events, o.Do, o.Actor, o.Host, o.Now = events, s.runner.Do, who, host, time.Now
		o.Input, o.Output, o.Recorder = os.Stdin, os.Stdout, cli.ByKey(s.recorder, time.Now)
		return tui.Run(ctx, o)
	}
}

// station is one process's view of a database: the probe that looks, the
// memory it shares with others, and the runner over both.
type station struct {
	runner   *loop.Runner
	probe    *probe.Probe
	tick     *time.Ticker
	store    *db.Store // nil when nothing is kept
	cfg      *db.Config
	gate     *db.Gate // nil with the store
	shows    *metrics.Exposition
	follower *db.Follower // nil unless read-only
	leader   *db.Leader   // nil for a command, which leads nothing
	recorder *record.Recorder
	unfiled  func(error) // told when a recording fails, which nothing else does
	log      *slog.Logger

	policy      string        // file of the controller's numbers, "" for none
	rules       control.Rules // of it, or the defaults, as in force but for the pace
	pace        float64
	hangups     <-chan os.Signal // nil where they end the process
	stopHangups func()
}

// open looks whether the database has shardpilot's schema and puts a station
// together. Nothing runs before its run.
func open(ctx context.Context, cmd cli.Command, cfg *db.Config, log *slog.Logger, leads bool) (*station, error) {
	rules, err := cli.ReadPolicy(cmd.Run.Policy, plainfile.ReadSettings)
	if err != nil {
		return nil, err
	}
	memory, err := cfg.WatchOnly(ctx)
	if err != nil {
		return nil, err
	}
	shows, err := metrics.Expose(metrics.Addresses{Metrics: cmd.Run.MetricsListen, Health: cmd.Run.HealthListen, Push: pushes(cmd, log)},
		metrics.Options{TopQueues: cmd.Run.MetricsQueues, Version: version, GoVersion: runtime.Version(), Now: time.Now},
		notify.New(os.Getenv, os.Getpid()))
	if err != nil {
		return nil, err
	}
	pace := max(cmd.Run.Pace, 1)
	paced := rules.Pace(pace)
	s := &station{cfg: cfg, shows: shows, log: log, rules: rules, pace: pace, policy: cmd.Run.Policy, tick: time.NewTicker(max(time.Duration(float64(time.Second)/pace), quickestTick))}
	conf := loop.Config{Policy: paced.Policy, Queues: paced.Queues, Process: control.Mode(cmd.Run.Mode), Memory: memory,
		Tick: s.tick.C, Now: time.Now}
	if cmd.Name == "experiment" {
		conf.Policy = bench.Policy(pace)
	}
	if leads && conf.Process == control.ModeEnforced && cmd.Name != "experiment" {
		for _, short := range control.Shortfalls() {
			log.Info("enforced falls short of the best fixed count", "where", short.Load, "why", short.Why)
		}
	}
	s.recorder = record.NewRecorder(record.Options{Program: version, Process: conf.Process, Pace: pace, Policy: conf.Policy,
		Limits: record.Limits{Bytes: int64(cmd.Record.MaxSize)}, Hash: cmd.Record.Hash, Now: time.Now})
	s.unfiled = func(err error) { log.Error("recording", "error", err) }
	if cmd.Record.File != "" {
		if err := s.recorder.Start(cmd.Record.File); err != nil {
			s.tick.Stop()
			shows.Close()
			return nil, err
		}
	}
	if memory == "" {
		who, host := cli.Who()
		switch {
		case leads:
			s.leader = db.NewLeader(cfg, db.LeaderOptions{Name: who, Host: host, PID: os.Getpid(),
				OnChange: func(l control.Leadership) {
					log.Info("leadership", "leading", l.Leading, "epoch", l.Epoch, "leader", l.Name, "refused", l.Refused)
				}})
			conf.Leader = s.leader
		case cmd.Name == "dashboard", cmd.Name == "record": // read-only: it wants to know whom it follows
			s.follower = db.NewFollower(cfg)
			conf.Leader = s.follower
		}
		s.store = db.NewStore(cfg, conf.Leader)
		s.gate = db.NewGate(cfg, conf.Leader, db.GateOptions{AllowNewerAwa: cmd.Conn.AllowNewer, Policy: conf.Policy, Mode: conf.Process})
		s.gate.Use(paced)
		conf.Store, conf.Gate = s.store, s.gate
	}
	s.probe = probe.Start(ctx, probe.Config{Connect: cfg.Within(probe.LookLimit).Connect,
		ConnectSlow: cfg.Within(probe.SlowLimit).Connect, Now: time.Now, Pace: pace, BaseHz: min(4*pace, quickestLook),
		MaxCost: min(0.02*pace, 0.1),
		Where: func(ctx context.Context, conn *pgx.Conn) (control.Database, error) {
			where, err := db.Where(ctx, conn)
			where.Label = cmd.Screen.Label
			return where, err
		},
		Discover: func(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
			return db.Discover(ctx, conn, cmd.Conn.AllowNewer)
		}})
	conf.Read = s.probe.Read
	if s.runner, err = loop.New(conf); err != nil {
		s.close()
		return nil, err
	}
	if s.policy != "" {
		shows.PolicyRead(nil)
	}
	if cmd.Name == "run" {
		s.hangups, s.stopHangups = cli.Hangups()
	}
	return s, nil
}

// reload reads the policy file again at each SIGHUP, until ctx ends.
func (s *station) reload(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hangups:
		}
		if s.policy == "" {
			s.log.Info("SIGHUP: nothing to read again without --policy")
			continue
		}
		changes, err := s.reread(ctx)
		s.shows.PolicyRead(err)
		var f *control.Fault
		switch {
		case errors.As(err, &f):
			s.log.Error("policy not read again, the numbers before stay in force", "file", s.policy, "error", f.What)
		case err == nil:
			s.log.Info("policy read again", "file", s.policy, "changes", changes)
		}
	}
}

// reread puts what the policy file says now in force, and says what changed.
func (s *station) reread(ctx context.Context) (changes []string, err error) {
	rules, err := cli.ReadPolicy(s.policy, plainfile.ReadSettings)
	if err != nil {
		return nil, err
	}
	paced := rules.Pace(s.pace)
	if err := s.runner.Use(ctx, paced); err != nil {
		return nil, err
	}
	if s.gate != nil {
		s.gate.Use(paced)
	}
	changes, s.rules = rules.Changes(s.rules), rules
	return changes, nil
}

// pushes is where metrics are sent to, by processes that stay: a command that
// comes and goes has nothing to tell.
func pushes(cmd cli.Command, log *slog.Logger) *metrics.OTLP {
	if cmd.Run.Mode == "" || cmd.Name == "experiment" {
		return nil
	}
	who, host := cli.Who()
	return &metrics.OTLP{Endpoint: cmd.Run.OTLPEndpoint, Instance: fmt.Sprintf("%s@%s[%d]", who, host, os.Getpid()), Log: log}
}

// A rehearsal's pace shortens windows; these bound how much more often it
// looks, since a look costs what it costs.
const (
	quickestTick = 250 * time.Millisecond
	quickestLook = 8.0 // looks a second
)

// run works until ctx ends and joins everything.
func (s *station) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var led, ran, shown, pruned, filed, reloaded error
	seen, unsubscribe := s.runner.Subscribe(8)
	defer unsubscribe()
	part := func(what string, ended *error, f func() error) {
		wg.Go(func() {
			if *ended = control.Guard(what, f); errors.Is(*ended, control.ErrDefect) {
				cancel()
			}
		})
	}
	told, untell := s.runner.Subscribe(64) // a disk may be slow for a while
	defer untell()
	part("recording", &filed, func() error { s.recorder.Run(ctx, told, s.unfiled); return nil })
	part("showing metrics", &shown, func() error { return s.shows.Run(ctx, seen) })
	if s.leader != nil {
		part("leading", &led, func() error { return s.leader.Run(ctx) })
		part("pruning", &pruned, func() error {
			db.KeepPruned(ctx, s.cfg, s.leader, func(err error) { s.log.Warn("the decision log was not pruned", "error", err) })
			return nil
		})
	}
	if s.follower != nil {
		part("following", &led, func() error { return s.follower.Run(ctx) })
	}
	if s.hangups != nil {
		part("reading the policy", &reloaded, func() error { s.reload(ctx); return nil })
	}
	ran = control.Guard("the controller", func() error { return s.runner.Run(ctx) })
	cancel()
	wg.Wait()
	return errors.Join(ran, led, shown, pruned, filed, reloaded)
}

func (s *station) close() {
	s.tick.Stop()
	if s.hangups != nil {
		s.stopHangups()
	}
	s.shows.Close()
	s.probe.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.store != nil {
		_ = s.store.Close(ctx)
		_ = s.gate.Close(ctx)
	}
}

// watch runs a station and hands what it sees to sink until either ends.
func watch(ctx context.Context, cmd cli.Command, cfg *db.Config, log *slog.Logger, leads bool, to sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := open(ctx, cmd, cfg, log, leads)
	if err != nil {
		return err
	}
	defer s.close()
	events, unsubscribe := s.runner.Subscribe(8)
	defer unsubscribe()
	var ran error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if ran = s.run(ctx); ran != nil {
			cancel() // nothing is to be seen any more
		}
	}()
	err = to(ctx, s, events)
	left := s.leaving(control.Mode(cmd.Run.Mode))
	cancel()
	<-done
	if left != "" && cmd.Name != "demo" && cmd.Name != "experiment" { // these take their database along
		fmt.Fprintln(os.Stderr, "shardpilot: "+left)
	}
	if ran != nil {
		return ran // what the screen says of its end follows from that
	}
	return err
}

// leaving says what stops with us if we led and acted, "" when nothing does.
func (s *station) leaving(process control.Mode) string {
	e, ok := s.runner.Newest()
	if s.leader == nil || process != control.ModeEnforced || !s.leader.Leadership().Leading || !ok || e.Snapshot == nil {
		return ""
	}
	return cli.Leaving(cli.Place(e), e.Decisions)
}

// observe runs a station that leads nothing until it has seen enough, and
// hands the newest event to use while the station still runs.
func observe(ctx context.Context, cmd cli.Command, cfg *db.Config, enough func(control.Event) bool,
	use func(context.Context, *loop.Runner, control.Event) error) error {
	limit := time.NewTimer(observeLimit) // of looking; a person who is asked may take longer
	defer limit.Stop()
	seen := false
	return watch(ctx, cmd, cfg, slog.New(slog.DiscardHandler), false, func(ctx context.Context, s *station, events <-chan control.Event) error {
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-limit.C:
				if seen {
					return cli.TooLittle(cmd.Act.Queue, observeLimit)
				}
				return &control.Fault{Kind: control.FaultNoConnection, What: "the database gave no reading within " + observeLimit.String(),
					Hint: "shardpilot doctor tells what is in the way"}
			case e := <-events:
				if e.Err != nil && e.Err.Fatal {
					return &control.Fault{Kind: control.FaultNoConnection, What: e.Err.What, Hint: e.Err.Hint}
				}
				seen = seen || e.Snapshot != nil
				if e.Snapshot != nil && enough(e) {
					return use(ctx, s.runner, e)
				}
			}
		}
	})
}

// observeLimit bounds a command that looks before it speaks.
const observeLimit = time.Minute

// show prints what queues are at after a look of a few seconds.
func show(ctx context.Context, cmd cli.Command) error {
	cfg, err := connector(ctx, cmd.Conn, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	seen := 0
	return observe(ctx, cmd, cfg, func(e control.Event) bool {
		seen++
		// The first has no rates, the second few samples.
		return seen >= 3 && (cli.Sampled(e) || seen >= 8) && (!cmd.Measuring(e) || seen >= 12) || !e.Snapshot.Awa.MayWatch
	}, func(ctx context.Context, _ *loop.Runner, e control.Event) error {
		if err := cli.Unwatchable(e); err != nil {
			return err
		}
		rows, err := rowsOf(ctx, cfg, e, cmd)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return cli.Object(os.Stdout, map[string]any{"at": e.Snapshot.At.UTC(), "awa": e.Snapshot.Awa, "memory": e.Memory, "queues": rows})
		}
		if awa := e.Snapshot.Awa; !awa.MayWrite {
			fmt.Fprintln(os.Stderr, tui.SafeLines(awa.Sentence+"\n"+awa.Hint))
		}
		if e.Memory != cli.InDatabase {
			fmt.Fprintln(os.Stderr, e.Memory)
		}
		return cli.Show(os.Stdout, rows, e.Snapshot.At)
	})
}

// rowsOf joins what was seen with what is kept.
func rowsOf(ctx context.Context, cfg *db.Config, e control.Event, cmd cli.Command) ([]cli.Row, error) {
	kept := map[string]db.Shown{}
	if e.Memory == cli.InDatabase {
		conn, err := cfg.Connect(ctx)
		if err != nil {
			return nil, err
		}
		defer closeConn(conn)
		all, err := db.Show(ctx, conn, e.Snapshot.Awa, cmd.Act.Queue)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			kept[s.Queue] = s
		}
	}
	rows := []cli.Row{}
	for _, r := range e.Snapshot.Readings {
		if cmd.Act.Queue != "" && r.Queue != cmd.Act.Queue {
			continue
		}
		k := kept[r.Queue]
		rows = append(rows, cli.Row{Reading: r, TakeUp: control.TakeUpOf(r.ProducerList), Producers: append([]control.Producer{}, r.ProducerList...), Policy: k.Policy, Mode: k.Policy.Mode(control.ModeEnforced), Pending: k.Pending, Last: k.Last})
	}
	if cmd.Act.Queue != "" && len(rows) == 0 {
		return nil, cli.NoQueue(cmd.Act.Queue)
	}
	return rows, nil
}

// set changes what the controller may do with a queue, or its count.
func set(ctx context.Context, cmd cli.Command) error {
	cfg, err := forHand(ctx, cmd)
	if err != nil {
		return err
	}
	said := false
	enough := func(d control.Decision, looks int) bool {
		can := cmd.Act.CanCompare(d, looks)
		if !can && !said {
			said = true
			fmt.Fprintf(os.Stderr, "looking at %s for %d s, for figures that the change is compared with\n", tui.Safe(cmd.Act.Queue), cli.SetLooks)
		}
		return can
	}
	return byHand(ctx, cmd, cfg, enough, func(ctx context.Context, r *loop.Runner, e control.Event, now control.Decision) error {
		if err := cmd.Agree(ctx, cmd.Act.Consequences(cli.Place(e), now.From, now.Undo)); err != nil {
			return err
		}
		who, host := cli.Who()
		for _, c := range cmd.Act.Commands(who, host) {
			if c.Verb == control.VerbOverride && cmd.Act.Manual == now.From {
				continue // manual at the count it has
			}
			c.From = now.From
			if c.Verb == control.VerbUndo {
				c.From, c.To = now.Undo.From, now.Undo.To
			}
			if err := cmd.CarryOut(ctx, r.Do, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// settleApproval approves or rejects the pending step. An approval is checked
// against what the queue does now, so it looks for a few seconds first.
func settleApproval(ctx context.Context, cmd cli.Command) error {
	cfg, err := forHand(ctx, cmd)
	if err != nil {
		return err
	}
	if err := db.AnyPending(ctx, cfg, cmd.Act.Queue); err != nil {
		return err
	}
	verb, enough := control.Verb(cmd.Name), func(control.Decision, int) bool { return true }
	if verb == control.VerbApprove && !cmd.Act.Force {
		enough = cli.CanJudge
		fmt.Fprintf(os.Stderr, "looking at %s for %d s, to see whether the evidence still holds\n", tui.Safe(cmd.Act.Queue), cli.ApproveLooks)
	}
	var meant *control.Pending // the step that was pending when the look began
	first := func(d control.Decision, looks int) bool {
		if meant == nil {
			meant = d.Step
		}
		return enough(d, looks)
	}
	return byHand(ctx, cmd, cfg, first, func(ctx context.Context, r *loop.Runner, e control.Event, now control.Decision) error {
		if now.Step == nil && meant != nil { // somebody was quicker; the answer says who
			now.Step = meant
		} else if now.Step == nil {
			return &control.Fault{Kind: control.FaultRefused, What: "no step of this queue is pending", Hint: "shardpilot show tells where it stands"}
		}
		if err := cmd.Agree(ctx, cli.StepWords(string(verb), cli.Place(e), *now.Step, e.Snapshot.At)); err != nil {
			return err
		}
		who, host := cli.Who()
		return cmd.CarryOut(ctx, r.Do, control.Command{Verb: verb, Queue: cmd.Act.Queue, Actor: who, Host: host, Why: cmd.Act.Why,
			Force: cmd.Act.Force, Expect: now.Step.Generation, From: now.From})
	})
}

// forHand connects where policies are kept.
func forHand(ctx context.Context, cmd cli.Command) (*db.Config, error) {
	cfg, err := connector(ctx, cmd.Conn, slog.New(slog.DiscardHandler))
	if err == nil {
		err = wantsMemory(ctx, cfg)
	}
	return cfg, err
}

// byHand looks at a queue until it was seen often enough, and lets a person
// act on what it is at.
func byHand(ctx context.Context, cmd cli.Command, cfg *db.Config, enough func(d control.Decision, looks int) bool,
	do func(context.Context, *loop.Runner, control.Event, control.Decision) error) error {
	looks := 0
	return observe(ctx, cmd, cfg, func(e control.Event) bool {
		looks++
		i := slices.IndexFunc(e.Decisions, func(d control.Decision) bool { return d.Queue == cmd.Act.Queue })
		return e.Memory == cli.InDatabase && (i < 0 || enough(e.Decisions[i], looks))
	}, func(ctx context.Context, r *loop.Runner, e control.Event) error {
		i := slices.IndexFunc(e.Decisions, func(d control.Decision) bool { return d.Queue == cmd.Act.Queue })
		if err := cli.Unwatchable(e); err != nil {
			return err
		}
		if i < 0 {
			return cli.NoQueue(cmd.Act.Queue)
		}
		return do(ctx, r, e, e.Decisions[i])
	})
}

func wantsMemory(ctx context.Context, cfg *db.Config) error {
	why, err := cfg.WatchOnly(ctx)
	if err == nil && why != "" {
		err = &control.Fault{Kind: control.FaultRefused, What: "policies are kept in the schema shardpilot, which cannot be used here (" + why + ")",
			Hint: "shardpilot install makes it"}
	}
	return err
}

// prove plays the gate's loads under fixed counts and under the controller, and
// says whether the controller keeps up with the best of them.
func prove(ctx context.Context, cmd cli.Command) (err error) {
	if len(cmd.Experiment.Sweep) > 0 {
		return cmd.Sweep(ctx, os.Stdout)
	}
	plan := cmd.Experiment.Plan(version)
	facts := append(experiment.MachineFacts(), experiment.Fact{Name: "Date", Text: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		experiment.Fact{Name: "Versions", Text: "shardpilot " + version + ", " + runtime.Version()},
		experiment.Fact{Name: "Command", Text: strings.Join(append([]string{"shardpilot experiment"}, cmd.Flags...), " ")})
	if cmd.Experiment.Simulate {
		plan.Bench = "simulator"
		return cmd.Prove(ctx, cli.Simulator(), plan, facts, time.Now)
	}
	b, err := openBench(ctx, cmd, plan)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	plan.Bench = b.Name()
	return cmd.Prove(ctx, b, plan, append(facts, experiment.Fact{Name: "Server", Text: b.Server()}), time.Now)
}

// openBench is a private PostgreSQL, or the database that was named.
func openBench(ctx context.Context, cmd cli.Command, plan experiment.Plan) (*bench.Bench, error) {
	who, host := cli.Who()
	cmd.Run.Mode, cmd.Run.MetricsQueues = string(control.ModeEnforced), 1
	o := bench.Options{Slow: plan.Slow, Max: plan.Max, By: who + "@" + host, Now: time.Now,
		Control: func(ctx context.Context, cfg *db.Config, pace float64, ready func()) error {
			cmd := cmd
			cmd.Run.Pace = pace
			return watch(ctx, cmd, cfg, slog.New(slog.DiscardHandler), true, func(ctx context.Context, _ *station, events <-chan control.Event) error {
				for e := range events {
					if slices.ContainsFunc(e.Decisions, bench.Ready) {
						ready()
					}
				}
				return nil
			})
		}}
	if !cmd.Experiment.AllowLoad {
		return bench.Own(ctx, bench.Private{PG: cmd.Demo.PG, PGBin: cmd.Demo.PGBin, Durable: !plan.Quick, Awa: cmd.Experiment.Awa,
			Say: func(line string) { fmt.Fprintln(os.Stderr, "experiment: "+line) }}, o)
	}
	cfg, err := connector(ctx, cmd.Conn, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	b, err := bench.On(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	if err := cmd.Agree(ctx, b.Intent(experiment.Expected(plan.Jobs()))); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// with connects, hands the connection to do and closes it.
func with(ctx context.Context, cmd cli.Command, do func(context.Context, *pgx.Conn) error) error {
	cfg, err := connector(ctx, cmd.Conn, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	conn, err := cfg.Connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	return do(ctx, conn)
}

func showLog(ctx context.Context, cmd cli.Command) error {
	return with(ctx, cmd, func(ctx context.Context, conn *pgx.Conn) error {
		a := cmd.Act
		f := db.LogFilter{Queue: a.Queue, Since: a.Since, Until: a.Until, By: a.By}
		for _, k := range a.Kinds {
			f.Kinds = append(f.Kinds, control.LogKind(k))
		}
		entries, err := db.ReadLog(ctx, conn, f, a.Limit)
		if err != nil {
			return err
		}
		if len(entries) == 0 && cmd.Act.Queue != "" {
			if err := db.KnownQueue(ctx, conn, cmd.Act.Queue); err != nil {
				return err
			}
		}
		return cli.Log(os.Stdout, entries, cmd.JSON)
	})
}

func install(ctx context.Context, cmd cli.Command) error {
	return with(ctx, cmd, func(ctx context.Context, conn *pgx.Conn) error {
		inst, err := db.Discover(ctx, conn, cmd.Conn.AllowNewer)
		if err != nil {
			return err
		}
		if inst.State == control.AwaNotInstalled {
			return &control.Fault{Kind: control.FaultRefused, What: "there is no Awa in database " + conn.Config().Database,
				Hint: "install shardpilot's schema in the database that has the schema awa"}
		}
		if err := cmd.Agree(ctx, "Make the schema shardpilot in database "+cmd.Called(conn.Config().Database)+"? Awa's tables are not touched."); err != nil {
			return err
		}
		before, err := db.Install(ctx, conn)
		if err != nil {
			return err
		}
		words := fmt.Sprintf("the schema shardpilot is there, version %d", db.SchemaVersion)
		if before == db.SchemaVersion {
			words += "; it was already"
		}
		return cmd.Say(words, map[string]any{"version": db.SchemaVersion, "before": before})
	})
}

func uninstall(ctx context.Context, cmd cli.Command) error {
	return with(ctx, cmd, func(ctx context.Context, conn *pgx.Conn) error {
		if err := cmd.Agree(ctx, "Remove the schema shardpilot from database "+cmd.Called(conn.Config().Database)+
			", with every policy and the whole decision log? Shard counts stay as they are."); err != nil {
			return err
		}
		removed, err := db.Uninstall(ctx, conn, cmd.Act.Force)
		if err != nil {
			return err
		}
		words := "the schema shardpilot is gone"
		if !removed {
			words = "there was no schema shardpilot"
		}
		return cmd.Say(words, map[string]any{"removed": removed})
	})
}

func grants(ctx context.Context, cmd cli.Command) error {
	return with(ctx, cmd, func(ctx context.Context, conn *pgx.Conn) error {
		inst, err := db.Discover(ctx, conn, cmd.Conn.AllowNewer)
		if err != nil {
			return err
		}
		role := cmd.Act.Role
		if role == "" {
			role = conn.Config().User
		}
		list, err := db.Grants(ctx, conn, role, db.Level(cmd.Act.Level), inst)
		if err != nil {
			return err
		}
		exists, err := db.RoleExists(ctx, conn, role)
		if err != nil {
			return err
		}
		if !exists {
			fmt.Fprintf(os.Stderr, "shardpilot: there is no role %s on this server; make it before you grant it anything\n", tui.Safe(strconv.Quote(role)))
		}
		return cmd.Say(strings.Join(list, "\n"), map[string]any{"role": role, "role_exists": exists, "level": cmd.Act.Level, "statements": list})
	})
}
