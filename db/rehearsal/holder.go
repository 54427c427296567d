package rehearsal

import (
	"cmp"
	"time"

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
	h := &holder{
		session: session{r: r, role: "holder", queue: spec.Queue, application: spec.Application, notify: "on"},
		spec:    spec,
	}
	if !r.ours { // Awa takes the lane from the backend's pid
		h.fits = func(pid uint32) bool { return int(pid)%widest == spec.Shard%widest }
	}
	return h
}

// widest is the highest count at which a holder on a real Awa surely has the
// lane that it was told.
const widest = 16

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
		enqueue := h.enqueue
		if !h.r.ours {
			enqueue = h.enqueueAtAwa
		}
		if err := enqueue(tx); err != nil {
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

// enqueueAtAwa goes the way of SQL producers.
func (h *holder) enqueueAtAwa(tx pgx.Tx) error {
	var none *float64
	began := time.Now()
	err := tx.QueryRow(h.r.ctx, statement("run/insert_job.sql"), h.spec.Queue, `"held"`, int16(h.spec.Priority), []byte(nil)).Scan(&none)
	if err == nil {
		waited := time.Since(began).Seconds()
		h.r.tally.count(h.spec.Queue, func(q *QueueStats) { q.LaneWaitS += waited; q.ClientWaitS += waited })
	}
	return err
}

func (h *holder) enqueue(tx pgx.Tx) error {
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
	return err
}
