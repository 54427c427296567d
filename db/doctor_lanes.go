package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
	var queue, state, user, app string
	var priority, shard, pid int
	var age *float64
	long, hidden := 0, 0
	_, err = pgx.ForEachRow(rows, []any{&queue, &priority, &shard, &pid, &age, &state, &user, &app}, func() error {
		if age == nil {
			hidden++
			return nil
		}
		long++
		r.add("lane holders", StateWarn, fmt.Sprintf("backend %d (%s, role %s, application %q) has held lane (%q, %d, %d) for %.0f s",
			pid, orDash(state), ident(user), app, queue, priority, shard, *age), fmt.Sprintf("SELECT pg_terminate_backend(%d);", pid))
		return nil
	})
	if err != nil {
		return err
	}
	if hidden > 0 {
		r.unknown("lane holders", fmt.Sprintf("%d sessions hold a lane for a time that is hidden from this role", hidden))
	}
	if long == 0 && hidden == 0 {
		r.add("lane holders", StateOK, fmt.Sprintf("no transaction has held a lane for more than %.0f s", heldTooLong), "")
	}
	return nil
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
		r.add("lane owners", StateWarn, fmt.Sprintf("lane (%q, %d, %d) belongs to role %s and shard 0 to %s: its producers may be refused",
			queue, priority, shard, ident(owner), ident(wanted)),
			fmt.Sprintf("ALTER SEQUENCE %s OWNER TO %s;", ident(r.Awa.Schema, seq), ident(wanted)))
		return nil
	})
	r.more("lane owners", n)
	if err == nil && n == 0 {
		r.add("lane owners", StateOK, "the lanes of each queue belong to one role", "")
	}
	return err
}

// mostFindings of one check are listed; the rest are counted.
const mostFindings = 20

func (r *Report) more(check string, n int) {
	if n > mostFindings {
		r.add(check, StateWarn, fmt.Sprintf("%d more like these", n-mostFindings), "mend those above, then ask again")
	}
}

// lanes compares the configured counts with the lanes there are.
func (r *Report) lanes(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
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
			idle = append(idle, fmt.Sprintf("%q", queue))
		case missing > 0 && shards > 1:
			if broken++; broken > mostFindings {
				return nil
			}
			r.add("lanes", StateFail, fmt.Sprintf("queue %q is set to %d shards and %d lanes of it do not exist: producers can fail while they race to make them", queue, shards, missing),
				// A count is written, and lanes are made, only when it changes.
				fmt.Sprintf("shardpilot set --queue %[1]s --override %[2]d && shardpilot set --queue %[1]s --override %[3]d", shellWord(queue), shards-1, shards))
		case above > 0:
			spare += above
			keeping = append(keeping, fmt.Sprintf("%q keeps %d above %d", queue, above, shards))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.more("lanes", broken)
	if spare > 0 {
		r.add("lanes above the count", StateWarn, fmt.Sprintf("%d lanes of %d queues are above the configured count: they stay for ever, and every claim looks at them (%s)",
			spare, len(keeping), shortList(keeping)), "")
	}
	if len(idle) > 0 {
		r.add("queues without lanes", StateWarn, fmt.Sprintf("%d rows of queue_meta have no lanes yet and are left alone: %s", len(idle), shortList(idle)), "")
	}
	r.add("queues", StateOK, fmt.Sprintf("%d known", queues), "")
	return nil
}

func shortList(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// shellWord quotes a word for a POSIX shell.
func shellWord(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// own says how shardpilot's own schema stands.
func (r *Report) own(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	state, err := SchemaState(ctx, conn)
	if err != nil {
		return err
	}
	switch {
	case !state.There:
		r.add("shardpilot schema", StateWarn, "not installed: watch-only, shadow decisions are kept in memory", "shardpilot install")
	case state.Hidden:
		r.unknown("shardpilot schema", "installed, but its version is hidden from this role")
	case state.Version > SchemaVersion:
		r.add("shardpilot schema", StateFail, fmt.Sprintf("version %d is newer than this program's %d", state.Version, SchemaVersion), "use the newer shardpilot")
	case state.Version < SchemaVersion:
		r.add("shardpilot schema", StateWarn, fmt.Sprintf("version %d, this program wants %d", state.Version, SchemaVersion), "shardpilot install")
	default:
		r.add("shardpilot schema", StateOK, fmt.Sprintf("version %d", state.Version), "")
		return r.leader(ctx, conn)
	}
	return nil
}

// leader says who decides for this database.
func (r *Report) leader(ctx context.Context, conn *pgx.Conn) error {
	who, err := WhoLeads(ctx, conn)
	switch {
	case codeOf(err) == "42501":
		r.unknown("leader", "who leads is hidden from this role")
	case err != nil:
		return err
	case who.Alive:
		r.add("leader", StateOK, fmt.Sprintf("%s on %s, process %d, leads since %s", who.Name, who.Host, who.PID, who.Since.UTC().Format(time.RFC3339)), "")
	default:
		r.add("leader", StateOK, "nobody leads at the moment: nothing is decided until a shardpilot runs", "")
	}
	return nil
}
