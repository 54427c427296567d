package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// idlePoll is how long a worker waits after it found every queue empty.
const idlePoll = 25 * time.Millisecond

// worker is one session that claims and completes jobs.
type worker struct {
	session
	spec   Workers
	inst   *instance
	name   string  // under which its leases are kept
	turn   int     // counts looks, to take queues in turn
	empty  int     // looks in a row that found nothing
	held   []int64 // jobs it has, as far as it knows
	heldOf string  // their queue
	unsure bool    // a statement broke: ask the database what is held
}

func newWorker(r *Running, spec Workers, inst *instance, n int) *worker {
	spec.Application = cmp.Or(spec.Application, "worker")
	spec.Batch = cmp.Or(spec.Batch, 64)
	return &worker{
		session: session{r: r, role: "worker", application: spec.Application, notify: "on"},
		spec:    spec,
		inst:    inst,
		name:    fmt.Sprintf("%s/%d", inst.id, n+1),
		turn:    n,
	}
}

func (w *worker) run() {
	defer w.drop()
	for !w.r.over() {
		if !w.ready() {
			continue
		}
		if err := w.step(); err != nil {
			w.unsure = true
			w.failed(err)
			continue
		}
		w.worked()
	}
}

// step takes a batch from the next queue and sees it done.
func (w *worker) step() error {
	if w.unsure {
		if err := w.settle(); err != nil {
			return err
		}
	} else if err := w.claim(); err != nil {
		return err
	}
	if len(w.held) == 0 {
		if w.empty++; w.empty >= len(w.spec.Queues) {
			w.empty = 0
			w.r.pause(idlePoll)
		}
		return nil
	}
	w.empty = 0
	w.inst.busy(w.heldOf, len(w.held))
	defer w.inst.busy(w.heldOf, -len(w.held))
	w.r.pause(time.Duration(len(w.held)) * w.spec.PerJob)
	return w.complete()
}

func (w *worker) claim() error {
	w.heldOf = w.spec.Queues[w.turn%len(w.spec.Queues)]
	w.turn++
	ids, err := w.ids("run/claim.sql", w.heldOf, w.name, w.spec.Batch)
	w.held = ids
	return err
}

// settle asks what this worker holds: a claim may have succeeded without our
// knowing, and so may a completion, which is counted now.
func (w *worker) settle() error {
	ids, err := w.ids("run/adopt.sql", w.name)
	if err != nil {
		return err
	}
	finished := 0
	for _, id := range w.held {
		if !slices.Contains(ids, id) {
			finished++
		}
	}
	w.count(finished)
	w.held, w.unsure = ids, false
	return nil
}

func (w *worker) complete() error {
	tag, err := w.conn.Exec(w.r.ctx, statement("run/complete.sql"), w.held, w.name)
	if err != nil {
		return err
	}
	w.count(int(tag.RowsAffected()))
	w.held = nil
	return nil
}

func (w *worker) count(jobs int) {
	if jobs > 0 {
		w.r.tally.count(w.heldOf, func(q *QueueStats) { q.Completed += uint64(jobs) })
	}
}

func (w *worker) ids(name string, args ...any) ([]int64, error) {
	rows, err := w.conn.Query(w.r.ctx, statement(name), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
