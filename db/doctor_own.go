package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// own says how shardpilot's own schema stands.
func (r *Report) own(ctx context.Context, conn *pgx.Conn, o DoctorOptions) error {
	state, err := SchemaState(ctx, conn)
	if err != nil {
		return err
	}
	r.Schema = state
	switch {
	case state.Foreign:
		r.add(FoundSchemaForeign, StateWarn, "there is a schema shardpilot that is not ours: watch-only, shadow decisions are kept in memory",
			"ALTER SCHEMA shardpilot RENAME TO shardpilot_of_others;")
	case !state.There:
		r.add(FoundNoSchema, StateWarn, "not installed: watch-only, shadow decisions are kept in memory", o.Command("install"))
	case state.Hidden:
		r.add(FoundSchemaHidden, StateUnknown, "installed, but its version is hidden from this role",
			"GRANT USAGE ON SCHEMA shardpilot TO "+ident(r.Database.User)+";\nGRANT SELECT ON shardpilot.version TO "+ident(r.Database.User)+";")
	case state.Version > SchemaVersion:
		r.add(FoundSchemaNewer, StateFail, fmt.Sprintf("version %d is newer than this program's %d", state.Version, SchemaVersion), "use the newer shardpilot")
	case state.Version < SchemaVersion:
		r.add(FoundSchemaOld, StateWarn, fmt.Sprintf("version %d, this program wants %d", state.Version, SchemaVersion), o.Command("install"))
	default:
		r.ok("shardpilot schema", fmt.Sprintf("version %d", state.Version))
		return r.leader(ctx, conn)
	}
	return nil
}

// leader says who decides for this database.
func (r *Report) leader(ctx context.Context, conn *pgx.Conn) error {
	who, err := WhoLeads(ctx, conn)
	switch {
	case codeOf(err) == "42501":
		r.add(FoundLeaderHidden, StateUnknown, "who leads is hidden from this role", "GRANT SELECT ON shardpilot.leader TO "+ident(r.Database.User)+";")
	case err != nil:
		return err
	case who.Alive:
		r.ok("leader", fmt.Sprintf("%s on %s, process %d, leads since %s", who.Name, who.Host, who.PID, who.Since.UTC().Format(time.RFC3339)))
	default:
		r.ok("leader", "nobody leads at the moment: nothing is decided until a shardpilot runs")
	}
	return nil
}

// reportFresh is how many seconds a producer's report is believed.
const reportFresh = 120.0

// producers finds those that say, or show at this moment, that they work with
// another count than the configured one. What only shows over time is on the
// producers' screen.
func (r *Report) producers(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	if !r.lanesOpen() || len(r.Awa.Missing) > 0 {
		return nil
	}
	said, err := r.staleReports(ctx, conn)
	if err != nil && codeOf(err) != "42501" && codeOf(err) != "42P01" { // closed, or not installed
		return err
	}
	seen, err := r.staleSessions(ctx, conn)
	if err != nil {
		return err
	}
	r.more(FoundStale, said+seen)
	if said+seen == 0 {
		r.ok("producers", "none is seen to work with another count than the configured one")
	}
	return nil
}

const whenStale = "they work with an older count, and block steps up"

func (r *Report) staleReports(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	rows, err := conn.Query(ctx, query("doctor/stale_reports"), reportFresh)
	if err != nil {
		return 0, err
	}
	var instance, queue string
	var has, wanted int
	_, err = pgx.ForEachRow(rows, []any{&instance, &queue, &has, &wanted}, func() error {
		if n++; n <= mostFindings {
			r.add(FoundStale, StateWarn, fmt.Sprintf("producer %q reports %d shards of queue %q, which has %d: %s", instance, has, queue, wanted, whenStale),
				fmt.Sprintf("restart producer %q", instance))
		}
		return nil
	})
	return n, err
}

func (r *Report) staleSessions(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	rows, err := conn.Query(ctx, queryIn("doctor/stale_sessions", r.Awa.Schema), r.Awa.Schema)
	if err != nil {
		return 0, err
	}
	var queue, host, app string
	var priority, shard, count, pid int
	_, err = pgx.ForEachRow(rows, []any{&queue, &priority, &shard, &count, &pid, &host, &app}, func() error {
		if n++; n <= mostFindings {
			r.add(FoundStale, StateWarn, fmt.Sprintf("backend %d (application %q at %s) is at lane (%q, %d, %d) of a queue with %d: it began before the count was lowered, or its producer works with an older count",
				pid, app, orDash(host), queue, priority, shard, count), fmt.Sprintf("restart the producer %q at %s", app, orDash(host)))
		}
		return nil
	})
	return n, err
}
