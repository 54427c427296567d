package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// DoctorOptions are what the doctor cannot find in the database.
type DoctorOptions struct {
	AllowNewer bool             // --allow-newer-awa
	Now        func() time.Time // our clock, for the difference to the server's
	// Command is the line by which a shell runs a command of ours on the same
	// database; it holds no secrets.
	Command func(words ...string) string
}

// oldestServer is the first with pg_locks.waitstart. The others were tried.
const oldestServer = 140000

var triedServers = map[int]bool{15: true, 17: true, 18: true}

// skewAllowed is the clock difference in seconds below which nobody needs to
// know: times shown are the server's anyway.
const skewAllowed = 2.0

// heldTooLong is how many seconds a transaction may hold a lane before it is
// worth a finding; the controller calls the same a stuck holder.
const heldTooLong = 2.0

// Doctor looks at everything that shardpilot depends on and says what works,
// what does not and what would mend it. It only reads. A look that fails
// becomes a finding in state unknown; the error is for a connection that broke.
func Doctor(ctx context.Context, conn *pgx.Conn, o DoctorOptions) (Report, error) {
	var r Report
	failed := false
	for _, look := range []func(context.Context, *pgx.Conn, DoctorOptions) error{
		r.place, r.pooling, r.clock, r.awa, r.rights, r.holders, r.transactions, r.owners, r.lanes, r.own, r.producers,
	} {
		if err := look(ctx, conn, o); err != nil {
			if conn.IsClosed() || ctx.Err() != nil {
				return r, fmt.Errorf("the doctor was interrupted: %w", err)
			}
			failed = true
			r.unknown(FoundLookFailed, "one look failed and is left out: "+sqlMessage(err))
		}
	}
	r.sumUp(failed)
	return r, nil
}

// sqlMessage is the server's message for an error, or a fixed word: texts of
// other errors are for the log.
func sqlMessage(err error) string {
	var f *control.Fault
	if errors.As(err, &f) {
		return f.What
	}
	if m := pgMessage(err); m != "" {
		return m
	}
	return "the connection failed"
}

func (r *Report) place(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	d, err := Where(ctx, conn)
	if err != nil {
		return err
	}
	r.Database = d
	f, err := readFacts(ctx, conn, "awa")
	if err != nil {
		return err
	}
	switch {
	case f.version < oldestServer:
		r.add(FoundServerTooOld, StateFail, "PostgreSQL "+d.Version+" does not say since when a lock is awaited; 14 or newer is needed", "upgrade PostgreSQL")
	case !triedServers[f.version/10000]:
		r.add(FoundServerUntried, StateWarn, "PostgreSQL "+d.Version+" should work; 15, 17 and 18 were tried", "")
	default:
		r.ok("server version", "PostgreSQL "+d.Version)
	}
	switch {
	case d.Standby:
		r.add(FoundStandby, StateWarn, "this is a standby: watching works, nothing can be written", "connect to the primary, or name all hosts with target_session_attrs=primary")
	case d.ReadOnly:
		r.add(FoundReadOnly, StateWarn, "transactions are read-only here: watching works, nothing can be written",
			"ALTER ROLE "+ident(d.User)+" SET default_transaction_read_only = off;")
	default:
		r.ok("primary", "a primary that takes writes, up since "+d.StartedAt.UTC().Format(time.RFC3339))
	}
	return nil
}

func (r *Report) pooling(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	pooled, err := Pooled(ctx, conn)
	if err != nil {
		return err
	}
	if pooled {
		r.add(FoundPooler, StateWarn, "a pooler answers in PostgreSQL's stead: watching and writing by hand work, leading does not, because session locks prove nothing there",
			"give the process that shall lead a direct connection to PostgreSQL")
	} else {
		r.ok("pooler", "a direct connection")
	}
	var statement, lock, idle int64
	var active bool
	if err := conn.QueryRow(ctx, query("doctor/settings")).Scan(&statement, &lock, &idle, &active); err != nil {
		return err
	}
	if statement == 0 || lock == 0 || idle == 0 {
		role := "ALTER ROLE " + ident(r.Database.User) + " SET "
		r.add(FoundTimeouts, StateWarn, fmt.Sprintf("the session has statement_timeout %s, lock_timeout %s, idle_in_transaction_session_timeout %s: reads are bounded by shardpilot's own deadlines only, writes set theirs in each transaction",
			bound(statement), bound(lock), bound(idle)),
			"-- for the next connections, of the pooler too:\n"+role+"statement_timeout = '10s';\n"+role+"lock_timeout = '2s';\n"+role+"idle_in_transaction_session_timeout = '15s';")
	} else {
		r.ok("timeouts", fmt.Sprintf("statement %s, lock %s, idle in transaction %s", bound(statement), bound(lock), bound(idle)))
	}
	if !active {
		r.add(FoundStatsOff, StateWarn, "track_activities is off: what holders of lanes do is unknown, and with it whether more shards would help",
			"ALTER DATABASE "+ident(r.Database.Name)+" SET track_activities = on;")
	}
	return nil
}

func bound(ms int64) string {
	if ms == 0 {
		return "off"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func (r *Report) clock(ctx context.Context, conn *pgx.Conn, o DoctorOptions) error {
	var server time.Time
	before := o.Now()
	if err := conn.QueryRow(ctx, query("doctor/clock")).Scan(&server); err != nil {
		return err
	}
	trip := o.Now().Sub(before)
	skew := server.Sub(before.Add(trip / 2)).Seconds()
	r.ClockSkewS, r.RoundTripS = control.Some(skew), control.Some(trip.Seconds())
	switch {
	case skew > skewAllowed:
		r.add(FoundClock, StateWarn, fmt.Sprintf("the server's clock is %.1f s ahead of ours (round trip %.0f ms); times shown are the server's", skew, trip.Seconds()*1000), "set both machines by NTP")
	case skew < -skewAllowed:
		r.add(FoundClock, StateWarn, fmt.Sprintf("the server's clock is %.1f s behind ours (round trip %.0f ms); times shown are the server's", -skew, trip.Seconds()*1000), "set both machines by NTP")
	default:
		r.ok("clock", fmt.Sprintf("the server's clock and ours agree within %.1f s", max(skew, -skew)+trip.Seconds()/2))
	}
	return nil
}

func (r *Report) awa(ctx context.Context, conn *pgx.Conn, o DoctorOptions) error {
	inst, err := Discover(ctx, conn, o.AllowNewer)
	if err != nil {
		return err
	}
	r.Awa = inst
	switch {
	case inst.MayWrite:
		r.ok("awa", inst.Sentence)
	case inst.MayWatch:
		r.add(awaCodes[inst.State], StateWarn, inst.Sentence, inst.Hint)
	default:
		r.add(awaCodes[inst.State], StateFail, inst.Sentence, inst.Hint)
	}
	if inst.Schema == "" {
		return nil
	}
	running, err := MigrationRunning(ctx, conn)
	if err != nil {
		return err
	}
	if running {
		r.add(FoundMigration, StateWarn, "a migration of Awa is running: nothing is written meanwhile", "wait for it to end")
	} else {
		r.ok("awa migration", "none is running")
	}
	return nil
}

// sumUp says what is possible. Where a look failed nobody knows whether acting
// is.
func (r *Report) sumUp(failed bool) {
	r.MayWatch = r.Awa.MayWatch && r.Rights.May(Watch)
	r.MayAct = r.MayWatch && r.Awa.MayWrite && r.Rights.May(Act) && r.Schema.Usable() && !failed && !r.Database.Standby && !r.Database.ReadOnly
	say := func(what string, yes bool) {
		if yes {
			r.Summary = append(r.Summary, what+" is possible")
		} else {
			r.Summary = append(r.Summary, what+" is not possible")
		}
	}
	say("watching", r.MayWatch)
	say("acting", r.MayAct)
}

// Allows says whether a level of use is possible, nil when it is. The text for
// a person is in the report.
func (r Report) Allows(level Level) error {
	what, may := "watching", r.MayWatch
	if level == Act {
		what, may = "acting", r.MayAct
	}
	if may {
		return nil
	}
	return refused(what+" is not possible here", "the report says what would mend it")
}
