// Package stage sets the demo up: a private PostgreSQL, an Awa-compatible
// schema with shardpilot's own beside it, a load, and queues that are opted in.
package stage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local"
	"shardpilot/db/rehearsal"
)

const (
	database = "demo"
	// maxShards is the highest count the controller may choose, or twice what
	// a queue begins with where that is more.
	maxShards = 8
	// spareSessions are the connections beside those of the producers.
	spareSessions = 100
	stopWithin    = 3 * time.Second
)

// Options say what to play.
type Options struct {
	Shape     string        // see rehearsal.Shape
	PG        string        // major version, "" for the newest found
	PGBin     string        // directory of binaries
	Keep      string        // data directory that stays
	Producers int           // sessions on the hot queue, 0 for the shape's own
	Hold      time.Duration // inside the transaction, below 0 for the shape's own
	Shards    int           // of the hot queue at the start, 0 for the shape's own
	Enforced  bool          // opt the queues in to be acted on as well
	By        string        // who accepts partitioned FIFO for them, name@host

	Connect db.Options               // of Stage.Config
	Now     func() time.Time         // our clock
	Say     func(string)             // one line for each step
	OnError func(rehearsal.Incident) // told every error of the load; may be nil
}

// Stage is a demo at work.
type Stage struct {
	Config *db.Config // connects to it
	// Address connects other programs of this account, with the Passfile in
	// PGPASSFILE: it holds no password.
	Address, Passfile string

	server *local.Server
	load   *rehearsal.Running
}

// Open sets everything up and starts the load. When it fails, nothing is left.
// Its Faults say what to do.
func Open(ctx context.Context, o Options) (_ *Stage, err error) {
	spec, err := spec(o)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{"max_connections": strconv.Itoa(o.Producers + spareSessions)}
	maps.Copy(settings, rehearsal.Settings(o.Shape))
	server, err := local.Start(ctx, local.Options{Version: o.PG, Bin: o.PGBin, Keep: o.Keep, Log: o.Say, Settings: settings})
	if err != nil {
		return nil, err
	}
	s := &Stage{server: server} // not the result, which is nil when something fails
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.Config, err = db.Parse(server.URL(database), o.Connect); err != nil {
		return nil, err
	}
	if s.Address, s.Passfile, err = server.Reach(database); err != nil {
		return nil, err
	}
	if err := furnish(ctx, server, o.Say); err != nil {
		return nil, err
	}
	// The load outlives ctx, so that it can be stopped gracefully.
	if s.load, err = rehearsal.Run(context.WithoutCancel(ctx), server.URL(database), spec); err != nil {
		return nil, err
	}
	if err := optIn(ctx, s.Config, spec.Queues, o); err != nil {
		return nil, err
	}
	o.Say("shape " + o.Shape + ", the load is on queue " + rehearsal.HotQueue)
	return s, nil
}

func spec(o Options) (rehearsal.Spec, error) {
	spec, err := rehearsal.Shape(o.Shape, o.Producers, max(o.Hold, 0))
	if err != nil {
		return spec, err
	}
	for i := range spec.Producers {
		spec.Producers[i].Report = true
		if o.Hold == 0 && spec.Producers[i].Queue == rehearsal.HotQueue {
			spec.Producers[i].Hold = 0 // asked for, unlike the shape's own
		}
	}
	for i := range spec.Queues {
		q := &spec.Queues[i]
		switch {
		case q.Name != rehearsal.HotQueue:
		case o.Shards > 0:
			q.Shards = o.Shards
		case q.Shards == 0:
			q.Shards = 2 // a hot key shows where there is another lane to compare with
		}
	}
	spec.OnError = o.OnError
	return spec, nil
}

// furnish makes the database and both schemas, unless a kept data directory
// has them already.
func furnish(ctx context.Context, server *local.Server, say func(string)) error {
	there, err := makeDatabase(ctx, server)
	if err != nil {
		return fmt.Errorf("make the demo's database: %w", err)
	}
	conn, err := pgx.Connect(ctx, server.URL(database))
	if err != nil {
		return fmt.Errorf("connect to the demo's database: %w", err)
	}
	defer closeConn(conn)
	if there {
		say("using the database that was kept")
	} else {
		say("installing an Awa-compatible schema, and shardpilot's own")
		if err := rehearsal.Install(ctx, conn, rehearsal.Options{}); err != nil {
			return err
		}
	}
	_, err = db.Install(ctx, conn)
	return err
}

func makeDatabase(ctx context.Context, server *local.Server) (there bool, err error) {
	admin, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return false, err
	}
	defer closeConn(admin)
	if err := admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&there); err != nil || there {
		return there, err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize())
	return false, err
}

// optIn lets the controller decide about the queues, and act if asked.
func optIn(ctx context.Context, cfg *db.Config, queues []rehearsal.Queue, o Options) error {
	store := db.NewStore(cfg, nil)
	defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
	for _, queue := range queues {
		p, err := store.Policy(ctx, queue.Name)
		if err != nil {
			return err
		}
		p.Auto, p.Max, p.Enforced = true, max(maxShards, 2*queue.Shards), o.Enforced
		p.AcceptedBy, p.AcceptedAt, p.UpdatedBy = o.By, o.Now(), o.By
		act := control.LogEntry{Mode: p.Mode(control.ModeEnforced), Reason: control.ReasonModeSet, Detail: "opted in by the demo",
			Verb: control.VerbAuto, Actor: o.By}
		if err := store.SetPolicy(ctx, p, act); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the load, cutting off what does not end by itself, and returns
// what it did. The server goes on.
func (s *Stage) Stop() (rehearsal.Stats, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	err := s.load.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // what was in flight is rolled back
	}
	return s.load.Stats(), err
}

// Close stops the load if it still works, and the server with all of its data.
func (s *Stage) Close() error {
	var err error
	if s.load != nil {
		_, err = s.Stop()
	}
	return errors.Join(err, s.server.Stop())
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server notices by itself when this fails
}
