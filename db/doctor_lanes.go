package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// lanesOpen says whether the lanes may be looked at.
func (r *Report) lanesOpen() bool {
	return r.Awa.Schema != "" && r.Awa.MayWatch && r.Rights.readable(r.Awa.Schema)
}

// holders finds transactions that keep a lane for long, and says when the
// activity of holders is hidden.
func (r *Report) holders(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	if !r.lanesOpen() {
		return nil
	}
	rows, err := conn.Query(ctx, queryIn("doctor/holders", r.Awa.Schema), heldTooLong, r.Awa.Schema)
	if err != nil {
		return err
	}
	var queue string
	var priority, shard int
	var age *float64
	var s session
	long, hidden := 0, 0
	_, err = pgx.ForEachRow(rows, []any{&queue, &priority, &shard, &s.pid, &age, &s.state, &s.user, &s.app, &s.prepared}, func() error {
		if age == nil {
			hidden++
			return nil
		}
		long++
		r.add(FoundHolder, StateWarn, fmt.Sprintf("%s has held lane (%q, %d, %d) for %.0f s", s, queue, priority, shard, *age), s.end())
		return nil
	})
	if err != nil {
		return err
	}
	if hidden > 0 {
		r.add(FoundHolderHidden, StateUnknown, fmt.Sprintf("%s with a lane, for a time that is hidden from this role", control.Plural(hidden, "session")),
			statsRequirement().grant(r.Database.User, r.Rights.version))
	}
	if long == 0 && hidden == 0 {
		r.ok("lane holders", fmt.Sprintf("no transaction has held a lane for more than %.0f s", heldTooLong))
	}
	return nil
}

// session is somebody's transaction.
type session struct {
	pid              int // 0 for a prepared transaction
	state, user, app string
	prepared         string // its name
}

func (s session) String() string {
	if s.pid == 0 {
		return fmt.Sprintf("the prepared transaction %q of role %s", s.prepared, ident(s.user))
	}
	return fmt.Sprintf("backend %d (%s, role %s, application %q)", s.pid, orDash(s.state), ident(s.user), s.app)
}

// end is the statement that ends it.
func (s session) end() string {
	if s.pid == 0 {
		return "ROLLBACK PREPARED " + literal(s.prepared) + ";"
	}
	return fmt.Sprintf("SELECT pg_terminate_backend(%d);", s.pid)
}

// openTooLong is how many seconds a transaction may be open, whatever it does,
// before its effect on the cleaning up of Awa's tables is worth a finding.
const openTooLong = 900.0

func (r *Report) transactions(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	rows, err := conn.Query(ctx, query("doctor/transactions"), openTooLong)
	if err != nil {
		return err
	}
	var s session
	var age float64
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&s.pid, &age, &s.state, &s.user, &s.app, &s.prepared}, func() error {
		if n++; n <= mostFindings {
			r.add(FoundTransaction, StateWarn, fmt.Sprintf("%s has a transaction open for %.0f min: meanwhile nothing that is deleted can be cleaned up, in Awa's tables too; end it if nobody needs it",
				s, age/60), s.end())
		}
		return nil
	})
	r.more(FoundTransaction, n)
	if err == nil && n == 0 {
		r.ok("long transactions", fmt.Sprintf("none that may be seen is open for more than %.0f min", openTooLong/60))
	}
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// owners finds lanes whose sequences belong to another role than the queue's
// first lane.
func (r *Report) owners(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	if !r.lanesOpen() {
		return nil
	}
	rows, err := conn.Query(ctx, queryIn("doctor/mixed_owners", r.Awa.Schema), r.Awa.Schema)
	if err != nil {
		return err
	}
	var queue, seq, owner, wanted string
	var priority, shard, n int
	_, err = pgx.ForEachRow(rows, []any{&queue, &priority, &shard, &seq, &owner, &wanted}, func() error {
		if n++; n > mostFindings {
			return nil
		}
		r.add(FoundOwners, StateWarn, fmt.Sprintf("lane (%q, %d, %d) belongs to role %s and shard 0 to %s: its producers may be refused",
			queue, priority, shard, ident(owner), ident(wanted)),
			fmt.Sprintf("ALTER SEQUENCE %s OWNER TO %s;", ident(r.Awa.Schema, seq), ident(wanted)))
		return nil
	})
	r.more(FoundOwners, n)
	if err == nil && n == 0 {
		r.ok("lane owners", "the lanes of each queue belong to one role")
	}
	return err
}

// mostFindings of one check are listed; the rest are counted.
const mostFindings = 20

func (r *Report) more(code Code, n int) {
	if n > mostFindings {
		r.add(code, StateWarn, fmt.Sprintf("%d more like these", n-mostFindings), "mend those above, then ask again")
	}
}

// lanes compares the configured counts with the lanes there are.
func (r *Report) lanes(ctx context.Context, conn *pgx.Conn, o DoctorOptions) error {
	if !r.lanesOpen() || len(r.Awa.Missing) > 0 {
		return nil
	}
	rows, err := conn.Query(ctx, queryIn("doctor/lane_counts", r.Awa.Schema))
	if err != nil {
		return err
	}
	var queue string
	var shards, priorities, above, missing, queues, spare, broken int
	var idle, keeping []string
	_, err = pgx.ForEachRow(rows, []any{&queue, &shards, &priorities, &above, &missing}, func() error {
		queues++
		switch {
		case priorities == 0:
			idle = append(idle, queue)
		case missing > 0 && shards > 1:
			if broken++; broken > mostFindings {
				return nil
			}
			r.add(FoundLanesMissing, StateFail, fmt.Sprintf("queue %q is set to %s, with %s of it missing: producers can fail while they race to make them", queue, control.Plural(shards, "shard"), control.Plural(missing, "lane")),
				// A count is written, and lanes are made, only when it changes.
				o.Command("set", "--queue", queue, "--override", strconv.Itoa(shards-1))+" && "+o.Command("set", "--queue", queue, "--override", strconv.Itoa(shards)))
		case above > 0:
			spare += above
			keeping = append(keeping, fmt.Sprintf("%q keeps %d above %d", queue, above, shards))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.more(FoundLanesMissing, broken)
	if spare > 0 {
		r.add(FoundLanesUnused, StateWarn, fmt.Sprintf("%s of %s above the configured count: lanes stay for ever, and every claim looks at them (%s)",
			control.Plural(spare, "lane"), control.Plural(len(keeping), "queue"), shortList(keeping)), "")
	}
	if len(idle) > 0 {
		names := make([]string, len(idle))
		quoted := make([]string, len(idle))
		for i, queue := range idle {
			names[i], quoted[i] = fmt.Sprintf("%q", queue), literal(queue)
		}
		r.add(FoundNoLanes, StateWarn, fmt.Sprintf("%s of queue_meta without lanes, left alone until the first job: %s", control.Plural(len(idle), "row"), shortList(names)),
			"-- only if nobody will use them:\nDELETE FROM awa.queue_meta WHERE queue IN ("+strings.Join(quoted, ", ")+");")
	}
	r.ok("queues", fmt.Sprintf("%d known", queues))
	return nil
}

// literal quotes a string for SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func shortList(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
