package db

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// Connect opens one connection. Its errors are Faults of kind FaultNoConnection
// with a sentence for each cause; Fatal says whether trying again is pointless.
//
// The session's timeouts are set where that is safe (see the package comment);
// behind a pooler the deadline of each context is what holds.
func (c *Config) Connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := c.connect(ctx)
	if c.opts.OnConnect != nil {
		c.opts.OnConnect(err)
	}
	return conn, err
}

// Within is the same place, where the server ends a statement after so long.
func (c *Config) Within(statement time.Duration) *Config {
	other := *c
	other.opts.StatementTimeout = statement
	return &other
}

func (c *Config) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, c.pg.Copy())
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.pg.ConnectTimeout)
	defer cancel()
	if err := c.boundSession(ctx, conn); err != nil {
		return nil, errors.Join(c.explain(ctx, err), conn.Close(ctx))
	}
	return conn, nil
}

func (c *Config) boundSession(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, query("bound_session"), int32(conn.PgConn().PID()),
		milliseconds(c.opts.StatementTimeout), milliseconds(c.opts.LockTimeout), milliseconds(c.opts.IdleTimeout))
	return err
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}

// limits are the timeouts of one transaction.
type limits struct{ Statement, Lock, Idle time.Duration }

// defaultBounds hold for every write of shardpilot's own tables.
var defaultBounds = limits{Statement: DefaultStatementTimeout, Lock: DefaultLockTimeout, Idle: DefaultIdleTimeout}

// inTx runs fn in a transaction whose timeouts are SET LOCAL, and commits when
// fn returns nil. A rollback that fails is reported with fn's error.
//
// The isolation is asked for, for a database or a role may have another default:
// whoever waited for a lock looks again afterwards, and must see what was
// committed meanwhile.
func inTx(ctx context.Context, conn *pgx.Conn, b limits, fn func(pgx.Tx) error) error {
	return inTxWith(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, b, fn)
}

func inTxWith(ctx context.Context, conn *pgx.Conn, o pgx.TxOptions, b limits, fn func(pgx.Tx) error) error {
	tx, err := conn.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, query("bound_transaction"), milliseconds(b.Statement), milliseconds(b.Lock), milliseconds(b.Idle))
	if err == nil {
		err = fn(tx)
	}
	if err == nil {
		return tx.Commit(ctx)
	}
	// A cancelled context must not leave the transaction open on a pooler.
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if rb := tx.Rollback(back); rb != nil && !errors.Is(rb, pgx.ErrTxClosed) && !conn.IsClosed() {
		return errors.Join(err, rb)
	}
	return err
}
