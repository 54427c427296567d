package rehearsal

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// defaultPriority is what Awa gives a job for which nobody asked for another.
const defaultPriority = 2

// storageOf is the active storage schema of the database behind conn.
func storageOf(ctx context.Context, conn *pgx.Conn) (string, error) {
	var name *string
	if err := conn.QueryRow(ctx, statement("admin/storage_schema.sql")).Scan(&name); err != nil {
		return "", fmt.Errorf("find the storage schema: %w", err)
	}
	if name == nil {
		return "", &control.Fault{
			Kind: control.FaultRefused,
			What: "queue storage is not active in this database",
			Hint: "Install the rehearsal schema in state active.",
		}
	}
	return *name, nil
}

// Provision makes the lanes of a queue for shards 0..shards-1, in the given
// priorities and those it uses already (priority 2 when there is neither).
// Lanes that exist are not touched, so a repeat changes nothing. It does not
// change the count.
func Provision(ctx context.Context, conn *pgx.Conn, queue string, shards int, priorities ...int) error {
	storage, err := storageOf(ctx, conn)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, statement("admin/search_path.sql"), path(storage, coreSchema)); err != nil {
			return err
		}
		if err := nameLanes(ctx, tx, queue, priorities); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, statement("lanes/missing.sql"), queue, shards)
		if err != nil {
			return err
		}
		lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lane])
		if err != nil {
			return err
		}
		for _, l := range lanes {
			if err := makeLane(ctx, tx, storage, queue, l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("provision lanes: %w", err)
	}
	return nil
}

type lane struct {
	Priority int16
	Shard    int16
}

// nameLanes registers the priorities, the default one when the queue has none.
func nameLanes(ctx context.Context, tx pgx.Tx, queue string, priorities []int) error {
	if len(priorities) == 0 {
		rows, err := tx.Query(ctx, statement("lanes/priorities.sql"), queue)
		if err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, pgx.RowTo[int16])
		if err != nil || len(have) > 0 {
			return err
		}
		priorities = []int{defaultPriority}
	}
	for _, p := range priorities {
		if _, err := tx.Exec(ctx, statement("lanes/lane.sql"), queue, p); err != nil {
			return err
		}
	}
	return nil
}

func makeLane(ctx context.Context, tx pgx.Tx, storage, queue string, l lane) error {
	if _, err := tx.Exec(ctx, statement("lanes/install_lock.sql"), storage, queue, l.Priority, l.Shard); err != nil {
		return err
	}
	for _, head := range []string{"lanes/enqueue_head.sql", "lanes/claim_head.sql"} {
		if _, err := tx.Exec(ctx, statement(head), queue, l.Priority, l.Shard); err != nil {
			return err
		}
	}
	return nil
}

// SetShards sets the configured count of a queue, 1..64, whether its lanes
// exist or not.
func SetShards(ctx context.Context, conn *pgx.Conn, queue string, n int) error {
	if _, err := conn.Exec(ctx, statement("lanes/set_shards.sql"), queue, n); err != nil {
		return fmt.Errorf("set the shard count: %w", err)
	}
	return nil
}
