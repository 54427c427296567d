package db

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// Follower knows who leads and never competes. It implements loop.Leader.
type Follower struct {
	cfg   *Config
	every time.Duration

	mu  sync.Mutex
	now control.Leadership
}

// followEvery is the pause between two looks at who leads.
const followEvery = 2 * time.Second

// NewFollower makes a Follower that knows nothing before Run.
func NewFollower(cfg *Config) *Follower { return &Follower{cfg: cfg, every: followEvery} }

// Leadership answers from memory.
func (f *Follower) Leadership() control.Leadership {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Run looks until ctx ends. While it cannot look, nobody is known to lead.
func (f *Follower) Run(ctx context.Context) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			closeQuietly(conn)
		}
	}()
	for ctx.Err() == nil {
		conn = f.look(ctx, conn)
		wait(ctx, f.every)
	}
	return nil
}

// look asks once, over conn or a new connection, and returns what to use next.
// Without an answer nobody is known to lead: over a network that is dead, the
// old name would stay until TCP gives up.
func (f *Follower) look(ctx context.Context, conn *pgx.Conn) *pgx.Conn {
	var err error
	if conn == nil {
		if conn, err = f.cfg.Connect(ctx); err != nil {
			f.set(control.Leadership{})
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	who, err := WhoLeads(ctx, conn)
	switch {
	case err != nil:
		f.set(control.Leadership{})
		closeQuietly(conn)
		return nil
	case who.Alive:
		f.set(who.leadership())
	default:
		f.set(control.Leadership{Epoch: who.Epoch})
	}
	return conn
}

func (f *Follower) set(now control.Leadership) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}
