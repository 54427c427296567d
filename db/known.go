package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// KnownQueue says, as a Fault, that there is no queue of a name: neither among
// those of Awa nor in any entry of the log. Where Awa may not be looked at, only
// the log is asked, and nil says nothing.
func KnownQueue(ctx context.Context, conn *pgx.Conn, queue string) error {
	ever, err := ReadLog(ctx, conn, LogFilter{Queue: queue}, 1)
	if err != nil || len(ever) > 0 {
		return err
	}
	inst, err := Discover(ctx, conn, false)
	if err != nil || !inst.MayWatch {
		return err
	}
	_, err = Show(ctx, conn, inst, queue)
	return err
}

// RoleExists says whether the server has a role of a name.
func RoleExists(ctx context.Context, conn *pgx.Conn, role string) (exists bool, err error) {
	err = conn.QueryRow(ctx, query("role_exists"), role).Scan(&exists)
	return exists, interpret(err, "look for the role")
}
