package db

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// halt ends a step without a change: how, by which rule, and the figures. It
// travels as an error so that the transaction around it is rolled back.
type halt struct {
	outcome control.Outcome
	rule    control.Reason
	detail  string
}

func (h *halt) Error() string { return h.words() }

func (h *halt) words() string {
	if h.detail == "" {
		return h.rule.Words()
	}
	return h.rule.Words() + ": " + h.detail
}

func refuse(rule control.Reason, detail string) *halt {
	return &halt{control.OutcomeRefused, rule, detail}
}

func supersede(detail string) *halt {
	return &halt{control.OutcomeSuperseded, control.ReasonSuperseded, detail}
}

// applied is the happy end of an attempt.
type applied struct{ entry control.LogEntry }

func (a *applied) Error() string { return "applied" }

// commitLost is a commit without an answer: entry is in the log, or not.
type commitLost struct {
	entry control.LogEntry
	err   error
}

func (c *commitLost) Error() string { return "the commit was not answered: " + c.err.Error() }
func (c *commitLost) Unwrap() error { return c.err }

// asHalt is how an error that was met before anything was committed ends a
// step.
func asHalt(err error) *halt {
	var h *halt
	if errors.As(err, &h) {
		return h
	}
	rule, outcome := control.ReasonRetry, control.OutcomeFailed
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "42501": // insufficient_privilege
			rule, outcome = control.ReasonNoRights, control.OutcomeRefused
		case "25006": // read_only_sql_transaction
			rule, outcome = control.ReasonReadOnly, control.OutcomeRefused
		}
	}
	var f *control.Fault
	if err = interpret(err, "change the count"); !errors.As(err, &f) {
		return &halt{outcome, rule, "it was cancelled; nothing was written"} // only a cancelled context is no Fault
	}
	if f.Kind == control.FaultRefused && pg == nil {
		outcome = control.OutcomeRefused
	}
	detail := f.What
	if outcome == control.OutcomeFailed {
		detail += "; nothing was written"
	}
	if f.Hint != "" {
		detail += "; " + f.Hint
	}
	return &halt{outcome, rule, detail}
}
