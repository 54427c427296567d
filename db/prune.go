package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Retention bounds what is kept. The zero value is the default of each field.
type Retention struct {
	Age      time.Duration // of log entries; default 90 days, at least MinLogAge
	Rows     int           // of log entries; default 100,000, at least 1,000
	Producer time.Duration // since a producer last reported; default 24 h
}

// MinLogAge is what the state of a queue is rebuilt from after a restart; no
// entry is removed for its age before that. (One can be for the number of
// rows: at a thousand changes of mind a week.)
const MinLogAge = 7 * 24 * time.Hour

const (
	defaultLogAge   = 90 * 24 * time.Hour
	defaultLogRows  = 100_000
	minLogRows      = 1_000
	defaultProducer = 24 * time.Hour

	// pruneBatch rows go in one transaction, pruneBatches times at most: a call
	// is short, and a later one goes on.
	pruneBatch   = 1_000
	pruneBatches = 20
)

func (r Retention) bounded() Retention {
	if r.Age <= 0 {
		r.Age = defaultLogAge
	}
	if r.Rows <= 0 {
		r.Rows = defaultLogRows
	}
	if r.Producer <= 0 {
		r.Producer = defaultProducer
	}
	r.Age, r.Rows = max(r.Age, MinLogAge), max(r.Rows, minLogRows)
	return r
}

// Pruned says how much went.
type Pruned struct {
	Entries, Producers int64
	More               bool // there is more to remove: call again
}

// Prune removes what is older than r allows, in small transactions. The newest
// entry of the log always stays: a log without one would look new to a reader. Call it now and then from the process that leads.
func (s *Store) Prune(ctx context.Context, r Retention) (Pruned, error) {
	r = r.bounded()
	var p Pruned
	err := s.on(ctx, "remove old entries of the log", func(ctx context.Context, conn *pgx.Conn) error {
		var err error
		p.Entries, p.More, err = prune(ctx, conn, "store/prune_log", pruneBatch, r.Age.Seconds(), r.Rows)
		if err != nil {
			return err
		}
		var more bool
		p.Producers, more, err = prune(ctx, conn, "store/prune_producers", pruneBatch, r.Producer.Seconds())
		p.More = p.More || more
		return err
	})
	return p, err
}

func prune(ctx context.Context, conn *pgx.Conn, name string, args ...any) (gone int64, more bool, err error) {
	for range pruneBatches {
		var n int64
		err := inTx(ctx, conn, defaultBounds, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, query(name), args...)
			n = tag.RowsAffected()
			return err
		})
		if err != nil {
			return gone, true, err
		}
		if gone += n; n < pruneBatch {
			return gone, false, nil
		}
	}
	return gone, true, nil
}
