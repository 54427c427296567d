package rehearsal

import (
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	pruneEvery  = time.Second
	vacuumEvery = 15 * time.Second
	// keepDone is how long completed jobs stay, in seconds.
	keepDone = 2.0
	// pruneChunk is the most rows one statement removes, so that none of them
	// runs long.
	pruneChunk = 20_000
)

// janitor removes what is finished, so that a load may run for days, and looks
// whether somebody keeps the producers' reports.
type janitor struct {
	session
	vacuumDue time.Time
}

func newJanitor(r *Running) *janitor {
	return &janitor{
		session:   session{r: r, role: "janitor", application: "janitor", notify: "off"},
		vacuumDue: r.started.Add(vacuumEvery),
	}
}

func (j *janitor) run() {
	defer j.drop()
	for !j.r.over() {
		if !j.ready() {
			continue
		}
		more, err := j.sweep()
		if err != nil {
			j.failed(err)
			continue
		}
		j.worked()
		if !more {
			j.r.pause(pruneEvery)
		}
	}
}

// sweep does what is due, and says whether it left finished rows behind.
func (j *janitor) sweep() (more bool, err error) {
	var exist bool
	if err := j.conn.QueryRow(j.r.ctx, statement("run/reports_exist.sql")).Scan(&exist); err != nil {
		return false, err
	}
	j.r.reports.Store(exist)
	if j.r.spec.Keep || !j.r.ours {
		return false, nil
	}
	if more, err = j.prune(); err != nil || time.Now().Before(j.vacuumDue) {
		return more, err
	}
	_, err = j.conn.Exec(j.r.ctx, statement("run/vacuum.sql"))
	j.vacuumDue = time.Now().Add(vacuumEvery)
	return more, err
}

// claimedLane is how far a lane's cursor has come.
type claimedLane struct {
	Queue    string
	Priority int16
	Shard    int16
	Next     int64
}

// prune removes a chunk of everything that is finished.
func (j *janitor) prune() (more bool, err error) {
	rows, err := j.conn.Query(j.r.ctx, statement("run/claimed_lanes.sql"))
	if err != nil {
		return false, err
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claimedLane])
	if err != nil {
		return false, err
	}
	for _, l := range lanes {
		tag, err := j.conn.Exec(j.r.ctx, statement("run/prune_entries.sql"), l.Queue, l.Priority, l.Shard, l.Next, pruneChunk)
		if err != nil {
			return false, err
		}
		_, err = j.conn.Exec(j.r.ctx, statement("run/prune_segments.sql"), l.Queue, l.Priority, l.Shard, l.Next)
		if err != nil {
			return false, err
		}
		more = more || tag.RowsAffected() >= pruneChunk/2
	}
	var done int64
	err = j.conn.QueryRow(j.r.ctx, statement("run/prune_done.sql"), keepDone, pruneChunk).Scan(&done)
	return more || done >= pruneChunk/2, err
}
