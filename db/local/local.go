// Package local runs a private PostgreSQL for rehearsals and tests: made in a
// temporary folder, on a free loopback port, gone when we are gone.
//
// Between us and PostgreSQL stands a small shell script (supervise.sh). It reads
// words from a pipe that only we can write to. When the pipe closes, on Stop or
// because this process died in whatever way, the script stops PostgreSQL and
// removes the folder:
//
//	shardpilot ──pipe──▶ /bin/sh (own session) ──▶ initdb, then postgres
//
// A machine is shared, a bastion above all: the server listens on 127.0.0.1
// alone, has no unix socket, and its superuser has a random password that stands
// in files of mode 0600 and in memory, never in a list of processes.
package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardpilot/control"
)

const (
	attempts  = 6                     // ports tried before giving up
	poll      = 20 * time.Millisecond // between two looks at whether the server is ready
	stopLimit = 45 * time.Second      // above what the script needs to use force
)

// Options say what server is wanted. The zero value is a temporary one of the
// newest version found, tuned for tests.
type Options struct {
	Version  string            // major version such as "17", "" for the newest found
	Bin      string            // folder of the binaries, from a flag; "" to search
	Keep     string            // folder whose data stays and is used again; "" for a temporary one
	Roots    []string          // folders for a temporary one, tried before the usual ones where they have Room
	Room     int64             // bytes
	Log      func(line string) // told each step; may be nil
	Settings map[string]string // postgresql.conf settings, over the defaults of this package

	MaxConnections int // 0 means 100

	ports func() (int, error) // where to try; for tests of the race for one
}

// Server is a running (or, after StopServer, resting) private PostgreSQL.
type Server struct {
	Port    int
	Dir     string // the folder everything is in
	Version string // such as "17.10"
	Where   string // which binaries, and how they were found

	folder   *folder
	super    *supervisor
	password string
	opts     Options

	mu      sync.Mutex // one change of state at a time
	ended   <-chan int // the exit code of the postmaster last started
	pid     int        // of the postmaster, 0 when it rests
	stopped bool
	stopErr error
}

// Start makes a server and returns when it takes connections. ctx bounds the
// start alone; when it is cancelled nothing is left behind. Errors that an
// operator can mend are *control.Fault.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Log == nil {
		opts.Log = func(string) {}
	}
	if opts.ports == nil {
		opts.ports = freePort
	}
	binaries, err := Find(opts.Version, opts.Bin)
	if err != nil {
		return nil, err
	}
	who, err := runAs()
	if err != nil {
		return nil, err
	}
	opts.Log("using " + binaries.String())
	f, err := lodging(ctx, opts, who)
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: f.path, Version: binaries.Version, Where: binaries.String(), folder: f, opts: opts}
	if err := s.bringUp(ctx, binaries, who); err != nil {
		if stopErr := s.Stop(); stopErr != nil {
			err = errors.Join(err, stopErr)
		}
		return nil, err
	}
	opts.Log(fmt.Sprintf("PostgreSQL %s takes connections on 127.0.0.1:%d", s.Version, s.Port))
	return s, nil
}

func lodging(ctx context.Context, opts Options, who account) (*folder, error) {
	if opts.Keep != "" {
		return kept(ctx, opts.Keep, who, keptLimit)
	}
	return temporary(who, opts.Roots, opts.Room)
}

// bringUp takes a claimed folder to a server that takes connections.
func (s *Server) bringUp(ctx context.Context, b Binaries, who account) error {
	major, err := s.folder.major()
	if err != nil {
		return err
	}
	if major != "" && major != b.Major() {
		return &control.Fault{
			Kind: control.FaultRefused,
			What: fmt.Sprintf("%s holds data of PostgreSQL %s, and the server would be %s", s.Dir, major, b.Version),
			Hint: "name another folder to keep, or ask for PostgreSQL " + major,
		}
	}
	if s.password, err = s.folder.password(); err != nil {
		return err
	}
	reachable, err := who.within(b, s.Dir)
	if err != nil {
		return err
	}
	if s.super, err = supervise(reachable, who, s.Dir, s.folder.keep, s.folder.lock); err != nil {
		return err
	}
	if major == "" {
		s.opts.Log("making a database cluster in " + s.Dir)
		if err := s.initdb(ctx); err != nil {
			return err
		}
	}
	return s.startSomewhere(ctx)
}

func (s *Server) initdb(ctx context.Context) error {
	ended, err := s.super.begin("init")
	if err != nil {
		return err
	}
	select {
	case code := <-ended:
		if code == 0 {
			return nil
		}
		return s.fault(fmt.Sprintf("initdb ended with code %d", code), nil)
	case <-s.super.done:
		return s.fault("initdb could not be run", nil)
	case <-ctx.Done():
		return fmt.Errorf("initdb: %w", ctx.Err())
	}
}

// startSomewhere starts the server on a free port. Between asking the system for
// one and PostgreSQL taking it somebody else can be faster: then another is tried.
func (s *Server) startSomewhere(ctx context.Context) error {
	var err error
	for range attempts {
		if s.Port, err = s.opts.ports(); err != nil {
			return err
		}
		if err = s.start(ctx); err == nil || ctx.Err() != nil || portFree(s.Port) {
			return err
		}
		s.opts.Log(fmt.Sprintf("port %d was taken in the meantime, trying another", s.Port))
	}
	return err
}

// start starts the postmaster on s.Port and waits until it is ready.
func (s *Server) start(ctx context.Context) error {
	if err := s.folder.write("postgresql.conf", s.config()); err != nil {
		return err
	}
	before := s.folder.pidFile()
	ended, err := s.super.begin("start")
	if err != nil {
		return err
	}
	s.ended = ended
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case code := <-ended:
			return s.fault(fmt.Sprintf("PostgreSQL ended with code %d when it was started", code), nil)
		case <-s.super.done:
			return s.fault("PostgreSQL could not be run", nil)
		case <-ctx.Done():
			return fmt.Errorf("start PostgreSQL: %w", ctx.Err())
		case <-tick.C:
			// One that was killed left its file behind, and the file says "ready".
			if now := s.folder.pidFile(); now.ready && now != before {
				s.pid = now.pid
				return nil
			}
		}
	}
}

// fault is what PostgreSQL's own last words explain.
func (s *Server) fault(what string, err error) error {
	hint := "it said nothing"
	if words := s.folder.lastWords(); words != "" {
		hint = "its last words:\n" + words
	}
	return &control.Fault{Kind: control.FaultFailed, What: what, Hint: hint, Err: err}
}

// URL is the superuser's connection string for a database. It holds the password.
func (s *Server) URL(db string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)),
		Path:     "/" + db,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Reach is a connection string without the password, and the passfile that holds
// it, for other programs of this account on this machine.
func (s *Server) Reach(db string) (address, passfile string, err error) {
	host, port := "127.0.0.1", strconv.Itoa(s.Port)
	if err := s.folder.write("passfile", strings.Join([]string{host, port, "*", "postgres", s.password}, ":")+"\n"); err != nil {
		return "", "", err
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort(host, port), Path: "/" + db}
	return u.String(), filepath.Join(s.Dir, "passfile"), nil
}

// Stop ends the server, fast, and removes its folder unless that is kept. A
// second call returns what the first did.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.stopErr
	}
	s.stopped, s.pid = true, 0
	if s.super == nil {
		s.stopErr = s.folder.abandon()
		return s.stopErr
	}
	s.stopErr = errors.Join(s.super.leave(stopLimit), s.folder.lock.Close())
	// With the supervisor killed, either PostgreSQL's own file or the folder is left.
	left := s.folder.pidFile().pid != 0
	if _, err := os.Lstat(s.Dir); err == nil && (left || !s.folder.keep) {
		s.stopErr = errors.Join(s.stopErr, s.folder.clear())
	}
	return s.stopErr
}

// StopServer stops PostgreSQL, fast, and keeps its data for StartAgain.
func (s *Server) StopServer(ctx context.Context) error { return s.rest(ctx, "stop") }

// Crash stops PostgreSQL at once, without a checkpoint, as a crash would; the
// next start recovers. Its data stays.
func (s *Server) Crash(ctx context.Context) error { return s.rest(ctx, "crash") }

func (s *Server) rest(ctx context.Context, word string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopped
	}
	if err := s.super.halt(ctx, word); err != nil {
		return err
	}
	s.pid = 0
	return nil
}

var errStopped = errors.New("the private PostgreSQL was stopped for good")

// StartAgain starts a resting server, or one that died, on the port it had. It
// does nothing when the server runs.
func (s *Server) StartAgain(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice()
	switch {
	case s.stopped:
		return errStopped
	case s.pid != 0:
		return nil
	}
	pause := time.NewTicker(10 * poll)
	defer pause.Stop()
	var err error
	// Processes of a postmaster that was killed hold on for a moment.
	for range attempts {
		if err = s.start(ctx); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
		<-pause.C
	}
	// A start that was given up must not go on behind our back.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if haltErr := s.super.halt(late, "stop"); haltErr != nil {
		err = errors.Join(err, haltErr)
	}
	return err
}

// notice takes note of a postmaster that ended without being asked to.
func (s *Server) notice() {
	select {
	case <-s.ended:
		s.pid = 0
	default:
	}
}

// Restart is StopServer and StartAgain.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.StopServer(ctx); err != nil {
		return err
	}
	return s.StartAgain(ctx)
}

// PID is the postmaster's process id, 0 while the server rests or after it died.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice()
	return s.pid
}

// LogFile is where PostgreSQL writes what it has to say.
func (s *Server) LogFile() string { return filepath.Join(s.Dir, "postgres.log") }

// Ports of private servers lie below those that systems give to connections, of
// which one would get a server's while it rests.
const firstPort, somePorts = 10_000, 10_000

// freePort finds a port nobody listens on.
func freePort() (int, error) {
	for range somePorts {
		if port := firstPort + rand.IntN(somePorts); portFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no port from " + strconv.Itoa(firstPort) + " on is free on 127.0.0.1")
}

// portFree says whether nobody listens on the port.
func portFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
