package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// LeaderInfo is who leads a database, for people.
type LeaderInfo struct {
	Epoch      int64     `json:"epoch"`       // 0 before anybody led
	Name       string    `json:"name"`        // "" when nobody does
	Host       string    `json:"host"`        //
	PID        int       `json:"pid"`         // of the process on Host
	BackendPID int       `json:"backend_pid"` // of its session in PostgreSQL
	Since      time.Time `json:"since,omitzero"`
	RenewedAt  time.Time `json:"renewed_at,omitzero"` // last sign of life; both on the server's clock
	Alive      bool      `json:"alive"`               // its session has the lock
}

// leadership is what a follower makes of it.
func (i LeaderInfo) leadership() control.Leadership {
	return control.Leadership{Epoch: i.Epoch, Name: processName(i.Name, i.Host, i.PID)}
}

// WhoLeads reads who leads and whether that is true. Needs shardpilot's schema.
func WhoLeads(ctx context.Context, conn *pgx.Conn) (LeaderInfo, error) {
	var i LeaderInfo
	var since, renewed *time.Time
	err := conn.QueryRow(ctx, query("leader/who"), int64(lockClass), int64(lockLeader)).Scan(
		&i.Epoch, &i.Name, &i.Host, &i.PID, &i.BackendPID, &since, &renewed, &i.Alive)
	if err != nil {
		return LeaderInfo{}, interpret(err, "ask who leads")
	}
	i.Since, i.RenewedAt = unstamp(since), unstamp(renewed)
	return i, nil
}
