package db

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// errNeedsPassword is in the chain of a Fault when the server wanted a password
// and we had none.
var errNeedsPassword = errors.New("the server asks for a password")

// NeedsPassword says whether err is a refused login for want of a password:
// ask for one, then try WithPassword.
func NeedsPassword(err error) bool { return errors.Is(err, errNeedsPassword) }

// errFatal is in the chain of a Fault that no retry mends.
var errFatal = errors.New("trying again will not help")

// Fatal says whether trying again is pointless until somebody changes a
// setting, here or on the server.
func Fatal(err error) bool {
	return errors.Is(err, errFatal) || errors.Is(err, errNeedsPassword) || control.ExitCode(err) == int(control.FaultUsage)
}

// cause is one way for a connection to fail.
type cause struct {
	what, hint string
	fatal      bool
	leaf       error // what goes into the chain; never an error that holds the Config
}

// explain turns an error of connecting into a Fault. With several hosts, or TLS
// tried before plain text, pgx reports them all: a server's own words win over
// the network's, and among equals the first.
func (c *Config) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("connecting to %s: %w", c.hosts(), context.Canceled)
	}
	var best *cause
	for _, e := range leaves(err) {
		var pg *pgconn.PgError
		if !errors.As(e, &pg) {
			continue
		}
		if found := c.serverSaid(pg); best == nil || rank(pg.Code) > rank(codeOf(best.leaf)) {
			best = &found
		}
	}
	if best == nil {
		found := c.networkSaid(err)
		best = &found
	}
	chain := best.leaf
	switch {
	case c.pg.Password == "" && codeOf(best.leaf) == "28P01":
		chain = errors.Join(errNeedsPassword, best.leaf)
	case best.fatal:
		chain = errors.Join(errFatal, best.leaf)
	}
	return &control.Fault{Kind: control.FaultNoConnection, What: best.what, Hint: best.hint, Err: chain}
}

// leaves takes joined errors apart, down to the attempts.
func leaves(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, sub := range joined.Unwrap() {
		out = append(out, leaves(sub)...)
	}
	return out
}

func codeOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// rank orders what several servers said: a wrong password tells more than
// another host that is starting up.
func rank(code string) int {
	for i, c := range []string{"57P03", "53300", "28000", "42501", "3D000", "28P01"} {
		if c == code {
			return i + 1
		}
	}
	return 0
}

// serverSaid explains a server that answered and did not let us in.
func (c *Config) serverSaid(pg *pgconn.PgError) cause {
	user, name := c.pg.User, c.pg.Database
	at := c.hosts()
	switch pg.Code {
	case "28P01":
		if c.pg.Password == "" {
			return cause{fmt.Sprintf("%s asks for a password of role %q and there is none", at, user),
				"give it in the passfile (~/.pgpass, mode 600), in PGPASSWORD, or start from a terminal to be asked", true, pg}
		}
		return cause{fmt.Sprintf("%s refused the password of role %q", at, user),
			"check the passfile, PGPASSWORD or the connection string; a retry will not help", true, pg}
	case "28000":
		return cause{fmt.Sprintf("%s does not accept role %q on database %q from here", at, user, name),
			"the server says: " + pg.Message + "; add a line to pg_hba.conf, create the role, or try another sslmode", true, pg}
	case "3D000":
		return cause{fmt.Sprintf("there is no database %q at %s", name, at),
			"name the database that holds Awa: the last part of the URL, dbname=… or PGDATABASE", true, pg}
	case "42501":
		return cause{fmt.Sprintf("role %q may not connect to database %q at %s", user, name, at),
			fmt.Sprintf("have its owner run: GRANT CONNECT ON DATABASE %s TO %s;", ident(name), ident(user)), true, pg}
	case "53300":
		return cause{"all connections of " + at + " are taken",
			"wait, raise max_connections or the role's CONNECTION LIMIT, or go through a pooler", false, pg}
	case "57P03", "57P01", "57P02":
		return cause{at + " is starting up or shutting down", "it will be tried again; if that lasts, look into the server's log", false, pg}
	case "42704", "08P01", "22023":
		return cause{at + " refused a setting of the connection: " + pg.Message,
			"take the setting out of the connection string (options=…) or let the pooler pass it: ignore_startup_parameters", true, pg}
	}
	return cause{fmt.Sprintf("%s ended the login: %s (SQLSTATE %s)", at, pg.Message, pg.Code), "look into the log of the server or the pooler", false, pg}
}

// networkSaid explains an attempt that no server answered in PostgreSQL's
// words.
func (c *Config) networkSaid(err error) cause {
	at := c.hosts()
	var dns *net.DNSError
	switch {
	case errors.Is(err, pgconn.ErrReadOnlyConnection), errors.Is(err, pgconn.ErrReadWriteConnection),
		errors.Is(err, pgconn.ErrPrimaryConnection), errors.Is(err, pgconn.ErrStandbyConnection):
		return cause{"no server among " + at + " is what target_session_attrs asks for",
			"name another host, wait for the failover to end, or set target_session_attrs=any", false, nil}
	case isTLS(err):
		return cause{fmt.Sprintf("TLS with %s failed: %s", at, tlsReason(err)),
			"with sslmode=verify-full the name in the URL must be in the certificate and sslrootcert must hold its authority", true, tlsLeaf(err)}
	case errors.As(err, &dns):
		return cause{fmt.Sprintf("the host name %q cannot be resolved", dns.Name), "check the spelling and this machine's resolver", false, dns}
	case errors.Is(err, syscall.ECONNREFUSED):
		return cause{"nothing listens at " + at, "check host and port, and that PostgreSQL runs and listens there (listen_addresses)", false, syscall.ECONNREFUSED}
	case errors.Is(err, os.ErrNotExist):
		return cause{"there is no socket of PostgreSQL at " + at, "name a host in the URL, or with PGHOST, if the server is not on this machine", false, os.ErrNotExist}
	case errors.Is(err, os.ErrPermission):
		return cause{"this user may not open the socket at " + at, "use a TCP host, or have the socket's permissions changed", true, os.ErrPermission}
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return cause{fmt.Sprintf("%s did not answer within %s", at, c.pg.ConnectTimeout),
			"check host and port and the firewalls between; connect_timeout=… allows more time", false, context.DeadlineExceeded}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return cause{"there is no way to " + at, "check the network, a VPN or a tunnel", false, syscall.EHOSTUNREACH}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return cause{at + " closed the connection before the login ended",
			"it may be restarting, or something other than PostgreSQL listens there", false, io.ErrUnexpectedEOF}
	}
	if c.requiresTLS() {
		return cause{at + " did not agree to TLS, which sslmode=" + c.sslmode + " requires", "switch on ssl at the server, or choose another sslmode", true, nil}
	}
	return cause{at + " does not speak as PostgreSQL does", "check host and port, and which login methods (require_auth, channel_binding) both sides allow", false, nil}
}

func (c *Config) requiresTLS() bool {
	switch c.sslmode {
	case "require", "verify-ca", "verify-full":
		return true
	}
	return false
}

func isTLS(err error) bool { return tlsLeaf(err) != nil }

// tlsLeaf finds the error of the TLS layer, nil when there is none.
func tlsLeaf(err error) error {
	var verify *tls.CertificateVerificationError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &name):
		return name
	case errors.As(err, &authority):
		return authority
	case errors.As(err, &invalid):
		return invalid
	case errors.As(err, &verify):
		return verify
	case errors.As(err, &record):
		return record
	case errors.As(err, &alert):
		return alert
	}
	return nil
}

func tlsReason(err error) string {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return "the answer is not TLS"
	}
	return tlsLeaf(err).Error()
}

// pgMessage is what the server said, "" when err is not from the server.
func pgMessage(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Message
	}
	return ""
}
