package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// scene is what a look found and later parts of a step need.
type scene struct {
	schema string // active storage schema
	role   string // ours
	server int    // server_version_num
	epoch  int64  // of our leadership, 0 for a person's step
}

// setRole is the privilege that SET ROLE asks of a membership.
func (s scene) setRole() string {
	if s.server >= 160000 {
		return "SET"
	}
	return "MEMBER"
}

// look checks everything that can be checked without touching anything, hard
// rules first. It runs in a transaction, on whose connection it relies.
func (g *Gate) look(ctx context.Context, tx pgx.Tx, s control.Step) (scene, error) {
	var sc scene
	if err := g.lookAtServer(ctx, tx, &sc); err != nil {
		return sc, err
	}
	if err := lookAtRights(ctx, tx, &sc, s); err != nil {
		return sc, err
	}
	if err := g.lookAtLead(ctx, tx, &sc, s); err != nil {
		return sc, err
	}
	// Who used the step up is a better answer than what the count is now.
	if err := lookAtPending(ctx, tx, s); err != nil {
		return sc, err
	}
	if err := lookAtCount(ctx, tx, sc, s); err != nil {
		return sc, err
	}
	policy, err := lookAtPolicy(ctx, tx, s)
	if err != nil || s.Hand {
		return sc, err
	}
	if err := g.lookAtRules(ctx, tx, s, policy); err != nil {
		return sc, err
	}
	return sc, g.lookAtBudget(ctx, tx, s)
}

// lookAtServer refuses a server or an Awa that must not be written to.
func (g *Gate) lookAtServer(ctx context.Context, tx pgx.Tx, sc *scene) error {
	where, err := Where(ctx, tx.Conn())
	switch {
	case err != nil:
		return err
	case where.Standby:
		return refuse(control.ReasonStandby, "in recovery, it takes no writes until it is promoted")
	case where.ReadOnly:
		return refuse(control.ReasonReadOnly, "it accepts no writes (default_transaction_read_only)")
	}
	own, err := SchemaState(ctx, tx)
	if err != nil {
		return err
	}
	if !own.Usable() {
		return refuse(control.ReasonStore, "the schema shardpilot is not installed here in version "+strconv.Itoa(SchemaVersion)+
			", or closed to this role: run shardpilot install")
	}
	inst, err := Discover(ctx, tx.Conn(), g.opts.AllowNewerAwa)
	if err != nil {
		return err
	}
	if !inst.MayWrite {
		rule := control.ReasonAwaUnfit
		if inst.State == control.AwaTransition {
			rule = control.ReasonAwaBusy
		}
		return refuse(rule, inst.Sentence)
	}
	sc.schema = inst.Schema
	migrating, err := MigrationRunning(ctx, tx.Conn())
	if err == nil && migrating {
		return refuse(control.ReasonAwaBusy, "Awa's migration lock is held")
	}
	return err
}

// lookAtRights names what our role lacks, before anything is touched.
func lookAtRights(ctx context.Context, tx pgx.Tx, sc *scene, s control.Step) error {
	rights, f, err := plainRights(ctx, tx.Conn(), sc.schema)
	if err != nil {
		return err
	}
	sc.role, sc.server = f.role, f.version
	if err := rights.check(ctx, tx.Conn(), ownRequirements()); err != nil {
		return err
	}
	missing := rights.missing(Act)
	for _, r := range rights.Lacking() {
		if s.Drained && (r.req.name == "ready_segments" || r.req.name == "ready_tombstones") {
			missing = append(missing, r)
		}
	}
	if len(missing) > 0 {
		return refuse(control.ReasonNoRights, "it lacks "+summary(missing)+"; "+fixes(missing))
	}
	return nil
}

// lookAtLead finds leadership and the enforced mode for a step that no person
// asked for.
func (g *Gate) lookAtLead(ctx context.Context, tx pgx.Tx, sc *scene, s control.Step) error {
	if s.Hand {
		return nil
	}
	if s.Mode != control.ModeEnforced || g.opts.Mode != control.ModeEnforced {
		return refuse(control.ReasonNotEnforced, fmt.Sprintf("the step is of mode %s, the process %s", orNone(s.Mode), orNone(g.opts.Mode)))
	}
	var err error
	sc.epoch, err = checkLead(ctx, tx, g.lead)
	var f *control.Fault
	if errors.As(err, &f) {
		return refuse(control.ReasonNotLeader, strings.TrimLeft(strings.TrimPrefix(f.What, "this process does not lead"), ":, "))
	}
	return err
}

func orNone(m control.Mode) control.Mode {
	if m == "" {
		return "shadow"
	}
	return m
}

func lookAtPending(ctx context.Context, tx pgx.Tx, s control.Step) error {
	if s.Pending == 0 {
		return nil
	}
	var from, to int
	var until time.Time
	var over bool
	err := tx.QueryRow(ctx, query("gate/pending"), s.Queue, s.Pending).Scan(&from, &to, &until, &over)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return overtaken(ctx, tx, s)
	case err != nil:
		return err
	case over:
		return &halt{control.OutcomeSuperseded, control.ReasonExpired, "the pending step ended at " + stampOf(until)}
	case from != s.From || to != s.To:
		return supersede(fmt.Sprintf("the pending step is %d→%d, not %s", from, to, arrow(s)))
	}
	return nil
}

// overtaken is gone, and what the count is now when it is another: the step
// may have been ended by somebody who was overtaken in turn.
func overtaken(ctx context.Context, tx pgx.Tx, s control.Step) error {
	err := gone(ctx, tx, s)
	var h, m *halt
	if !errors.As(err, &h) {
		return err
	}
	var count int
	if err := tx.QueryRow(ctx, query("gate/count_only"), s.Queue).Scan(&count); err != nil {
		return err
	}
	if count == s.From {
		return h
	}
	if err := moved(ctx, tx, s, count); !errors.As(err, &m) {
		return err
	}
	return supersede(h.detail + "; " + m.detail)
}

// gone says who used a pending step up, and when.
func gone(ctx context.Context, tx pgx.Tx, s control.Step) error {
	who, err := usedBy(ctx, tx, s.Queue, s.Pending)
	if err != nil {
		return err
	}
	return supersede("the pending step " + arrow(s) + " is over: " + who)
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func lookAtCount(ctx context.Context, tx pgx.Tx, sc scene, s control.Step) error {
	var count int
	var lanes bool
	if err := tx.QueryRow(ctx, queryIn("gate/count", sc.schema), s.Queue).Scan(&count, &lanes); err != nil {
		return err
	}
	switch {
	case !lanes:
		return refuse(control.ReasonNoLanes, "nothing was enqueued there yet, and only queues with lanes are written")
	case count != s.From:
		return moved(ctx, tx, s, count)
	}
	return nil
}

// moved says what the count is now, and who made it that: from our log, or from
// elsewhere.
func moved(ctx context.Context, tx pgx.Tx, s control.Step, count int) error {
	var to int
	var actor string
	var at time.Time
	err := tx.QueryRow(ctx, query("gate/last_change"), s.Queue).Scan(&to, &actor, &at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	now := fmt.Sprintf("the count is %d now, not %d: ", count, s.From)
	switch {
	case err != nil || to != count:
		return supersede(now + "it was set elsewhere, not through this log")
	case actor == elsewhere:
		return supersede(now + "it was set elsewhere, as was noticed at " + stampOf(at))
	}
	return supersede(now + actor + " set it at " + stampOf(at))
}

// lookAtPolicy refuses a step made under a policy that is no longer in force.
func lookAtPolicy(ctx context.Context, tx pgx.Tx, s control.Step) (control.QueuePolicy, error) {
	rows, err := collect(ctx, tx, readPolicy, query("gate/policy"), s.Queue)
	if err != nil {
		return control.QueuePolicy{}, err
	}
	now := control.QueuePolicy{Queue: s.Queue}
	if len(rows) == 1 {
		now = rows[0]
	}
	if now.Generation != s.Policy.Generation {
		detail := "it was removed"
		if now.Generation != 0 {
			detail = "by " + now.UpdatedBy + " at " + stampOf(now.UpdatedAt)
		}
		return now, refuse(control.ReasonPolicyChanged, detail)
	}
	accepted := now.Accepted() || s.Save && s.Policy.Accepted()
	if s.To > control.MinShards && !accepted {
		return now, refuse(control.ReasonNotAccepted, "nobody has for this queue")
	}
	return now, nil
}

// lookAtRules holds a step of the controller against the policy in the
// database, whatever the step itself says.
func (g *Gate) lookAtRules(ctx context.Context, tx pgx.Tx, s control.Step, q control.QueuePolicy) error {
	var now time.Time
	if err := tx.QueryRow(ctx, query("gate/now")).Scan(&now); err != nil {
		return err
	}
	pause, rule := q.PauseUp, control.ReasonPausedUp
	if s.To < s.From {
		pause, rule = q.PauseDown, control.ReasonPausedDown
	}
	most, least := 2*s.From, s.From/2
	if s.Entry.Reason == control.ReasonRevert {
		most++ // the way back from half of an odd count
	}
	switch {
	case q.Pin.Holds(now):
		return refuse(control.ReasonPinned, "at "+strconv.Itoa(q.Pin.Shards)+" by "+q.Pin.By)
	case pause != nil:
		return refuse(rule, "by "+pause.By)
	case q.Mode(g.opts.Mode) != control.ModeEnforced:
		return refuse(control.ReasonNotEnforced, "the policy in force says "+string(q.Mode(g.opts.Mode)))
	case s.To > q.Max && s.To > s.From:
		return refuse(control.ReasonAtMax, arrow(s)+", may have "+strconv.Itoa(q.Max))
	case s.To > most || s.To < least:
		return refuse(control.ReasonBadStep, arrow(s)+" is more than one step")
	}
	return nil
}

func (g *Gate) lookAtBudget(ctx context.Context, tx pgx.Tx, s control.Step) error {
	p, all := g.rules.Of(s.Queue), g.rules.Policy
	var queue, database int
	err := tx.QueryRow(ctx, query("gate/spent"), s.Queue, p.QueueSpan.Seconds(), all.DatabaseSpan.Seconds()).Scan(&queue, &database)
	switch {
	case err != nil:
		return err
	case queue >= p.QueueChanges:
		return refuse(control.ReasonQueueBudget, fmt.Sprintf("%s in %s, may have %d", control.Plural(queue, "change"), p.QueueSpan, p.QueueChanges))
	case database >= all.DatabaseChanges:
		return refuse(control.ReasonDatabaseBudget, fmt.Sprintf("%s in %s, may have %d", control.Plural(database, "change"), all.DatabaseSpan, all.DatabaseChanges))
	}
	return nil
}
