package rehearsal

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	connectTimeout = 30 * time.Second // many connect at once, on a machine that is busy with them
	closeTimeout   = 2 * time.Second
	firstBackoff   = 50 * time.Millisecond
	lastBackoff    = 2 * time.Second
	mostTries      = 200 // for a backend that fits
)

// session is one connection that comes back after it broke. It belongs to one
// goroutine.
type session struct {
	r           *Running
	role        string
	queue       string // for error reports, "" when there is no single one
	application string
	notify      string // "on" or "off"
	conn        *pgx.Conn
	backoff     time.Duration
	fits        func(pid uint32) bool // whether a backend is wanted; nil for any
}

// ready is a working connection, or false when this attempt failed (counted,
// and waited for) or the end was announced.
func (s *session) ready() bool {
	if s.r.over() {
		return false
	}
	if s.conn != nil && !s.conn.IsClosed() {
		return true
	}
	s.drop()
	conn, err := s.connect()
	if err != nil {
		s.failed(err)
		return false
	}
	s.conn = conn
	return true
}

func (s *session) connect() (*pgx.Conn, error) {
	config := s.r.config.Copy()
	config.RuntimeParams["application_name"] = s.application
	conn, err := pgx.ConnectConfig(s.r.ctx, config)
	for tries := 0; err == nil && s.fits != nil && !s.fits(conn.PgConn().PID()) && tries < mostTries && !s.r.over(); tries++ {
		closeQuietly(conn)
		conn, err = pgx.ConnectConfig(s.r.ctx, config)
	}
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(s.r.ctx, statement("run/session.sql"), s.r.storage, s.notify); err != nil {
		closeQuietly(conn)
		return nil, err
	}
	return conn, nil
}

// failed counts err and waits before the next attempt, longer each time.
func (s *session) failed(err error) {
	s.r.report(s.role, s.queue, s.application, err)
	s.backoff = min(max(2*s.backoff, firstBackoff), lastBackoff)
	s.r.pause(s.backoff/2 + rand.N(s.backoff/2))
}

// worked forgets earlier failures.
func (s *session) worked() { s.backoff = 0 }

// drop closes the connection and waits until it is gone.
func (s *session) drop() {
	if s.conn != nil {
		closeQuietly(s.conn)
		s.conn = nil
	}
}

// closeQuietly ends a session whose fate no longer matters. The server notices
// whatever the client fails to say.
func closeQuietly(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // closes our end whatever it returns
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// Classes of errors that carry no SQLSTATE.
const (
	classConnection = "connection"
	classTimeout    = "timeout"
	classStopped    = "stopped"
)

// classify names an error: its SQLSTATE when the server sent one.
func classify(run context.Context, err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	if run.Err() != nil {
		return classStopped
	}
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return classTimeout
	}
	return classConnection
}
