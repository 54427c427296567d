package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// Leader competes for the lead among all processes that watch one database.
//
// Two things together make somebody leader. The lock, two int4 keys held by a
// session of its own, decides who it is: PostgreSQL gives it to one session and
// takes it back when that session ends, however it ends. The epoch, a number in
// shardpilot.leader that grows with every change of leader, is what writes are
// checked against: a process that lost its session and does not know it yet
// writes nothing, because its epoch is an old one.
//
//	       lock taken, epoch written
//	following ─────────────────────▶ leading
//	    ▲  ◀───────────────────────────  │
//	    │   session ended, or no answer  │
//	    │                                │
//	    └──── refused (pooler, standby, ─┘
//	          no schema): asked again, rarely
//
// The session is listened to all the time, so its end is noticed when the
// server or the network says so, and otherwise at the next sign of life. The
// server in turn ends a session that gives none.
type Leader struct {
	cfg  *Config
	opts LeaderOptions

	mu  sync.Mutex
	now control.Leadership
}

// LeaderOptions say who we are. The durations have defaults.
type LeaderOptions struct {
	Name string // operator or service
	Host string // this machine
	PID  int    // this process

	// Every is the pause between signs of life, and between attempts of a
	// follower. Default 2 s.
	Every time.Duration
	// Patience is how long the server waits for a sign of life before it ends
	// our session, so that another can lead. Default 10 s, at least five times
	// Every: with the pause of a follower the lead is empty for 12 s at most.
	Patience time.Duration
	// Rarely is the pause after an attempt that was refused. Default 30 s.
	Rarely time.Duration
	// OnChange is told of every change, from the goroutine of Run. May be nil.
	OnChange func(control.Leadership)
}

// NewLeader makes a Leader that does not compete before Run.
func NewLeader(cfg *Config, o LeaderOptions) *Leader {
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	o.Patience = max(o.Patience, 5*o.Every)
	if o.Rarely <= 0 {
		o.Rarely = 30 * time.Second
	}
	return &Leader{cfg: cfg, opts: o}
}

// Leadership answers from memory. It implements loop.Leader.
func (l *Leader) Leadership() control.Leadership {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *Leader) set(now control.Leadership) {
	l.mu.Lock()
	changed := l.now != now
	l.now = now
	l.mu.Unlock()
	if changed && l.opts.OnChange != nil {
		l.opts.OnChange(now)
	}
}

// processName is how a leader is shown, "" for nobody: several processes of
// one person on one machine are told apart by their number.
func processName(name, host string, pid int) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s@%s[%d]", name, host, pid)
}

// Run competes, leads and follows until ctx ends, then resigns. It returns nil
// then, and a Fault only when no retry can help (a wrong password).
func (l *Leader) Run(ctx context.Context) error {
	defer l.set(control.Leadership{})
	for ctx.Err() == nil {
		err := l.session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		// Whoever led that session does not any more; who does is not known.
		epoch := l.Leadership().Epoch
		l.set(control.Leadership{Epoch: epoch, Refused: refusal(err)})
		pause := l.opts.Every
		if control.ExitCode(err) == int(control.FaultRefused) {
			pause = l.opts.Rarely
		}
		if Fatal(err) {
			return err
		}
		wait(ctx, pause)
	}
	return nil
}

// refusal is why we cannot lead, as opposed to a connection that broke.
func refusal(err error) string {
	var f *control.Fault
	if errors.As(err, &f) && f.Kind == control.FaultRefused {
		return f.What
	}
	return ""
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// session is one connection's life: try until the lead is ours, then keep it.
// It returns when the connection or ctx ends or leading is refused.
func (l *Leader) session(ctx context.Context) error {
	conn, err := l.cfg.Connect(ctx)
	if err != nil {
		return err
	}
	defer l.leave(ctx, conn)
	if err := l.prepare(ctx, conn); err != nil {
		return err
	}
	for ctx.Err() == nil {
		epoch, err := l.TryLead(ctx, conn)
		if err != nil {
			return err
		}
		if epoch > 0 {
			return l.keep(ctx, conn, epoch)
		}
		if err := listen(ctx, conn, l.opts.Every); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes sure that a session can lead, and that it ends when it is not
// heard of.
func (l *Leader) prepare(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	if err := fitToLead(ctx, conn); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, query("leader/patience"), milliseconds(l.opts.Patience), milliseconds(l.beat()/4))
	return interpret(err, "prepare a session that can lead")
}

// leave ends the session, and with it the lock, whatever state it is in.
func (l *Leader) leave(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if lead := l.Leadership(); lead.Leading {
		// Not leading in our own eyes before others can lead in PostgreSQL's.
		l.set(control.Leadership{Epoch: lead.Epoch})
		// Best effort: an old name is only ever shown while another session
		// has the lock and has not written its own yet.
		if !conn.IsClosed() {
			_, _ = conn.Exec(ctx, query("leader/resign"), lead.Epoch)
		}
	}
	_ = conn.Close(ctx)
}

// fitToLead refuses connections whose session locks prove nothing, and
// databases that keep no leader.
func fitToLead(ctx context.Context, conn *pgx.Conn) error {
	pooled, err := Pooled(ctx, conn)
	if err != nil {
		return interpret(err, "find out whether a pooler answers")
	}
	if pooled {
		return refused("a pooler answers in PostgreSQL's stead, and session locks prove nothing there",
			"give the process that shall lead a direct connection to PostgreSQL")
	}
	state, err := SchemaState(ctx, conn)
	if err != nil {
		return interpret(err, "look for the schema shardpilot")
	}
	if !state.Usable() {
		return refused("shardpilot's schema is not installed here in version "+fmt.Sprint(SchemaVersion), "run shardpilot install")
	}
	return nil
}

// TryLead makes one attempt on a connection of its own, which then carries the
// lead. It returns the epoch, or 0 when somebody else leads, whom Leadership
// names.
func (l *Leader) TryLead(ctx context.Context, conn *pgx.Conn) (epoch int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	var got bool
	var pid int32
	if err := conn.QueryRow(ctx, query("leader/try"), lockClass, lockLeader).Scan(&got, &pid); err != nil {
		return 0, interpret(err, "try to lead")
	}
	if !got {
		var who LeaderInfo
		if err := conn.QueryRow(ctx, query("leader/name")).Scan(&who.Epoch, &who.Name, &who.Host, &who.PID); err != nil {
			return 0, interpret(err, "ask who leads")
		}
		now := who.leadership()
		if now.Name == l.name() { // whose end PostgreSQL has not noticed
			now = control.Leadership{Epoch: who.Epoch, Refused: "a former session of this process still has the lead, until PostgreSQL notices that it has ended"}
		}
		l.set(now)
		return 0, nil
	}
	// The backend that took the lock must be the one that is ours.
	if pid != int32(conn.PgConn().PID()) {
		return 0, refused("a pooler answers in PostgreSQL's stead, and session locks prove nothing there",
			"give the process that shall lead a direct connection to PostgreSQL")
	}
	err = inTx(ctx, conn, defaultBounds, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, query("leader/take"), l.opts.Name, l.opts.Host, l.opts.PID, pid).Scan(&epoch)
	})
	if err != nil {
		// The session ends now, so the lock does not stay with somebody who
		// could not sign for it.
		return 0, interpret(err, "write down who leads")
	}
	l.set(control.Leadership{Leading: true, Epoch: epoch, Name: l.name()})
	return epoch, nil
}

// name is ours, as others are told it.
func (l *Leader) name() string { return processName(l.opts.Name, l.opts.Host, l.opts.PID) }

// beat is how long a sign of life may take.
func (l *Leader) beat() time.Duration { return max(l.opts.Every, time.Second) }

// keep gives signs of life until the session or the lead ends. A change that is
// being written holds our row, so that nobody else leads before it is over; a
// sign of life that meets it is left out: the server has heard of us.
func (l *Leader) keep(ctx context.Context, conn *pgx.Conn, epoch int64) error {
	pid := int32(conn.PgConn().PID())
	for {
		if err := listen(ctx, conn, l.opts.Every); err != nil || ctx.Err() != nil {
			return err
		}
		beat, cancel := context.WithTimeout(ctx, l.beat())
		tag, err := conn.Exec(beat, query("leader/renew"), epoch, pid)
		cancel()
		switch {
		case codeOf(err) == "55P03":
		case err != nil:
			return interpret(err, "keep the lead")
		case tag.RowsAffected() == 0:
			return errLeadLost
		}
	}
}

var errLeadLost = errors.New("db: the lead went to somebody else")

// listen waits for d, or for the end of the connection, which it reports.
func listen(ctx context.Context, conn *pgx.Conn, d time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		_, err := conn.WaitForNotification(limit)
		switch {
		case err == nil: // nobody notifies us; whoever does is not heard
		case pgconn.Timeout(err) && !conn.IsClosed(), errors.Is(err, context.Canceled) && !conn.IsClosed():
			return nil
		default:
			return interpret(err, "keep a session open")
		}
	}
}
