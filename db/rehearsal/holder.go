package rehearsal

import (
	"cmp"

	"github.com/jackc/pgx/v5"
)

// holder is one session that stands in the way.
type holder struct {
	session
	spec Holder
}

func newHolder(r *Running, spec Holder) *holder {
	spec.Application = cmp.Or(spec.Application, "holder")
	spec.Priority = cmp.Or(spec.Priority, defaultPriority)
	return &holder{
		session: session{r: r, role: "holder", queue: spec.Queue, application: spec.Application, notify: "on"},
		spec:    spec,
	}
}

func (h *holder) run() {
	defer h.drop()
	for !h.r.over() {
		if !h.ready() {
			continue
		}
		h.r.pause(h.spec.Rest)
		if h.r.over() {
			return
		}
		if err := h.hold(); err != nil {
			h.failed(err)
			continue
		}
		h.worked()
	}
}

// hold enqueues one job and commits only much later.
func (h *holder) hold() error {
	err := pgx.BeginFunc(h.r.ctx, h.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(h.r.ctx, statement("run/ensure_lane.sql"), h.spec.Queue, h.spec.Priority, h.spec.Shard); err != nil {
			return err
		}
		var first int64
		var waited *float64
		err := tx.QueryRow(h.r.ctx, statement("run/reserve.sql"), h.spec.Queue, h.spec.Priority, h.spec.Shard, 1).
			Scan(&first, &waited)
		if err != nil {
			return err
		}
		if waited != nil {
			h.r.tally.count(h.spec.Queue, func(q *QueueStats) { q.LaneWaitS += *waited; q.ClientWaitS += *waited })
		}
		_, err = tx.Exec(h.r.ctx, statement("run/append.sql"),
			h.spec.Queue, h.spec.Priority, h.spec.Shard, first, 1, `"held"`)
		if err != nil {
			return err
		}
		h.r.pause(h.spec.Hold)
		return nil
	})
	if err == nil {
		h.r.tally.count(h.spec.Queue, func(q *QueueStats) { q.Enqueued++ })
	}
	return err
}
