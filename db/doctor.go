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
	for _, look := range []func(context.Context, *pgx.Conn, DoctorOptions) error{
		r.place, r.pooling, r.clock, r.awa, r.rights, r.holders, r.owners, r.lanes, r.own,
	} {
		if err := look(ctx, conn, o); err != nil {
			if conn.IsClosed() || ctx.Err() != nil {
				return r, fmt.Errorf("the doctor was interrupted: %w", err)
			}
			r.unknown("doctor", "one look failed and is left out: "+sqlMessage(err))
		}
	}
	r.sumUp()
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
		r.add("server version", StateFail, "PostgreSQL "+d.Version+" does not say since when a lock is awaited; 14 or newer is needed", "upgrade PostgreSQL")
	case !triedServers[f.version/10000]:
		r.add("server version", StateWarn, "PostgreSQL "+d.Version+" should work; 15, 17 and 18 were tried", "")
	default:
		r.add("server version", StateOK, "PostgreSQL "+d.Version, "")
	}
	switch {
	case d.Standby:
		r.add("primary", StateWarn, "this is a standby: watching works, nothing can be written", "connect to the primary, or name all hosts with target_session_attrs=primary")
	case d.ReadOnly:
		r.add("primary", StateWarn, "transactions are read-only here: watching works, nothing can be written",
			"ALTER ROLE "+ident(d.User)+" SET default_transaction_read_only = off;")
	default:
		r.add("primary", StateOK, "a primary that takes writes, up since "+d.StartedAt.UTC().Format(time.RFC3339), "")
	}
	return nil
}

func (r *Report) pooling(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	pooled, err := Pooled(ctx, conn)
	if err != nil {
		return err
	}
	if pooled {
		r.add("pooler", StateWarn, "a pooler answers in PostgreSQL's stead: watching and writing by hand work, leading does not, because session locks prove nothing there",
			"give the process that shall lead a direct connection to PostgreSQL")
	} else {
		r.add("pooler", StateOK, "a direct connection", "")
	}
	var pid int32
	var statement, lock, idle int64
	if err := conn.QueryRow(ctx, query("doctor/settings")).Scan(&pid, &statement, &lock, &idle); err != nil {
		return err
	}
	if statement == 0 || lock == 0 || idle == 0 {
		r.add("timeouts", StateWarn, fmt.Sprintf("the session has statement_timeout %s, lock_timeout %s, idle_in_transaction_session_timeout %s: reads are bounded by shardpilot's own deadlines only, writes set theirs in each transaction",
			bound(statement), bound(lock), bound(idle)), "ALTER ROLE "+ident(r.Database.User)+" SET statement_timeout = '10s'; ALTER ROLE "+ident(r.Database.User)+
			" SET lock_timeout = '2s'; ALTER ROLE "+ident(r.Database.User)+" SET idle_in_transaction_session_timeout = '15s';")
	} else {
		r.add("timeouts", StateOK, fmt.Sprintf("statement %s, lock %s, idle in transaction %s", bound(statement), bound(lock), bound(idle)), "")
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
		r.add("clock", StateWarn, fmt.Sprintf("the server's clock is %.1f s ahead of ours (round trip %.0f ms); times shown are the server's", skew, trip.Seconds()*1000), "set both machines by NTP")
	case skew < -skewAllowed:
		r.add("clock", StateWarn, fmt.Sprintf("the server's clock is %.1f s behind ours (round trip %.0f ms); times shown are the server's", -skew, trip.Seconds()*1000), "set both machines by NTP")
	default:
		r.add("clock", StateOK, fmt.Sprintf("the server's clock and ours agree within %.1f s", max(skew, -skew)+trip.Seconds()/2), "")
	}
	return nil
}

func (r *Report) awa(ctx context.Context, conn *pgx.Conn, o DoctorOptions) error {
	inst, err := Discover(ctx, conn, o.AllowNewer)
	if err != nil {
		return err
	}
	r.Awa = inst
	state := StateFail
	switch {
	case inst.MayWrite:
		state = StateOK
	case inst.MayWatch:
		state = StateWarn
	}
	r.add("awa", state, inst.Sentence, inst.Hint)
	if inst.Schema == "" {
		return nil
	}
	running, err := MigrationRunning(ctx, conn)
	if err != nil {
		return err
	}
	if running {
		r.add("awa migration", StateWarn, "a migration of Awa is running: nothing is written meanwhile", "wait for it to end")
	} else {
		r.add("awa migration", StateOK, "none is running", "")
	}
	return nil
}

// rights makes a finding of each right that is not there, and one of all that
// are.
func (r *Report) rights(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	if r.Awa.State == control.AwaNotInstalled || r.Awa.State == "" {
		return nil
	}
	set, err := Rights(ctx, conn, r.Awa)
	if err != nil {
		return err
	}
	r.Rights = set
	have := 0
	for _, right := range set.Rights {
		check := "right to " + string(right.Level)
		switch {
		case right.Have:
			have++
		case !right.Known:
			r.unknown(check, "it cannot be found out yet: "+right.What)
		case right.Needed && right.Level == Watch:
			r.add(check, StateFail, "missing: "+right.What, right.Fix)
		case right.Needed:
			why := "; shardpilot can watch and not write"
			if right.req.careful != "" {
				why += " (careful: " + right.req.careful + ")"
			}
			r.add(check, StateWarn, "missing: "+right.What+why, right.Fix)
		default:
			r.add(check, StateWarn, "missing: "+right.What+"; "+right.Poorer, right.Fix)
		}
	}
	if have == len(set.Rights) {
		r.add("rights", StateOK, fmt.Sprintf("role %s has every right for watching and acting", ident(set.Role)), "")
	}
	return nil
}

func (r *Report) sumUp() {
	r.MayWatch = r.Awa.MayWatch && r.Rights.May(Watch)
	r.MayAct = r.MayWatch && r.Awa.MayWrite && r.Rights.May(Act) && !r.Database.Standby && !r.Database.ReadOnly
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
