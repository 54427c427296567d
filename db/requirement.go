package db

import (
	"fmt"
	"strings"
)

// Level is how much a role is meant to do.
type Level string

// The levels. Act includes Watch; Reporting is a producer that writes down which
// count it works with, and nothing else.
const (
	Watch     Level = "watch"
	Act       Level = "act"
	Reporting Level = "report"
)

// The kinds of things that rights are about.
const (
	onDatabase   = "database"
	onSchema     = "schema"
	onTable      = "table"
	onFunction   = "function"
	onSequences  = "sequences"        // all of a schema
	onFuture     = "future sequences" // those that a role will make in a schema
	inRole       = "role"             // its privileges without asking
	actingAsRole = "acting as"        // SET ROLE
)

// requirement is one privilege that a level needs. The lists below are the only
// place that knows them: Rights checks them, Grants prints them.
type requirement struct {
	Level           Level
	kind, schema    string
	name, privilege string
	who             string // the role that needs it when that is not ours
	owner           string // of future sequences
	needed          bool   // without it the level is impossible, not only poorer
	poorer          string // what is lost without it
	careful         string // why granting it is a decision of its own
}

// awaRequirements is what Awa's objects must grant, schema being the storage
// schema.
func awaRequirements(schema string) []requirement {
	req := []requirement{{Level: Watch, kind: onSchema, schema: "awa", privilege: "USAGE", needed: true}}
	if schema != "awa" {
		req = append(req, requirement{Level: Watch, kind: onSchema, schema: schema, privilege: "USAGE", needed: true})
	}
	sel := func(schema, name string, needed bool, poorer string) {
		req = append(req, requirement{Level: Watch, kind: onTable, schema: schema, name: name,
			privilege: "SELECT", needed: needed, poorer: poorer})
	}
	for _, f := range []string{"storage_status", "active_queue_storage_schema", "active_storage_engine"} {
		req = append(req, requirement{Level: Watch, kind: onFunction, schema: "awa", name: f, privilege: "EXECUTE", needed: true})
	}
	for _, t := range []string{"schema_version", "storage_transition_state", "runtime_storage_backends", "queue_meta"} {
		sel("awa", t, true, "")
	}
	sel("awa", "runtime_instances", false, "running instances of Awa are not shown")
	for _, t := range []string{"queue_lanes", "queue_enqueue_heads", "queue_claim_heads"} {
		sel(schema, t, true, "")
	}
	sel(schema, "ready_segments", false, "depth and lag are unknown, so nothing shrinks")
	sel(schema, "ready_tombstones", false, "depth is unknown, so nothing shrinks")
	sel(schema, "queue_claimer_state", false, "claimers are not shown")
	for _, p := range []string{"INSERT", "UPDATE"} {
		req = append(req, requirement{Level: Act, kind: onTable, schema: "awa", name: "queue_meta", privilege: p, needed: true})
	}
	return req
}

// ownerRequirements is what the owner of the lanes must be able to do, because
// lanes are provisioned in its name.
func ownerRequirements(schema, owner string) []requirement {
	req := []requirement{
		{Level: Act, kind: onSchema, schema: schema, privilege: "USAGE", who: owner, needed: true},
		{Level: Act, kind: onSchema, schema: schema, privilege: "CREATE", who: owner, needed: true},
	}
	for _, t := range []string{"queue_enqueue_heads", "queue_claim_heads"} {
		for _, p := range []string{"SELECT", "INSERT"} {
			req = append(req, requirement{Level: Act, kind: onTable, schema: schema, name: t, privilege: p, who: owner, needed: true})
		}
	}
	return req
}

// ownRequirements is what shardpilot's own schema must grant.
func ownRequirements() []requirement {
	const lost = "policy and the decision log cannot be read: shadow in memory only"
	req := []requirement{{Level: Watch, kind: onSchema, schema: ownSchema, privilege: "USAGE", poorer: lost}}
	for _, t := range []string{"version", "policy", "decision", "pending", "leader", "producer"} {
		req = append(req, requirement{Level: Watch, kind: onTable, schema: ownSchema, name: t, privilege: "SELECT", poorer: lost})
	}
	for _, t := range []string{"policy", "decision", "pending", "leader", "producer"} {
		for _, p := range []string{"INSERT", "UPDATE", "DELETE"} {
			req = append(req, requirement{Level: Act, kind: onTable, schema: ownSchema, name: t, privilege: p, needed: true})
		}
	}
	return req
}

// reportRequirements is all that a producer needs to report its count.
func reportRequirements() []requirement {
	req := []requirement{{Level: Reporting, kind: onSchema, schema: ownSchema, privilege: "USAGE", needed: true}}
	for _, p := range []string{"SELECT", "INSERT", "UPDATE"} {
		req = append(req, requirement{Level: Reporting, kind: onTable, schema: ownSchema, name: "producer", privilege: p, needed: true})
	}
	return req
}

// statsRequirement shows what other roles' sessions do.
func statsRequirement() requirement {
	return requirement{Level: Watch, kind: inRole, name: "pg_read_all_stats",
		poorer: "what other roles' sessions do is hidden: waits are shown, their causes are not"}
}

func sequenceRequirement(schema string) requirement {
	return requirement{Level: Watch, kind: onSequences, schema: schema, privilege: "SELECT",
		poorer: "enqueue rate and depth of some lanes are unknown"}
}

func futureRequirement(schema, owner string) requirement {
	return requirement{Level: Watch, kind: onFuture, schema: schema, owner: owner, privilege: "SELECT",
		poorer: "lanes made from now on cannot be read"}
}

// actingRequirement is needed because lanes must belong to one role, whoever
// provisions them.
func actingRequirement(owner string, super bool) requirement {
	r := requirement{Level: Act, kind: actingAsRole, name: owner, needed: true}
	if super {
		r.careful = "the lanes belong to a superuser, so this right is every right; better give the lanes to an ordinary role"
	}
	return r
}

// what names the privilege, in SQL's words.
func (r requirement) what() string {
	var s string
	switch r.kind {
	case onDatabase:
		s = "CONNECT on database " + ident(r.name)
	case onSchema:
		s = r.privilege + " on schema " + ident(r.schema)
	case onTable:
		s = r.privilege + " on " + ident(r.schema, r.name)
	case onFunction:
		s = r.privilege + " on function " + ident(r.schema, r.name) + "()"
	case onSequences:
		s = r.privilege + " on the lane sequences in schema " + ident(r.schema)
	case onFuture:
		s = r.privilege + " on the sequences that " + ident(r.owner) + " will make in schema " + ident(r.schema)
	case inRole:
		s = "membership in " + ident(r.name)
	case actingAsRole:
		s = "SET ROLE " + ident(r.name) + " (owner of the lane sequences)"
	}
	if r.who != "" {
		s += " for " + ident(r.who)
	}
	return s
}

// grant is the statement that gives role the privilege; version is
// server_version_num, since memberships have options from 160000 on.
func (r requirement) grant(role string, version int) string {
	if r.who != "" {
		role = r.who
	}
	to := " TO " + ident(role)
	switch r.kind {
	case onDatabase:
		return "GRANT CONNECT ON DATABASE " + ident(r.name) + to + ";"
	case onSchema:
		return "GRANT " + r.privilege + " ON SCHEMA " + ident(r.schema) + to + ";"
	case onTable:
		return "GRANT " + r.privilege + " ON " + ident(r.schema, r.name) + to + ";"
	case onFunction:
		return "GRANT " + r.privilege + " ON FUNCTION " + ident(r.schema, r.name) + "()" + to + ";"
	case onSequences:
		return "GRANT " + r.privilege + " ON ALL SEQUENCES IN SCHEMA " + ident(r.schema) + to + ";"
	case onFuture:
		return fmt.Sprintf("ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s GRANT %s ON SEQUENCES%s;",
			ident(r.owner), ident(r.schema), r.privilege, to)
	case inRole:
		return "GRANT " + ident(r.name) + to + option(version, " WITH INHERIT TRUE") + ";"
	default:
		return "GRANT " + ident(r.name) + to + option(version, " WITH INHERIT FALSE, SET TRUE") + ";"
	}
}

func option(version int, text string) string {
	if version >= 160000 {
		return text
	}
	return ""
}

// grants prints requirements for one role, tables of a schema together.
func grants(req []requirement, role string, version int) []string {
	var out []string
	tables := map[string][]string{}
	key := func(r requirement) string { return r.schema + "\x00" + r.name + "\x00" + r.who }
	for _, r := range req {
		if r.kind == onTable {
			tables[key(r)] = append(tables[key(r)], r.privilege)
		}
	}
	for _, r := range req {
		if r.kind != onTable {
			statement := r.grant(role, version)
			if r.careful != "" {
				statement = "-- careful: " + r.careful + "\n" + statement
			}
			out = append(out, statement)
			continue
		}
		if list := tables[key(r)]; list != nil { // once for each table, at its first privilege
			r.privilege = strings.Join(list, ", ")
			out = append(out, r.grant(role, version))
			delete(tables, key(r))
		}
	}
	return out
}
