package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
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

// AnyPending says, as a Fault, that no step of a queue is pending, or that there
// is no such queue.
func AnyPending(ctx context.Context, cfg *Config, queue string) error {
	conn, err := cfg.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	pending, err := collect(ctx, conn, readPending, query("store/pendings"))
	if err != nil {
		return interpret(err, "read the pending steps")
	}
	if slices.ContainsFunc(pending, func(p control.Pending) bool { return p.Queue == queue }) {
		return nil
	}
	if err := KnownQueue(ctx, conn, queue); err != nil {
		return err
	}
	return refused("no step of this queue is pending", "shardpilot show tells where it stands")
}

// RoleExists says whether the server has a role of a name.
func RoleExists(ctx context.Context, conn *pgx.Conn, role string) (exists bool, err error) {
	err = conn.QueryRow(ctx, query("role_exists"), role).Scan(&exists)
	return exists, interpret(err, "look for the role")
}
