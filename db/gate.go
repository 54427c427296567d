package db

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
)

// gateBounds hold for every transaction of a Gate. The lock timeout is below
// that of the store, which may stand behind us at the log's lock; the idle
// timeout is how long a transaction may outlive a connection that broke.
var gateBounds = limits{Statement: 5 * time.Second, Lock: time.Second, Idle: 5 * time.Second}

// patientBounds hold while waiting for another change, or for one that may
// still be under way on a connection that broke.
var patientBounds = limits{Statement: gateBounds.Idle + 5*time.Second, Lock: gateBounds.Idle + 3*time.Second, Idle: gateBounds.Idle}

// Gate is the one place from which awa.queue_meta.enqueue_shards is written,
// for people and for the controller. It implements loop.Gate.
//
//	look ──▶ lanes (only up) ──▶ the change, in one transaction
//	  │         │                  lock · look again · lanes verified, or drained ·
//	  │         │                  compare-and-set · pending step · policy · log
//	  ▼         ▼                    │           │
//	refused, superseded, failed ◀────┘           ├──▶ applied
//	(logged in a transaction of their own)       └──▶ no answer: look in the log
//
// The look is made twice: before lanes are made, so that nothing is touched for
// a step that cannot be carried out, and inside the transaction, which is what
// counts. Lanes are made in short transactions of their own, because making
// them takes locks that a change must not wait for; lanes that nobody uses yet
// do no harm.
//
// When the connection ends during the commit nobody can know from that alone
// what happened. The gate connects again and waits for the lock that the old
// transaction holds; once that is free the transaction is over, and its entry
// is in the log or it is not.
type Gate struct {
	cfg  *Config
	lead loop.Leader
	opts GateOptions
	// rules have the budgets.
	rules control.Rules
	// doubt bounds the search for what came of a commit. It is longer than a
	// transaction without a client may last.
	doubt time.Duration

	mu   sync.Mutex // one step at a time
	conn *pgx.Conn
}

// GateOptions are what a Gate must know of its process.
type GateOptions struct {
	// Mode of the process. Unless it is enforced, every step that no person
	// asked for is refused.
	Mode control.Mode
	// Policy has the budgets: QueueChanges in QueueSpan, DatabaseChanges in
	// DatabaseSpan. Defaults where they are 0.
	Policy control.Policy
	// AllowNewerAwa lets a version above NewestAwa be written when every probe
	// of its catalogue holds.
	AllowNewerAwa bool
}

// NewGate makes a Gate. lead may be nil for a process that only carries a
// person's words; steps of the controller are then refused.
func NewGate(cfg *Config, lead loop.Leader, o GateOptions) *Gate {
	d := control.DefaultPolicy()
	if o.Policy.QueueChanges == 0 || o.Policy.QueueSpan == 0 {
		o.Policy.QueueChanges, o.Policy.QueueSpan = d.QueueChanges, d.QueueSpan
	}
	if o.Policy.DatabaseChanges == 0 || o.Policy.DatabaseSpan == 0 {
		o.Policy.DatabaseChanges, o.Policy.DatabaseSpan = d.DatabaseChanges, d.DatabaseSpan
	}
	return &Gate{cfg: cfg, lead: lead, opts: o, rules: control.Rules{Policy: o.Policy}, doubt: 20 * time.Second}
}

// Use puts other budgets in force. It waits for the step that is being carried
// out, if there is one.
func (g *Gate) Use(rules control.Rules) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = rules
}

// Close closes the connection, if there is one.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conn == nil {
		return nil
	}
	conn := g.conn
	g.conn = nil
	return conn.Close(ctx)
}

// connect gives a connection that works as far as we know.
func (g *Gate) connect(ctx context.Context) (*pgx.Conn, error) {
	if g.conn != nil && !g.conn.IsClosed() {
		return g.conn, nil
	}
	g.conn = nil
	conn, err := g.cfg.Connect(ctx)
	if err != nil {
		return nil, err
	}
	g.conn = conn
	return conn, nil
}

// Apply implements loop.Gate. It returns an error, a *control.Fault, only when
// what happened is not known or could not be logged; the Fault says which.
//
// It may take longer than ctx lasts: what was begun is looked up, and logged,
// within some seconds more.
func (g *Gate) Apply(ctx context.Context, s control.Step) (control.Change, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	made := provisioned{}
	err := g.attempt(limited, s, &made)
	var done *applied
	if errors.As(err, &done) {
		return changeOf(done.entry), nil
	}
	var lost *commitLost
	if errors.As(err, &lost) {
		there, doubt := g.lookUp(ctx, lost.entry)
		if doubt != nil {
			return control.Change{}, inDoubt(s, doubt)
		}
		if there {
			return changeOf(lost.entry), nil
		}
		err = &halt{control.OutcomeFailed, control.ReasonRetry, "the connection broke at the commit, and nothing was written"}
	}
	return g.settle(ctx, s, asHalt(err), made)
}

// attempt carries a step out. Its result is always an error: *applied, a *halt,
// *commitLost, or whatever broke.
func (g *Gate) attempt(ctx context.Context, s control.Step, made *provisioned) error {
	if h := sound(s); h != nil {
		return h
	}
	conn, err := g.connect(ctx)
	if err != nil {
		return err
	}
	var scene scene
	err = inTx(ctx, conn, gateBounds, func(tx pgx.Tx) error {
		scene, err = g.look(ctx, tx, s)
		return err
	})
	if err != nil {
		return err
	}
	if s.To > s.From && s.Provision {
		if err := provision(ctx, conn, scene, s, made); err != nil {
			return err
		}
	}
	return g.change(ctx, conn, s, *made)
}

// sound refuses what no state of the database could make right.
func sound(s control.Step) *halt {
	bad := ""
	switch {
	case s.Queue == "":
		bad = "no queue is named"
	case s.From < control.MinShards || s.From > control.MaxShards || s.To < control.MinShards || s.To > control.MaxShards:
		bad = "a count is 1 to 64, not " + arrow(s)
	case s.From == s.To:
		bad = "the count is " + strconv.Itoa(s.To) + " already"
	case s.Hand && (s.Actor == "" || s.Actor == controller || s.Actor == elsewhere):
		bad = "a person's step needs the person's name"
	case !s.Hand && s.Actor != controller:
		bad = "only the controller acts without a hand"
	case s.Save && !s.Hand:
		bad = "only a person changes a policy"
	case s.Save && s.Policy.Queue != s.Queue:
		bad = "the policy is of another queue"
	}
	if bad == "" {
		return nil
	}
	return &halt{control.OutcomeRefused, control.ReasonBadStep, bad}
}

// The actors that are no persons.
const (
	controller = "controller"
	elsewhere  = "elsewhere"
)

func arrow(s control.Step) string { return strconv.Itoa(s.From) + "→" + strconv.Itoa(s.To) }

func changeOf(e control.LogEntry) control.Change {
	return control.Change{At: e.At, Queue: e.Queue, From: e.From, To: e.To, Actor: e.Actor, Outcome: e.Outcome, Detail: e.Detail}
}
