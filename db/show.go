package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// LogFilter narrows ReadLog. The zero value is everything.
type LogFilter struct {
	Queue  string            // "" for all
	Kinds  []control.LogKind // nil for all
	Before int64             // only entries with a smaller ID, for paging; 0 for all
	Since  control.Moment    // only entries of that time or later
	Until  control.Moment    // only entries before that time
	By     string            // only of this actor, as name@host or name; "" for all
}

// DefaultLogLimit is how many entries ReadLog gives when told 0, and
// maxLogLimit the most it ever gives.
const (
	DefaultLogLimit = 100
	maxLogLimit     = 10_000
)

// ReadLog gives entries of the decision log, newest first.
func ReadLog(ctx context.Context, conn *pgx.Conn, f LogFilter, limit int) ([]control.LogEntry, error) {
	if limit <= 0 {
		limit = DefaultLogLimit
	}
	kinds := []string{}
	for _, k := range f.Kinds {
		kinds = append(kinds, string(k))
	}
	entries, err := collect(ctx, conn, readEntry, query("store/log"), f.Queue, kinds, f.Before,
		stamp(f.Since.At), f.Since.Ago.Seconds(), stamp(f.Until.At), f.Until.Ago.Seconds(), f.By, min(limit, maxLogLimit))
	return entries, interpret(err, "read the decision log")
}

// Shown is what is known of one queue without watching it.
type Shown struct {
	Queue    string              `json:"queue"`     // physical name, raw
	Shards   int                 `json:"shards"`    // configured count
	HasLanes bool                `json:"has_lanes"` // no lanes yet: shardpilot leaves it alone
	Policy   control.QueuePolicy `json:"policy"`    // Generation 0 when it has none: manual
	Pending  *control.Pending    `json:"pending,omitempty"`
	Last     *control.LogEntry   `json:"last,omitempty"` // newest entry of the log
}

// Show gives every queue, or one ("" for all), by name. Needs shardpilot's
// schema and an installation that may be watched.
func Show(ctx context.Context, conn *pgx.Conn, inst control.Installation, queue string) ([]Shown, error) {
	var out []Shown
	err := inTxWith(ctx, conn, snapshotOnly, defaultBounds, func(tx pgx.Tx) error {
		var err error
		out, err = collect(ctx, tx, func(row pgx.CollectableRow) (Shown, error) {
			var s Shown
			err := row.Scan(&s.Queue, &s.Shards, &s.HasLanes)
			s.Policy.Queue = s.Queue
			return s, err
		}, queryIn("store/counts", inst.Schema), queue)
		if err != nil {
			return err
		}
		return complete(ctx, tx, out, queue)
	})
	if err != nil {
		return nil, interpret(err, "show the queues")
	}
	if queue != "" && len(out) == 0 {
		return nil, refused("there is no queue "+fmt.Sprintf("%q", queue), "shardpilot show lists them; names are the physical ones of Awa's tables")
	}
	return out, nil
}

// complete adds policy, pending step and newest entry.
func complete(ctx context.Context, tx pgx.Tx, shown []Shown, queue string) error {
	at := map[string]*Shown{}
	for i := range shown {
		at[shown[i].Queue] = &shown[i]
	}
	policies, err := collect(ctx, tx, readPolicy, query("store/policies"))
	if err != nil {
		return err
	}
	for _, p := range policies {
		if s := at[p.Queue]; s != nil {
			s.Policy = p
		}
	}
	pending, err := collect(ctx, tx, readPending, query("store/pendings"))
	if err != nil {
		return err
	}
	for i := range pending {
		if s := at[pending[i].Queue]; s != nil {
			s.Pending = &pending[i]
		}
	}
	newest, err := collect(ctx, tx, readEntry, query("store/newest"), queue)
	if err != nil {
		return err
	}
	for i := range newest {
		if s := at[newest[i].Queue]; s != nil {
			s.Last = &newest[i]
		}
	}
	return nil
}
