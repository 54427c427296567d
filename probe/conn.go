package probe

import (
	"context"
	"embed"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

//go:embed sql/*.sql
var statements embed.FS

// statement returns an embedded statement with the storage schema put in as an
// identifier; values are always bound.
func statement(name, schema string) string {
	b, err := statements.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return "" // an unknown name: the server answers with an empty result and the scan fails
	}
	return strings.ReplaceAll(string(b), "__storage__", pgx.Identifier{schema}.Sanitize())
}

// How long the server may work at a look and at a slow read before it should end
// them.
const (
	LookLimit = 2500 * time.Millisecond
	SlowLimit = 4500 * time.Millisecond
)

// Deadlines of statements, later than the limits. They guard against a server
// that does not answer; cost is kept down by pace.
const (
	lookTimeout    = 3 * time.Second
	slowTimeout    = 5 * time.Second
	connectTimeout = 15 * time.Second
)

// link is one connection and the account of what it cost.
type link struct {
	connect func(context.Context) (*pgx.Conn, error)
	conn    *pgx.Conn
	now     func() time.Time
	spent   func(time.Duration) // told the server time of every statement
}

func (l *link) close() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.conn.Close(ctx) // the connection is given up either way
	l.conn = nil
}

// alive says whether the connection can take another statement.
func (l *link) alive() bool { return l.conn != nil && !l.conn.IsClosed() }

// round is what the client saw of a statement.
type round struct {
	sent, got time.Time     // our clock
	server    time.Duration // what the server spent; the round trip when it did not say
}

// ask runs one statement without preparing it and hands each row to scan, which
// returns the cost in seconds that the row carries (0 when it carries none).
func (l *link) ask(ctx context.Context, timeout time.Duration, sql string, scan func(pgx.Rows) (float64, error), args ...any) (round, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := round{sent: l.now()}
	cost, err := l.rows(ctx, sql, scan, args)
	r.got = l.now()
	r.server = time.Duration(cost * float64(time.Second))
	if trip := r.got.Sub(r.sent); r.server <= 0 || r.server > trip {
		r.server = max(trip, 0)
	}
	l.spent(r.server)
	return r, err
}

func (l *link) rows(ctx context.Context, sql string, scan func(pgx.Rows) (float64, error), args []any) (cost float64, err error) {
	rows, err := l.conn.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scan(rows)
		if err != nil {
			return cost, err
		}
		cost = max(cost, c)
	}
	rows.Close()
	return cost, rows.Err()
}

// SQLSTATE codes that the probe tells apart.
const (
	codeDenied       = "42501"
	codeNoTable      = "42P01"
	codeNoColumn     = "42703"
	codeNoFunction   = "42883"
	codeNoSchema     = "3F000"
	codeLockTable    = "53200"
	codeInternal     = "XX000" // a relation dropped between look-up and use
	codeCancelled    = "57014"
	codeLockWait     = "55P03" // lock_timeout: somebody alters the table
	codeUndefinedObj = "42704"
)

func codeOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// moved says that err means the schema is not what discovery found any more.
func moved(err error) bool {
	switch codeOf(err) {
	case codeNoTable, codeNoColumn, codeNoFunction, codeNoSchema, codeInternal, codeUndefinedObj:
		return true
	}
	return false
}

// problem words a failed read for the operator. grant is what mends a missing
// right, "" when nothing simple does.
func problem(part, what string, err error, grant string) control.Problem {
	p := control.Problem{Part: part}
	code := codeOf(err)
	switch {
	case code == codeDenied:
		p.Detail, p.Hint = "our role may not read "+what, grant
	case code == codeLockTable:
		p.Detail = "the server is out of shared memory for locks; " + what + " not read"
		p.Hint = "raise max_locks_per_transaction"
	case code == codeCancelled || code == codeLockWait || errors.Is(err, context.DeadlineExceeded):
		p.Detail = what + " not read in time"
	case moved(err):
		p.Detail, p.Hint = what+" not found: Awa's schema changed under us", "looking for it again"
	case code != "":
		p.Detail = what + " not read (SQLSTATE " + code + ")"
	default:
		p.Detail = what + " not read: the connection failed"
	}
	return p
}

// fault makes an operator's error of what Connect or a statement returned.
func fault(err error) *control.Fault {
	var f *control.Fault
	if errors.As(err, &f) {
		return f
	}
	f = &control.Fault{
		Kind: control.FaultNoConnection,
		What: "the connection to PostgreSQL is lost",
		Hint: "it is tried again by itself",
		Err:  err,
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f.What = "PostgreSQL did not answer in time"
	}
	return f
}

// denied is the server's own error for a right that was asked about first.
func denied() error { return &pgconn.PgError{Code: codeDenied, Message: "permission denied"} }
