package db

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// Right is one privilege that a level of use needs, and whether our role has
// it.
type Right struct {
	Level  Level  `json:"level"`
	What   string `json:"what"`             // the privilege in SQL's words
	Have   bool   `json:"have"`             //
	Known  bool   `json:"known"`            // false: could not be found out, mostly because the object is not there
	Needed bool   `json:"needed"`           // without it the level is impossible
	Poorer string `json:"poorer,omitempty"` // what is lost without it, when it is not needed
	Fix    string `json:"fix,omitempty"`    // the statement that gives it, "" when we have it
	req    requirement
}

// RightSet is every right, in an order in which the fixes can be run.
type RightSet struct {
	Role    string  `json:"role"`
	Rights  []Right `json:"rights"`
	version int     // server_version_num
}

// facts is what statements about rights depend on.
type facts struct {
	database, role string
	version        int    // server_version_num
	lanesOwner     string // of the table of lanes, "" when there is none
	ownSchema      bool   // shardpilot's schema is there
	stats          bool   // pg_read_all_stats is effective
	inherits       bool   // the role's attribute INHERIT
	owners         []laneOwner
}

// laneOwner is a role that owns sequences of lanes.
type laneOwner struct {
	Name              string
	Lanes, Unreadable int64
	FutureReadable    bool
	MayActAs, Super   bool
	Makes             bool // further lanes are made in its name
}

func readFacts(ctx context.Context, conn *pgx.Conn, schema string) (facts, error) {
	var f facts
	err := conn.QueryRow(ctx, query("facts"), schema).Scan(
		&f.database, &f.role, &f.version, &f.lanesOwner, &f.ownSchema, &f.stats, &f.inherits)
	if err != nil {
		return facts{}, fmt.Errorf("ask for our role and rights: %w", err)
	}
	return f, nil
}

// readOwners fills f.owners: from the lanes when we may read them, or else
// from the owner of the table of lanes, whose sequences they are going to be.
func (f *facts) readOwners(ctx context.Context, conn *pgx.Conn, schema string, readable bool) error {
	setRole := "SET"
	if f.version < 160000 {
		setRole = "MEMBER"
	}
	rows := func(rows pgx.Rows, err error) error {
		if err != nil {
			return err
		}
		var o laneOwner
		_, err = pgx.ForEachRow(rows, []any{&o.Name, &o.Lanes, &o.Unreadable, &o.FutureReadable, &o.MayActAs, &o.Super, &o.Makes}, func() error {
			f.owners = append(f.owners, o)
			return nil
		})
		return err
	}
	if readable {
		if err := rows(conn.Query(ctx, queryIn("lane_owners", schema), schema, setRole)); err != nil {
			return fmt.Errorf("ask who owns the lanes: %w", err)
		}
	}
	if len(f.owners) == 0 && f.lanesOwner != "" {
		if err := rows(conn.Query(ctx, query("future_owner"), f.lanesOwner, schema, setRole)); err != nil {
			return fmt.Errorf("ask who will own the lanes: %w", err)
		}
	}
	return nil
}

// Rights says item by item what our role may do, with the statement that mends
// what it may not. It reads the catalogue, and the lanes when it may.
func Rights(ctx context.Context, conn *pgx.Conn, inst control.Installation) (RightSet, error) {
	schema := cmp.Or(inst.Schema, "awa")
	set, f, err := plainRights(ctx, conn, schema)
	if err != nil {
		return RightSet{}, err
	}
	if err := f.readOwners(ctx, conn, schema, set.readable(schema)); err != nil {
		return RightSet{}, err
	}
	if err := set.checkOwners(ctx, conn, schema, f); err != nil {
		return RightSet{}, err
	}
	set.add(statsRequirement(), true, f.stats)
	if last := &set.Rights[len(set.Rights)-1]; !f.stats && !f.inherits && f.version < 160000 {
		// Before memberships had options, only the role's own attribute helps.
		last.Fix += " ALTER ROLE " + ident(f.role) + " INHERIT;"
	}
	if f.ownSchema {
		err = set.check(ctx, conn, ownRequirements())
	}
	return set, err
}

// plainRights is the part of Rights that the catalogue alone answers, at a cost
// that does not grow with the number of lanes.
func plainRights(ctx context.Context, conn *pgx.Conn, schema string) (RightSet, facts, error) {
	f, err := readFacts(ctx, conn, schema)
	if err != nil {
		return RightSet{}, facts{}, err
	}
	set := RightSet{Role: f.role, version: f.version}
	err = set.check(ctx, conn, awaRequirements(schema))
	return set, f, err
}

// checkOwners adds what hangs on the owners of the lanes.
func (s *RightSet) checkOwners(ctx context.Context, conn *pgx.Conn, schema string, f facts) error {
	unreadable := int64(0)
	for _, o := range f.owners {
		unreadable += o.Unreadable
	}
	s.add(sequenceRequirement(schema), s.readable(schema), unreadable == 0)
	for _, o := range f.owners {
		s.add(futureRequirement(schema, o.Name), true, o.FutureReadable)
		s.add(actingRequirement(o.Name, o.Super), true, o.MayActAs)
		if !o.Makes {
			continue
		}
		if err := s.check(ctx, conn, ownerRequirements(schema, o.Name)); err != nil {
			return err
		}
	}
	return nil
}

// check asks the server for a list of privileges in one statement.
func (s *RightSet) check(ctx context.Context, conn *pgx.Conn, req []requirement) error {
	col := func(get func(requirement) string) []string {
		out := make([]string, len(req))
		for i, r := range req {
			out[i] = get(r)
		}
		return out
	}
	rows, err := conn.Query(ctx, query("rights"),
		col(func(r requirement) string { return r.kind }), col(func(r requirement) string { return r.schema }),
		col(func(r requirement) string { return r.name }), col(func(r requirement) string { return r.privilege }),
		col(func(r requirement) string { return r.who }))
	if err != nil {
		return fmt.Errorf("ask for our rights: %w", err)
	}
	var n int
	var there, have bool
	_, err = pgx.ForEachRow(rows, []any{&n, &there, &have}, func() error {
		s.add(req[n-1], there, have)
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask for our rights: %w", err)
	}
	return nil
}

func (s *RightSet) add(r requirement, known, have bool) {
	right := Right{Level: r.Level, What: r.what(), Have: known && have, Known: known, Needed: r.needed, Poorer: r.poorer, req: r}
	if !right.Have && known {
		right.Fix = r.grant(s.Role, s.version)
	}
	s.Rights = append(s.Rights, right)
}

// readable says whether the lanes of a schema can be read by us.
func (s *RightSet) readable(schema string) bool {
	n := 0
	for _, r := range s.Rights {
		onHeads := r.req.kind == onTable && (r.req.name == "queue_enqueue_heads" || r.req.name == "queue_claim_heads")
		onIt := r.req.kind == onSchema && r.req.schema == schema
		if r.req.Level == Watch && r.req.schema == schema && (onHeads || onIt) && r.Have {
			n++
		}
	}
	return n >= 3
}

// May says whether every right that the level cannot do without is there.
func (s RightSet) May(level Level) bool {
	if len(s.missing(Watch)) > 0 {
		return false
	}
	return level == Watch || len(s.missing(level)) == 0
}

// missing lists what the level cannot do without and does not have.
func (s RightSet) missing(level Level) []Right {
	var out []Right
	for _, r := range s.Rights {
		if r.Level == level && r.Needed && r.Known && !r.Have {
			out = append(out, r)
		}
	}
	return out
}

// Lacking lists every known right that is not there, needed or not.
func (s RightSet) Lacking() []Right {
	var out []Right
	for _, r := range s.Rights {
		if r.Known && !r.Have {
			out = append(out, r)
		}
	}
	return out
}

// summary names the first few rights.
func summary(rights []Right) string {
	const most = 3
	var names []string
	for i, r := range rights {
		if i == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(rights)-most)
		}
		names = append(names, r.What)
	}
	return strings.Join(names, ", ")
}

// fixes joins the statements that mend rights into one line to paste.
func fixes(rights []Right) string {
	var out []string
	for _, r := range rights {
		out = append(out, r.Fix)
	}
	return strings.Join(out, " ")
}
