package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// pooledLooks is how often Pooled asks: a pooler may hand out the announced
// backend by accident, though hardly each time.
const pooledLooks = 4

// Pooled says whether something between us and PostgreSQL answers in its stead:
// the backend that runs our statements is not the one announced at connect, or
// not always. Session-level locks and settings then prove nothing.
func Pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	announced := int32(conn.PgConn().PID())
	for range pooledLooks {
		var pid int32
		if err := conn.QueryRow(ctx, query("backend")).Scan(&pid); err != nil {
			return false, fmt.Errorf("ask which backend answers: %w", err)
		}
		if pid != announced {
			return true, nil
		}
	}
	return false, nil
}
