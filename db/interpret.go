package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"shardpilot/control"
)

// interpret turns an error of a statement into a Fault, by type and SQLSTATE.
// doing is what we were at, as in "install the schema". nil and Faults pass.
func interpret(err error, doing string) error {
	var fault *control.Fault
	if err == nil || errors.As(err, &fault) || errors.Is(err, context.Canceled) {
		return err
	}
	say := func(kind control.FaultKind, why, hint string) error {
		return &control.Fault{Kind: kind, What: "could not " + doing + ": " + why, Hint: hint, Err: err}
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
			return say(control.FaultNoConnection, "the server did not answer in time", "look at the server's load and at the network, then try again")
		}
		return say(control.FaultNoConnection, "the connection broke", "try again; if that lasts, shardpilot doctor says more")
	}
	switch pg.Code {
	case "42501":
		return say(control.FaultRefused, pg.Message, "shardpilot doctor and shardpilot grants name the statement that gives this right")
	case "25006":
		return say(control.FaultRefused, "this server takes no writes (a standby, or default_transaction_read_only)", "connect to the primary: target_session_attrs=primary")
	case "55P03":
		return say(control.FaultRefused, "somebody else held a lock for too long", "try again; shardpilot doctor names long transactions")
	case "57014":
		return say(control.FaultFailed, "the statement took too long and was cancelled", "try again when the server has less to do")
	case "3F000", "42P01", "42703":
		return say(control.FaultFailed, "shardpilot's own tables are not there or of another version", "run shardpilot install")
	case "2BP01":
		return say(control.FaultRefused, "other objects depend on shardpilot's tables", "drop those first: "+pg.Detail)
	case "57P01", "57P02", "57P03", "57P05", "25P03":
		return say(control.FaultNoConnection, "the server ended the connection", "try again")
	}
	return say(control.FaultFailed, fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code), "")
}
