package rehearsal

import (
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	pruneEvery  = time.Second
	vacuumEvery = 15 * time.Second
	// keepDone is how long completed jobs stay, in seconds.
	keepDone = 10.0
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
		if err := j.sweep(); err != nil {
			j.failed(err)
			continue
		}
		j.worked()
		j.r.pause(pruneEvery)
	}
}

func (j *janitor) sweep() error {
	var exist bool
	if err := j.conn.QueryRow(j.r.ctx, statement("run/reports_exist.sql")).Scan(&exist); err != nil {
		return err
	}
	j.r.reports.Store(exist)
	if j.r.spec.Keep || !j.r.ours {
		return nil
	}
	if err := j.prune(); err != nil {
		return err
	}
	if time.Now().Before(j.vacuumDue) {
		return nil
	}
	j.vacuumDue = time.Now().Add(vacuumEvery)
	_, err := j.conn.Exec(j.r.ctx, statement("run/vacuum.sql"))
	return err
}

// claimedLane is how far a lane's cursor has come.
type claimedLane struct {
	Queue    string
	Priority int16
	Shard    int16
	Next     int64
}

func (j *janitor) prune() error {
	rows, err := j.conn.Query(j.r.ctx, statement("run/claimed_lanes.sql"))
	if err != nil {
		return err
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claimedLane])
	if err != nil {
		return err
	}
	for _, l := range lanes {
		_, err := j.conn.Exec(j.r.ctx, statement("run/prune_entries.sql"), l.Queue, l.Priority, l.Shard, l.Next, pruneChunk)
		if err != nil {
			return err
		}
		_, err = j.conn.Exec(j.r.ctx, statement("run/prune_segments.sql"), l.Queue, l.Priority, l.Shard, l.Next)
		if err != nil {
			return err
		}
	}
	_, err = j.conn.Exec(j.r.ctx, statement("run/prune_done.sql"), keepDone, pruneChunk)
	return err
}
