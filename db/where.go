package db

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// Where asks the server which database this is. Host and port are those that
// were connected to; Label is left to the caller.
func Where(ctx context.Context, conn *pgx.Conn) (control.Database, error) {
	var d control.Database
	var version int
	err := conn.QueryRow(ctx, query("where")).Scan(
		&d.Name, &d.User, &d.Version, &version, &d.Standby, &d.ReadOnly, &d.StartedAt)
	if err != nil {
		return control.Database{}, fmt.Errorf("ask the server where we are: %w", err)
	}
	d.Version, _, _ = strings.Cut(d.Version, " ") // "18.4 (Debian 18.4-1)"
	d.StartedAt = d.StartedAt.UTC()
	d.Host, d.Port = endpoint(conn)
	return d, nil
}

// endpoint is the host and port connected to: as the operator wrote them when
// there was only one, else the address that answered.
func endpoint(conn *pgx.Conn) (string, int) {
	cfg := conn.Config()
	several := false
	for _, f := range cfg.Fallbacks {
		several = several || f.Host != cfg.Host || f.Port != cfg.Port
	}
	if !several {
		return cfg.Host, int(cfg.Port)
	}
	host, port, err := net.SplitHostPort(conn.PgConn().Conn().RemoteAddr().String())
	if err != nil {
		return conn.PgConn().Conn().RemoteAddr().String(), int(cfg.Port)
	}
	n, _ := strconv.Atoi(port)
	return host, n
}
