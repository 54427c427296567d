package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
)

// storeLimit bounds one call of a Store whose context has no nearer end.
const storeLimit = 15 * time.Second

// Store keeps policies, the log and pending steps in shardpilot's schema. It
// opens its connection when it needs one and again after it broke. One
// goroutine at a time may use it.
type Store struct {
	cfg  *Config
	lead loop.Leader
	conn *pgx.Conn
}

// NewStore makes a Store. What the controller writes by itself is tied to lead:
// refused without leadership, and checked against the epoch in the same
// transaction. lead may be nil for a process that only carries a person's
// words, such as a command.
func NewStore(cfg *Config, lead loop.Leader) *Store { return &Store{cfg: cfg, lead: lead} }

// Close closes the connection, if there is one.
func (s *Store) Close(ctx context.Context) error {
	if s.conn == nil {
		return nil
	}
	conn := s.conn
	s.conn = nil
	return conn.Close(ctx)
}

// on runs fn with a connection and lets go of one that broke.
func (s *Store) on(ctx context.Context, doing string, fn func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := s.cfg.Connect(ctx)
		if err != nil {
			return err
		}
		s.conn = conn
	}
	err := interpret(fn(ctx, s.conn), doing)
	if s.conn.IsClosed() {
		s.conn = nil
	}
	return err
}

// Load implements loop.Store. When nothing is newer it costs one index look-up.
// A log whose newest entry is older than after was made anew: it is read from
// the start.
func (s *Store) Load(ctx context.Context, after int64) (loop.Saved, error) {
	var saved loop.Saved
	err := s.on(ctx, "read policies and the decision log", func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, query("store/last")).Scan(&saved.Last); err != nil || saved.Last == after {
			return err
		}
		// One snapshot for all tables: entries and rows must not tell two stories.
		return inTxWith(ctx, conn, snapshotOnly, defaultBounds, func(tx pgx.Tx) error {
			var err error
			saved, err = readSaved(ctx, tx, after)
			return err
		})
	})
	if err != nil {
		return loop.Saved{}, err
	}
	return saved, nil
}

var snapshotOnly = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

func readSaved(ctx context.Context, tx pgx.Tx, after int64) (loop.Saved, error) {
	var saved loop.Saved
	if err := tx.QueryRow(ctx, query("store/last")).Scan(&saved.Last); err != nil {
		return saved, err
	}
	if saved.Last < after {
		after = 0
	}
	var err error
	if saved.Entries, err = collect(ctx, tx, readEntry, query("store/newer"), after); err != nil {
		return saved, err
	}
	if saved.Policies, err = collect(ctx, tx, readPolicy, query("store/policies")); err != nil {
		return saved, err
	}
	saved.Pending, err = collect(ctx, tx, readPending, query("store/pendings"))
	return saved, err
}

// collect runs a query and reads all its rows.
func collect[T any](ctx context.Context, q queryer, read pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, read)
}

// Save implements loop.Store.
func (s *Store) Save(ctx context.Context, b loop.Batch) error {
	if len(b.Entries) == 0 {
		if len(b.Propose)+len(b.UseUp)+len(b.Policies) > 0 {
			return errors.New("db: a change of a policy or a pending step without an entry in the log")
		}
		return nil
	}
	return s.on(ctx, "write policies and the decision log", func(ctx context.Context, conn *pgx.Conn) error {
		return inTx(ctx, conn, defaultBounds, func(tx pgx.Tx) error { return s.save(ctx, tx, b) })
	})
}

func (s *Store) save(ctx context.Context, tx pgx.Tx, b loop.Batch) error {
	if _, err := tx.Exec(ctx, query("store/lock_log"), lockClass, lockLog); err != nil {
		return err
	}
	epoch := int64(0)
	if needsLead(b) {
		var err error
		if epoch, err = checkLead(ctx, tx, s.lead); err != nil {
			return err
		}
	}
	// Used up before proposed: a new step may take the place of one that expired.
	for _, u := range b.UseUp {
		if err := useUp(ctx, tx, u); err != nil {
			return err
		}
	}
	for _, p := range b.Propose {
		if err := putPending(ctx, tx, p); err != nil {
			return err
		}
	}
	for _, p := range b.Policies {
		if err := putPolicy(ctx, tx, p); err != nil {
			return err
		}
	}
	for _, e := range b.Entries {
		if err := appendEntry(ctx, tx, e, epoch); err != nil {
			return err
		}
	}
	return nil
}

// needsLead says whether any part of a batch is the controller's own doing.
func needsLead(b loop.Batch) bool {
	if len(b.Propose) > 0 {
		return true
	}
	for _, e := range b.Entries {
		if e.Verb == "" {
			return true
		}
	}
	return false
}

// checkLead finds out inside a transaction that lead still leads, and keeps it
// so until the transaction ends: a new leader's epoch waits for us.
func checkLead(ctx context.Context, tx pgx.Tx, lead loop.Leader) (epoch int64, err error) {
	var mine control.Leadership
	if lead != nil {
		mine = lead.Leadership()
	}
	var who LeaderInfo
	if err := tx.QueryRow(ctx, query("store/epoch")).Scan(&who.Epoch, &who.Name, &who.Host, &who.PID); err != nil {
		return 0, err
	}
	now := who.leadership()
	switch {
	case mine.Leading && mine.Epoch == now.Epoch:
		return now.Epoch, nil
	case mine.Refused != "":
		return 0, refused("this process cannot lead: "+mine.Refused, "")
	case now.Name == "":
		return 0, refused("this process does not lead: nobody does yet", "it will be tried again")
	}
	return 0, refused("this process does not lead: "+now.Name+" does", "only one process decides for a database")
}

// useUp ends a pending step, once.
func useUp(ctx context.Context, tx pgx.Tx, u loop.Used) error {
	tag, err := tx.Exec(ctx, query("store/pending_use"), u.Queue, u.Generation)
	if err != nil || tag.RowsAffected() == 1 || !u.Must {
		return err
	}
	who, err := usedBy(ctx, tx, u.Queue, u.Generation)
	if err != nil {
		return err
	}
	return refused(fmt.Sprintf("the pending step of queue %q is gone: %s", u.Queue, who), "look at the queue again, then decide again")
}

// usedBy says who ended a pending step, and when.
func usedBy(ctx context.Context, q queryer, queue string, generation int64) (string, error) {
	var actor, kind, verb, outcome string
	var at time.Time
	err := q.QueryRow(ctx, query("store/pending_used_by"), queue, generation).Scan(&actor, &at, &kind, &verb, &outcome)
	if errors.Is(err, pgx.ErrNoRows) {
		return "a newer one took its place, or it was never there", nil
	}
	if err != nil {
		return "", err
	}
	did := kind
	for _, word := range []string{verb, outcome} {
		if word != "" {
			did += ", " + word
		}
	}
	return fmt.Sprintf("%s ended it at %s (%s)", actor, at.UTC().Format(time.RFC3339), did), nil
}
