package probe

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	maxRows       = 20_000 // rows of one look; more and it is not used
	manyStrangers = 2_000  // advisory locks that are no lanes, above which keys go along
)

// who is a lock owner in one look: a backend's transaction. A prepared
// transaction has no backend; pid is 0 then.
type who struct {
	pid int32
	txn string // virtual transaction
}

// look is one copy of the lock table, or the knowledge that nobody waits.
type look struct {
	at      time.Time // server clock
	sent    time.Time // our clock, when it was asked
	skew    time.Duration
	trip    time.Duration
	server  time.Duration
	asked   bool // the gate was asked
	open    bool // it was open, or could not be asked
	read    bool // pg_locks was read
	visible bool // we have pg_read_all_stats
	torn    bool // more rows than allowed: not to be used
	dated   bool // lanes were registered meanwhile, whose locks it could not know

	strangers int // rows of advisory locks that are no lanes
	wait      map[*lane][]who
	hold      map[*lane]who
	notify    map[int32]bool // pids in the NOTIFY queue
	notifies  int32          // pid that has the NOTIFY lock, 0 for none
}

// take asks for one look. keys is nil to match here.
func take(ctx context.Context, l *link, byKey map[int64]*lane, keys []int64, ask, force bool) (look, error) {
	out := look{asked: ask, read: force,
		wait: map[*lane][]who{}, hold: map[*lane]who{}, notify: map[int32]bool{}}
	n := 0
	scan := func(rows pgx.Rows) (float64, error) {
		var (
			kind int16
			pid  *int32
			key  *int64
			yes  *bool
			txn  *string
			open *bool
			at   *time.Time
			cost *float64
		)
		if err := rows.Scan(&kind, &pid, &key, &yes, &txn, &open, &at, &cost); err != nil {
			return 0, err
		}
		if kind == 0 {
			out.visible = yes != nil && *yes
			out.open = open != nil && *open
			out.read = out.read || out.open
			if at != nil {
				out.at = *at
			}
			return deref(cost), nil
		}
		n++
		out.row(kind, who{deref(pid), deref(txn)}, deref(key), deref(yes), byKey)
		return 0, nil
	}
	r, err := l.ask(ctx, lookTimeout, statement("look", ""), scan, ask, force, keys, int64(maxRows))
	out.sent, out.trip, out.server = r.sent, r.got.Sub(r.sent), r.server
	out.torn = n >= maxRows
	out.skew = out.at.Sub(r.sent.Add(out.trip / 2))
	return out, err
}

func (o *look) row(kind int16, by who, key int64, granted bool, byKey map[int64]*lane) {
	if kind == 2 {
		if granted {
			o.notifies = by.pid
		} else {
			o.notify[by.pid] = true
		}
		return
	}
	ln, ok := byKey[key]
	switch {
	case !ok:
		o.strangers++
	case granted:
		o.hold[ln] = by
	default:
		o.wait[ln] = append(o.wait[ln], by)
	}
}

// ahead says whether a session commits at the head of the NOTIFY queue while
// others stand behind it.
func (o *look) ahead(pid int32) bool { return pid != 0 && pid == o.notifies && len(o.notify) > 0 }

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
