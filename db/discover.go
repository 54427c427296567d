package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// The versions of Awa's schema that shardpilot was tried against.
const (
	OldestAwa = 39
	NewestAwa = 43
)

// The storage states of Awa that we know by name.
const (
	storageActive     = "active"
	storageTransition = "mixed_transition"
)

// Discover finds out what kind of Awa this database holds. It reads only, and
// asks the catalogue for privileges before it reads a table, so that inside a
// transaction no step of it fails and poisons the next.
//
// allowNewer lets a version above NewestAwa be written when every probe holds.
func Discover(ctx context.Context, conn *pgx.Conn, allowNewer bool) (control.Installation, error) {
	found, err := readCatalogue(ctx, conn)
	if err != nil {
		return control.Installation{}, err
	}
	if inst, done, err := found.judge(ctx, conn); done || err != nil {
		return inst, err
	}

	var inst control.Installation
	var state string
	if err := conn.QueryRow(ctx, query("storage")).Scan(&state, &inst.Schema, &inst.Version); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			state = "uninitialised"
		} else {
			return control.Installation{}, fmt.Errorf("read the state of Awa's storage: %w", err)
		}
	}
	if inst.Schema == "" {
		return canonical(inst, state), nil
	}
	canWatch, err := probe(ctx, conn, &inst)
	if err != nil {
		return control.Installation{}, err
	}
	rights, _, err := plainRights(ctx, conn, inst.Schema)
	if err != nil {
		return control.Installation{}, err
	}
	if missing := rights.missing(Watch); len(missing) > 0 && canWatch {
		return hidden(inst, missing), nil
	}
	return classify(inst, state, canWatch, allowNewer), nil
}

// classify names the state of an installation whose storage schema is open to
// us.
func classify(inst control.Installation, state string, canWatch, allowNewer bool) control.Installation {
	inst.MayWatch = canWatch
	switch {
	case inst.Version < OldestAwa || len(inst.Missing) > 0 && inst.Version <= NewestAwa:
		return tooOld(inst)
	case state == storageTransition:
		inst.State = control.AwaTransition
		inst.Sentence = "Awa is moving to queue storage: shardpilot watches and writes nothing until that is finished"
		inst.Hint = "finish the transition with Awa's own command, then look again"
	case state != storageActive:
		inst.State = control.AwaTransition
		inst.Sentence = fmt.Sprintf("Awa's storage is in the state %q, which shardpilot does not know: it watches and writes nothing", state)
		inst.Hint = "use a shardpilot that knows this version of Awa"
	case inst.Version > NewestAwa:
		newer(&inst, allowNewer)
	default:
		inst.State, inst.MayWrite = control.AwaActive, true
		inst.Sentence = fmt.Sprintf("Awa version %d with queue storage in schema %s", inst.Version, ident(inst.Schema))
	}
	return inst
}

func newer(inst *control.Installation, allow bool) {
	inst.State = control.AwaNewer
	inst.MayWrite = allow && len(inst.Missing) == 0
	inst.Sentence = fmt.Sprintf("Awa version %d is newer than %d, the newest that shardpilot was tried against", inst.Version, NewestAwa)
	switch {
	case len(inst.Missing) > 0:
		inst.Sentence += ", and it lacks " + strings.Join(inst.Missing, ", ")
		inst.Hint = "use a shardpilot that knows this version of Awa"
	case inst.MayWrite:
		inst.Sentence += "; every probe of its catalogue holds and writing was allowed by hand"
	default:
		inst.Sentence += "; every probe of its catalogue holds: watched, not written"
		inst.Hint = "try it on a copy first, then --allow-newer-awa lets shardpilot write"
	}
}

func tooOld(inst control.Installation) control.Installation {
	inst.State = control.AwaTooOld
	inst.Sentence = fmt.Sprintf("Awa version %d is too old for shardpilot, which needs %d or newer", inst.Version, OldestAwa)
	if len(inst.Missing) > 0 {
		inst.Sentence += "; it lacks " + strings.Join(inst.Missing, ", ")
	}
	if inst.Version >= OldestAwa {
		inst.Sentence = fmt.Sprintf("Awa says version %d but lacks %s: watched as far as possible, never written", inst.Version, strings.Join(inst.Missing, ", "))
	}
	inst.Hint = "run Awa's migrations (awa migrate) with a current release of Awa"
	return inst
}

func canonical(inst control.Installation, state string) control.Installation {
	inst.State = control.AwaCanonical
	inst.Sentence = fmt.Sprintf("Awa version %d keeps its jobs in canonical storage (state %s): there are no enqueue lanes, so there is nothing to watch or change", inst.Version, state)
	inst.Hint = "activate queue storage with Awa's own commands (awa storage …), then look again"
	if inst.Version > 0 && inst.Version < OldestAwa {
		return tooOld(inst)
	}
	return inst
}

func hidden(inst control.Installation, missing []Right) control.Installation {
	inst.State, inst.MayWatch = control.AwaHidden, false
	inst.Sentence = fmt.Sprintf("Awa is here, but this role may not look: it lacks %s", summary(missing))
	inst.Hint = fixes(missing)
	return inst
}

// MigrationRunning says whether Awa's migration lock is held or awaited: write
// nothing while it is.
func MigrationRunning(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var running bool
	if err := conn.QueryRow(ctx, query("migration_running")).Scan(&running); err != nil {
		return false, fmt.Errorf("look for a running migration of Awa: %w", err)
	}
	return running, nil
}

// probe fills inst.Missing and says whether what watching needs is there.
func probe(ctx context.Context, conn *pgx.Conn, inst *control.Installation) (canWatch bool, err error) {
	rows, err := conn.Query(ctx, query("probes"), inst.Schema)
	if err != nil {
		return false, fmt.Errorf("probe Awa's catalogue: %w", err)
	}
	canWatch = true
	var name string
	var needed, there bool
	_, err = pgx.ForEachRow(rows, []any{&name, &needed, &there}, func() error {
		if !there {
			inst.Missing = append(inst.Missing, name)
			canWatch = canWatch && !needed
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("probe Awa's catalogue: %w", err)
	}
	return canWatch, nil
}
