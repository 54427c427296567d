package db

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// Defaults of Options.
const (
	DefaultConnectTimeout   = 5 * time.Second
	DefaultStatementTimeout = 10 * time.Second
	DefaultLockTimeout      = 2 * time.Second
	DefaultIdleTimeout      = 15 * time.Second
)

// Options is what the program adds to a connection string. The zero value is
// usable.
type Options struct {
	// Flags of the command line; "" when not given. One that contradicts the
	// connection string is refused.
	Host, Port, User, Database string
	// FlagsWin lets them change a part of the string instead: it is a habit, of a
	// configuration file, not something said together with them.
	FlagsWin bool

	// ConnectTimeout holds for each host unless connect_timeout is set.
	ConnectTimeout time.Duration
	// StatementTimeout, LockTimeout and IdleTimeout (idle in transaction) bound
	// what we may cost the server when our own deadlines fail.
	StatementTimeout, LockTimeout, IdleTimeout time.Duration

	// OnNotice receives every NOTICE and WARNING of the server, from whatever
	// goroutine reads the connection. Nil drops them; they never reach a screen.
	OnNotice func(*pgconn.Notice)
	// OnConnect is told of every attempt to connect, from whatever goroutine made
	// it, with the Fault when it failed. May be nil.
	OnConnect func(error)
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&o.ConnectTimeout, DefaultConnectTimeout)
	set(&o.StatementTimeout, DefaultStatementTimeout)
	set(&o.LockTimeout, DefaultLockTimeout)
	set(&o.IdleTimeout, DefaultIdleTimeout)
	return o
}

// Config says where PostgreSQL is and how to get in. It is never changed after
// Parse, so many goroutines may connect with it.
type Config struct {
	pg      *pgx.ConnConfig
	opts    Options
	sslmode string

	hostaddr string // addresses that stand in for the lookup of the hosts
	// Warnings are sentences for the operator: settings that were read and not
	// followed, such as a passfile that others may read.
	Warnings []string
}

// Parse reads a connection string (URL, keyword/value or ""), then the service
// file, PG* variables and defaults. Its errors are usage Faults and never quote
// the string.
func Parse(connString string, opts Options) (*Config, error) {
	set, err := parseConninfo(connString)
	if err != nil {
		return nil, badString(err.Error())
	}
	if err := set.addFlags(opts); err != nil {
		return nil, err
	}
	if err := set.addService(); err != nil {
		return nil, err
	}
	c := &Config{opts: opts.withDefaults()}
	if err := set.translate(c); err != nil {
		return nil, err
	}
	if err := c.build(set); err != nil {
		return nil, err
	}
	c.tune(set)
	return c, nil
}

// build hands the settings to pgx, twice when the password has to be looked
// up, which needs to know host, port, database and user.
func (c *Config) build(set settings) error {
	passfile := set.get("passfile")
	set["passfile"] = os.DevNull // pgx's reader knows neither the permission rule nor colons in passwords
	parse := func() (err error) {
		if c.pg, err = pgx.ParseConfig(set.conninfo()); err != nil {
			return explainParse(set, err)
		}
		return nil
	}
	if err := parse(); err != nil {
		return err
	}
	if c.pg.Database == "" { // libpq's default, and the passfile matches on it
		set["dbname"] = c.pg.User
		if err := parse(); err != nil {
			return err
		}
	}
	if c.pg.Password == "" {
		password, warning := findPassword(passfile, c.pg.Host, c.pg.Port, c.pg.Database, c.pg.User)
		if warning != "" {
			c.Warnings = append(c.Warnings, warning)
		}
		c.pg.Password = password
	}
	return nil
}

// tune sets what shardpilot wants of every connection.
func (c *Config) tune(set settings) {
	c.sslmode = set.get("sslmode")
	if c.sslmode == "" {
		c.sslmode = "prefer"
	}
	if c.pg.ConnectTimeout <= 0 {
		c.pg.ConnectTimeout = c.opts.ConnectTimeout
		c.pg.DialFunc = (&net.Dialer{Timeout: c.opts.ConnectTimeout}).DialContext
	}
	if c.pg.RuntimeParams["application_name"] == "" {
		c.pg.RuntimeParams["application_name"] = "shardpilot"
	}
	// Exec sends parse, bind and execute of an unnamed statement in one packet
	// that ends in one Sync, so a transaction pooler cannot come between them.
	// DescribeExec syncs in the middle; named statements are gone with the
	// backend; the simple protocol would quote arguments on our side.
	c.pg.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.pg.StatementCacheCapacity, c.pg.DescriptionCacheCapacity = 0, 0
	c.pg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if c.opts.OnNotice != nil {
			c.opts.OnNotice(n)
		}
	}
	if c.hostaddr != "" {
		c.pg.LookupFunc = lookupIn(set.get("host"), c.hostaddr, c.pg.LookupFunc)
	}
}

// WithPassword is c with another password.
func (c *Config) WithPassword(password string) *Config {
	out := *c
	out.pg = c.pg.Copy()
	out.pg.Password = password
	return &out
}

// Direct is the way in for sessions that are not shardpilot's and go to the
// server itself: those of a load. The caller owns it.
func (c *Config) Direct() *pgx.ConnConfig {
	pg := c.pg.Copy()
	pg.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	pg.StatementCacheCapacity = directStatements
	return pg
}

// directStatements is how many statements such a session keeps prepared.
const directStatements = 64

// String says where the connection goes, without the password.
func (c *Config) String() string {
	return fmt.Sprintf("host=%s dbname=%s user=%s sslmode=%s", c.hosts(), c.pg.Database, c.pg.User, c.sslmode)
}

// GoString keeps the password out of %#v.
func (c *Config) GoString() string { return c.String() }

// User is the role that Connect logs in as, for a password prompt.
func (c *Config) User() string { return c.pg.User }

// hosts lists host:port of every host, in the order in which they are tried.
func (c *Config) hosts() string {
	list := []string{hostPort(c.pg.Host, c.pg.Port)}
	for _, f := range c.pg.Fallbacks {
		if hp := hostPort(f.Host, f.Port); hp != list[len(list)-1] {
			list = append(list, hp)
		}
	}
	return strings.Join(list, ",")
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// get is the value of a keyword, or of its PG* variable.
func (s settings) get(key string) string {
	if v, ok := s[key]; ok {
		return v
	}
	return os.Getenv(variables[key])
}

// addFlags puts the flags into s and refuses one that contradicts it.
func (s settings) addFlags(o Options) error {
	for _, f := range []struct{ flag, key, value string }{
		{"--host", "host", o.Host}, {"--port", "port", o.Port},
		{"--user", "user", o.User}, {"--dbname", "dbname", o.Database},
	} {
		if f.value == "" {
			continue
		}
		if was := s[f.key]; was != "" && was != f.value && !o.FlagsWin {
			return &control.Fault{Kind: control.FaultUsage,
				What: fmt.Sprintf("%s contradicts the connection string, which has another %s", f.flag, f.key),
				Hint: "give it once: leave out the flag, or take " + f.key + " out of the string"}
		}
		s[f.key] = f.value
	}
	return nil
}

// explainParse turns pgx's refusal into a Fault without pgx's text, which may
// quote what it could not read.
func explainParse(set settings, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return &control.Fault{Kind: control.FaultUsage,
			What: fmt.Sprintf("a TLS file cannot be read: %s: %v", path.Path, path.Err),
			Hint: "check sslrootcert, sslcert and sslkey (or PGSSLROOTCERT, PGSSLCERT, PGSSLKEY)"}
	}
	for key, valid := range valueOf {
		if v := set.get(key); v != "" && !valid(v) {
			return badString(key + " has a value that libpq does not know")
		}
	}
	if strings.HasPrefix(set.get("sslmode"), "verify-") || set.get("sslcert") != "" {
		return badString("the TLS files (sslrootcert, sslcert, sslkey) could not be used together")
	}
	return badString("host, port or another value could not be read")
}

func badString(why string) error {
	return &control.Fault{Kind: control.FaultUsage,
		What: "the connection string cannot be used: " + why,
		Hint: "write postgres://user@host:port/dbname?sslmode=… or \"host=… dbname=…\"; a password is better kept in the passfile, " +
			"in a URL its special characters must be percent-encoded (@ as %40, / as %2F, : as %3A)"}
}
