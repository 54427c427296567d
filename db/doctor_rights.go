package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// rights makes one finding of the rights whose lack has the same consequence,
// with one block of statements; each right by itself is in Report.Rights.
func (r *Report) rights(ctx context.Context, conn *pgx.Conn, _ DoctorOptions) error {
	if r.Awa.State == control.AwaNotInstalled || r.Awa.State == "" {
		return nil
	}
	set, err := Rights(ctx, conn, r.Awa)
	if err != nil {
		return err
	}
	r.Rights = set
	for _, alike := range set.gaps() {
		first := alike[0]
		detail := "missing: " + summary(alike)
		switch {
		case first.req.kind == inRole:
			r.add(FoundStatsHidden, StateWarn, detail+"; "+first.Poorer, set.block(alike))
		case first.Needed && first.Level == Watch:
			r.add(FoundWatchRight, StateFail, detail, set.block(alike))
		case first.Needed:
			r.add(FoundActRight, StateWarn, detail+"; shardpilot can watch and not write", set.block(alike))
		default:
			r.add(FoundPoorer, StateWarn, detail+"; "+first.Poorer, set.block(alike))
		}
	}
	if unknown := set.unknown(); len(unknown) > 0 {
		r.unknown(FoundRightUnknown, "it cannot be found out yet: "+summary(unknown))
	} else if len(set.Lacking()) == 0 {
		r.ok("rights", fmt.Sprintf("role %s has every right for watching and acting", ident(set.Role)))
	}
	return nil
}

// gaps groups the known rights that are not there by what their lack means, in
// the order in which they can be mended.
func (s RightSet) gaps() [][]Right {
	type meaning struct {
		level  Level
		needed bool
		poorer string
	}
	at := map[meaning]int{}
	var groups [][]Right
	for _, r := range s.Lacking() {
		m := meaning{r.Level, r.Needed, r.Poorer}
		i, found := at[m]
		if !found {
			i, at[m] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// block is the statements that give rights, tables together, one a line.
func (s RightSet) block(rights []Right) string {
	if len(rights) == 1 && rights[0].req.careful == "" {
		return rights[0].Fix
	}
	var req []requirement
	for _, r := range rights {
		req = append(req, r.req)
	}
	return strings.Join(grants(req, s.Role, s.version), "\n")
}

// unknown lists the rights that could not be found out.
func (s RightSet) unknown() []Right {
	var out []Right
	for _, r := range s.Rights {
		if !r.Known {
			out = append(out, r)
		}
	}
	return out
}
