package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/db"
	"shardpilot/db/local"
)

//go:embed sql
var files embed.FS

func statement(name string) string {
	b, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return "" // the server then says that the statement is empty
	}
	return string(b)
}

// Control runs a controller, enforced and by Policy(pace), on a database until
// ctx ends, and calls ready once it would act if there were anything to do (see
// Ready). It returns when all of it has ended; the end of ctx is no error.
type Control func(ctx context.Context, cfg *db.Config, pace float64, ready func()) error

// Options say how to play.
type Options struct {
	// Slow, above 1, lets producers work longer inside their transactions and
	// arrive more rarely by this factor, so that lanes matter and processors do
	// not.
	Slow float64
	// Max, above 0, is the highest count the controller may choose instead of
	// the shape's own.
	Max     int
	Control Control
	By      string           // who accepts partitioned FIFO, name@host
	Now     func() time.Time // our clock
}

// Bench plays on one server. It belongs to one goroutine.
type Bench struct {
	o       Options
	cfg     *db.Config
	conn    *pgx.Conn
	server  *local.Server // nil when it is somebody else's
	awa     *awa          // nil where the schema is the rehearsal's
	name    string
	durable bool
	made    bool // the schemas in the database are ours
}

// Private is what Own starts.
type Private struct {
	PG      string // major version, "" for the newest found
	PGBin   string // directory of binaries
	Durable bool   // commits take the time of a flush, as in production
	Awa     string // Python environment with awa-pg and awa-cli, whose Awa is played on instead of a rehearsal's
	Say     func(string)
}

const (
	database = "experiment"
	// connections that the widest shape needs, and room for the rest.
	connections = 120
	patience    = time.Minute // of one preparation
	stopWithin  = 3 * time.Second
	// memory is where the data of a private server with flushes lies, if there is
	// room. What a shared disk needs for one differs by more from minute to minute
	// than the counts that are compared; so a flush takes at least flush, and the
	// disk, where there is room in memory, is left out of it.
	memory = "/dev/shm"
	room   = 6 << 30
	flush  = time.Millisecond
)

// Own makes a bench on a private PostgreSQL that goes with it.
func Own(ctx context.Context, p Private, o Options) (_ *Bench, err error) {
	settings := map[string]string{"max_connections": strconv.Itoa(connections)}
	var roots []string
	if p.Durable {
		settings["fsync"], settings["full_page_writes"] = "on", "on"
		settings["commit_delay"], settings["commit_siblings"] = strconv.FormatInt(flush.Microseconds(), 10), "0"
		roots = []string{memory}
	}
	server, err := local.Start(ctx, local.Options{Version: p.PG, Bin: p.PGBin, Log: p.Say, Settings: settings, Roots: roots, Room: room})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, server.Stop())
		}
	}()
	if err := administer(ctx, server, "CREATE DATABASE "+database); err != nil {
		return nil, err
	}
	var real *awa
	if p.Awa != "" {
		p.Say("letting Awa make its schema")
		if real, err = newAwa(ctx, server, p.Awa); err != nil {
			return nil, err
		}
	}
	cfg, err := db.Parse(server.URL(database), db.Options{})
	if err != nil {
		return nil, err
	}
	b, err := On(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	b.server, b.durable, b.awa = server, p.Durable, real
	return b, nil
}

// administer runs statements beside the databases that they are about.
func administer(ctx context.Context, server *local.Server, statements ...string) error {
	admin, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	defer closeConn(admin)
	for _, sql := range statements {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// On makes a bench in a database that is there. It refuses, with a
// *control.Fault, one that holds an Awa, a rehearsal or a shardpilot that no
// bench made. Nothing is written before the first Run.
func On(ctx context.Context, cfg *db.Config, o Options) (*Bench, error) {
	o.Slow = max(o.Slow, 1)
	b := &Bench{o: o, cfg: cfg}
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	if err := b.mayPlay(ctx); err != nil {
		closeConn(b.conn)
		return nil, err
	}
	return b, nil
}

// Name says what it plays on, such as "PostgreSQL 18.4" or "PostgreSQL 18.4,
// Awa's schema 40".
func (b *Bench) Name() string {
	if b.awa == nil {
		return b.name
	}
	return fmt.Sprintf("%s, Awa's schema %d", b.name, b.awa.schema)
}

// Server says how it is set up, for a report.
func (b *Bench) Server() string {
	if b.server == nil {
		return b.Name() + ", " + b.cfg.String()
	}
	if b.durable {
		where := "on disk"
		if strings.HasPrefix(b.server.Dir, memory+"/") {
			where = "in memory"
		}
		return fmt.Sprintf("%s, private, data %s, a flush takes %v and more", b.Name(), where, flush)
	}
	return b.Name() + ", private, fsync off"
}

// Intent is what an experiment of some length does to the database, for the
// question before it.
func (b *Bench) Intent(length time.Duration) string {
	return fmt.Sprintf("Experiment in %s: makes the schemas awa and shardpilot, lets up to 33 sessions enqueue and change the shard count for about %s, and drops both schemas at the end.",
		b.cfg, length.Round(time.Minute))
}

// Close removes what it made, and its private server.
func (b *Bench) Close() error {
	var err error
	if b.server != nil {
		err = b.server.Stop()
	} else if b.made {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err = b.connect(ctx); err == nil {
			err = b.clear(ctx)
		}
	}
	closeConn(b.conn)
	return err
}

// connect makes sure of a connection for preparations.
func (b *Bench) connect(ctx context.Context) error {
	if b.conn != nil && !b.conn.IsClosed() {
		return nil
	}
	direct := b.cfg.Direct()
	direct.RuntimeParams["application_name"] = "experiment"
	conn, err := pgx.ConnectConfig(ctx, direct)
	if err != nil {
		// Connect says what is wrong in an operator's words.
		if conn, err = b.cfg.Connect(ctx); err != nil {
			return err
		}
	}
	b.conn = conn
	var version string
	if err := conn.QueryRow(ctx, statement("version")).Scan(&version); err != nil {
		return fmt.Errorf("ask for the server's version: %w", err)
	}
	b.name = "PostgreSQL " + version
	return nil
}

func closeConn(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server notices by itself when this fails
}
