package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// A raise makes the lanes first: producers that meet a count above the lanes
// there are race to make them, and all but one of a race fail.
//
// Lanes are made in the name of whoever owns the queue's sequences of shard 0,
// since a sequence of another owner is closed to producers, and whatever others
// may do with those sequences is granted on the new ones in the same
// transaction. Nothing here takes a lock that a producer of a lane in use holds
// or waits for.

// lanesAtOnce is how many lanes one transaction makes. Each takes a few entries
// of the server's lock table, which Awa shares.
const lanesAtOnce = 16

// provisioned is what became of the lanes of a step.
type provisioned struct {
	lanes  int // made and committed
	wanted int // were missing
}

// note is what a log entry says of the lanes, "" when there is nothing to say.
func (p provisioned) note(used bool) string {
	switch {
	case p.lanes == 0:
		return ""
	case used:
		if p.lanes == 1 {
			return "1 lane made"
		}
		return control.Plural(p.lanes, "lane") + " made"
	}
	return fmt.Sprintf("%d of %d missing lanes were made before that; they stay, and nobody uses them yet", p.lanes, p.wanted)
}

// newLane is a lane that lacks one head or both.
type newLane struct {
	Priority, Shard          int16
	Enqueue, Claim           bool   // the head is missing
	EnqueueOwner, ClaimOwner string // roles in whose name it is to be made
}

// closedLane is a privilege on a sequence of shard 0 that another lane's
// sequence lacks.
type closedLane struct {
	Sequence, Owner string
	MayActAs        bool
	Role            string // "" is PUBLIC
	Privilege       string
	Grantable       bool
}

// provision makes the lanes below s.To that are missing. Rights are checked
// before anything is touched. When every lane is there it writes nothing.
func provision(ctx context.Context, conn *pgx.Conn, sc scene, s control.Step, made *provisioned) error {
	lanes, err := collect(ctx, conn, pgx.RowToStructByPos[newLane], queryIn("provision/missing", sc.schema), sc.schema, s.Queue, s.To)
	if err != nil {
		return err
	}
	made.wanted = len(lanes)
	if err := mayMake(ctx, conn, sc, lanes); err != nil {
		return err
	}
	closed, err := closedLanes(ctx, conn, sc, s)
	if err != nil {
		return err
	}
	if err := mayOpen(sc, closed); err != nil {
		return err
	}
	if len(lanes) == 0 && len(closed) > 0 {
		_, err := makeLanes(ctx, conn, sc, s, nil)
		return err
	}
	for chunk := range slices.Chunk(lanes, lanesAtOnce) {
		n, err := makeLanes(ctx, conn, sc, s, chunk)
		if err != nil {
			h := *asHalt(err)
			h.detail += "; " + control.Plural(len(chunk), "lane") + " in the making, rolled back"
			return &h
		}
		made.lanes += n
	}
	return nil
}

// mayMake names what our role, or the owner of the lanes, lacks.
func mayMake(ctx context.Context, conn *pgx.Conn, sc scene, lanes []newLane) error {
	var names []string
	for _, l := range lanes {
		names = append(names, l.EnqueueOwner, l.ClaimOwner)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	rights := RightSet{Role: sc.role, version: sc.server}
	rows, err := conn.Query(ctx, query("provision/owners"), names, sc.setRole())
	if err != nil {
		return err
	}
	var name string
	var may, super bool
	_, err = pgx.ForEachRow(rows, []any{&name, &may, &super}, func() error {
		rights.add(actingRequirement(name, super), true, may)
		return nil
	})
	if err != nil {
		return err
	}
	for _, owner := range names {
		if err := rights.check(ctx, conn, ownerRequirements(sc.schema, owner)); err != nil {
			return err
		}
	}
	if missing := rights.missing(Act); len(missing) > 0 {
		return refuse(control.ReasonNoRights, "it lacks "+summary(missing)+"; "+fixes(missing))
	}
	return nil
}

func closedLanes(ctx context.Context, q queryer, sc scene, s control.Step) ([]closedLane, error) {
	return collect(ctx, q, pgx.RowToStructByPos[closedLane], queryIn("provision/closed", sc.schema), sc.schema, s.Queue, s.To, sc.setRole())
}

// mayOpen refuses lanes that were made by a role we are no member of and that
// are closed to those who use shard 0: its owner has to open them.
func mayOpen(sc scene, closed []closedLane) error {
	var fixes []string
	for _, c := range closed {
		if !c.MayActAs {
			fixes = append(fixes, c.grant(sc.schema)+";")
		}
	}
	if len(fixes) == 0 {
		return nil
	}
	const most = 4
	more := ""
	if n := len(fixes) - most; n > 0 {
		fixes, more = fixes[:most], fmt.Sprintf(" and %d more", n)
	}
	return refuse(control.ReasonNoRights, "lanes that are there belong to another role than shard 0 and are closed to its users; "+
		strings.Join(fixes, " ")+more)
}

// grant gives the privilege in SQL.
func (c closedLane) grant(schema string) string {
	to, pass := "PUBLIC", ""
	if c.Role != "" {
		to = ident(c.Role)
	}
	if c.Grantable && c.Role != "" && c.Role != c.Owner {
		pass = " WITH GRANT OPTION"
	}
	return "GRANT " + c.Privilege + " ON SEQUENCE " + ident(schema, c.Sequence) + " TO " + to + pass
}

// makeLanes makes a few lanes in one transaction, again when a producer that
// still works with a higher count made one of them at the same moment.
func makeLanes(ctx context.Context, conn *pgx.Conn, sc scene, s control.Step, lanes []newLane) (made int, err error) {
	for range 3 {
		made = 0
		err = inTx(ctx, conn, gateBounds, func(tx pgx.Tx) error {
			if err := turn(ctx, tx, s); err != nil { // two gates must not make the same lanes
				return err
			}
			for _, l := range lanes {
				n, err := makeLane(ctx, tx, sc, s.Queue, l)
				if err != nil {
					return err
				}
				made += n
			}
			if _, err := tx.Exec(ctx, query("provision/act_as_ourselves")); err != nil {
				return err
			}
			return openLanes(ctx, tx, sc, s)
		})
		if !raced(err) {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	return made, nil
}

func raced(err error) bool {
	var pg *pgconn.PgError
	// unique_violation, duplicate_table, deadlock_detected
	return errors.As(err, &pg) && (pg.Code == "23505" || pg.Code == "42P07" || pg.Code == "40P01")
}

// makeLane makes what is missing of one lane and returns 1, or 0 when somebody
// else was faster.
func makeLane(ctx context.Context, tx pgx.Tx, sc scene, queue string, l newLane) (made int, err error) {
	if _, err := tx.Exec(ctx, query("provision/install_key"), sc.schema, queue, l.Priority, l.Shard); err != nil {
		return 0, err
	}
	for _, head := range []struct {
		missing    bool
		name, role string
	}{
		{l.Enqueue, "provision/enqueue_head", l.EnqueueOwner},
		{l.Claim, "provision/claim_head", l.ClaimOwner},
	} {
		if !head.missing {
			continue
		}
		if _, err := tx.Exec(ctx, query("provision/act_as"), head.role); err != nil {
			return 0, err
		}
		tag, err := tx.Exec(ctx, queryIn(head.name, sc.schema), queue, l.Priority, l.Shard)
		if err != nil {
			return 0, err
		}
		made = max(made, int(tag.RowsAffected()))
	}
	return made, nil
}

// openLanes grants on the lanes below s.To what shard 0 has granted.
func openLanes(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) error {
	closed, err := closedLanes(ctx, tx, sc, s)
	if err != nil || len(closed) == 0 {
		return err
	}
	if err := mayOpen(sc, closed); err != nil {
		return err
	}
	for _, c := range closed {
		if _, err := tx.Exec(ctx, query("provision/act_as"), c.Owner); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, c.grant(sc.schema)); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, query("provision/act_as_ourselves"))
	return err
}

// lanesReady verifies, in a statement after the one that made them, that a
// raise finds every lane on both heads, with sequences open to all who use
// those of shard 0.
func lanesReady(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) error {
	if s.To <= s.From {
		return nil
	}
	var heads, unfit int
	if err := tx.QueryRow(ctx, queryIn("provision/unfit", sc.schema), sc.schema, s.Queue, s.To).Scan(&heads, &unfit); err != nil {
		return err
	}
	if unfit > 0 || heads == 0 {
		return refuse(control.ReasonLanesUnfit, fmt.Sprintf("%d of %d heads are missing or have no sequence", unfit, heads))
	}
	closed, err := closedLanes(ctx, tx, sc, s)
	if err != nil || len(closed) == 0 {
		return err
	}
	c := closed[0]
	return refuse(control.ReasonLanesUnfit, fmt.Sprintf("%s of shard 0 missing on other lanes, as %s", control.Plural(len(closed), "privilege"), c.grant(sc.schema)))
}
