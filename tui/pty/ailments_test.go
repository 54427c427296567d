package pty

import (
	"testing"

	"shardpilot/db"
	"shardpilot/db/local/pgtest"
)

// How a finding is mended.
const (
	printed = iota // by SQL or a command, run as it is printed
	step           // by something that is done elsewhere, which the case does
	nothing        // not at all, so nothing is printed
)

// ailment is one finding: what makes it, and what should follow.
type ailment struct {
	code, name string
	with       []string // what else is found, since it cannot be broken alone
	leaves     string   // what stays possible: "" everything, watch, none
	mends      int
	server     func(testing.TB) *pgtest.DB // nil: the shared one
	// breaks makes it. What it gives back takes the step that is printed, or
	// what must follow the printed statement before it shows.
	breaks func(*patient) func()
}

// breaking is an ailment made by SQL.
func breaking(statements ...string) func(*patient) func() {
	return func(p *patient) func() {
		p.t.Helper()
		p.do(statements...)
		return nil
	}
}

// until SQL undoes it.
func undone(by string, statements ...string) func(*patient) func() {
	return func(p *patient) func() {
		p.t.Helper()
		p.do(statements...)
		return func() { p.do(by) }
	}
}

const (
	serverSays = `current_setting(text) RETURNS text`
	atLane     = `SELECT awa.reserve_enqueue_seq('orders', 2::smallint, 0::smallint, 1)`
)

func ailments() []ailment {
	return append(append(serverAilments(), awaAilments()...), ownAilments()...)
}

func serverAilments() []ailment {
	version := func(number string) func(*patient) func() {
		return func(p *patient) func() {
			p.pretend(serverSays, `sql STABLE AS $$ SELECT CASE WHEN $1 = 'server_version_num' THEN '`+number+`' ELSE pg_catalog.current_setting($1) END $$`)
			return p.honest
		}
	}
	pooled := func(p *patient) {
		p.operator()
		as := *p.d
		as.URL = p.url
		p.url = as.Bouncer(p.t, "transaction")
	}
	return []ailment{
		{code: "server_too_old", mends: step, breaks: version("130011")},
		{code: "server_untried", mends: nothing, breaks: version("160003")},
		{code: "standby", leaves: "watch", mends: step, breaks: func(p *patient) func() {
			p.pretend(`pg_is_in_recovery() RETURNS boolean`, `sql AS 'SELECT true'`)
			return p.honest
		}},
		{code: "read_only", leaves: "watch", breaks: breaking(`ALTER ROLE OPERATOR_ SET default_transaction_read_only = on`)},
		{code: "pooler", with: []string{"timeouts"}, mends: step, breaks: func(p *patient) func() {
			p.operator()
			direct := p.url
			pooled(p)
			return func() { p.url = direct }
		}},
		{code: "timeouts", with: []string{"pooler"}, breaks: func(p *patient) func() {
			pooled(p)
			return func() { p.do(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'OPERATOR_'`) }
		}},
		{code: "clock", mends: step, breaks: func(p *patient) func() {
			p.pretend(`clock_timestamp() RETURNS timestamptz`, `sql AS $$ SELECT pg_catalog.clock_timestamp() - interval '10 s' $$`)
			return p.honest
		}},
		{code: "statistics_off", breaks: func(p *patient) func() {
			p.do(`ALTER DATABASE ` + p.d.Name + ` SET track_activities = off`)
			return nil
		}},
		{code: "statistics_hidden", breaks: breaking(`REVOKE pg_read_all_stats FROM OPERATOR_`)},
		{code: "transaction_long", with: []string{"clock"}, breaks: func(p *patient) func() {
			p.open(`SELECT 1`)
			p.pretend(`clock_timestamp() RETURNS timestamptz`, `sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 h' $$`)
			return nil
		}},
		{code: "transaction_long", name: "prepared", with: []string{"clock", "holder_long"}, server: preparing, breaks: func(p *patient) func() {
			p.open(atLane, `PREPARE TRANSACTION 'it''s left'`)
			p.pretend(`clock_timestamp() RETURNS timestamptz`, `sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 h' $$`)
			return nil
		}},
		{code: "look_failed", leaves: "watch", mends: nothing, breaks: func(p *patient) func() {
			p.pretend(`hashtextextended(text, bigint) RETURNS bigint`, `plpgsql AS $$ BEGIN RAISE 'out of order'; END $$`)
			return p.honest
		}},
	}
}

func preparing(t testing.TB) *pgtest.DB {
	return pgtest.NewServer(t, pgtest.Versions()[0], map[string]string{"max_prepared_transactions": "4"})
}

func awaAilments() []ailment {
	state := func(p *patient, set string) func() {
		p.do(`CREATE TABLE kept AS SELECT * FROM awa.storage_transition_state`, `UPDATE awa.storage_transition_state SET `+set)
		return func() {
			p.do(`UPDATE awa.storage_transition_state s SET state = k.state, current_engine = k.current_engine, prepared_engine = k.prepared_engine,
				details = k.details, finalized_at = k.finalized_at FROM kept k`)
		}
	}
	return []ailment{
		{code: "awa_not_installed", with: []string{"schema_absent"}, leaves: "none", mends: step, breaks: func(p *patient) func() {
			right := p.url
			p.url = pgtest.One(p.t).URL
			return func() { p.url = right }
		}},
		{code: "awa_too_old", leaves: "watch", mends: step,
			breaks: undone(`INSERT INTO awa.schema_version (version, description) VALUES (43, '')`, `UPDATE awa.schema_version SET version = 30`)},
		{code: "awa_newer", leaves: "watch", mends: step, breaks: func(p *patient) func() {
			p.do(`UPDATE awa.schema_version SET version = 99`)
			return func() { p.flags = append(p.flags, "--allow-newer-awa") }
		}},
		{code: "awa_canonical", leaves: "none", mends: step, breaks: func(p *patient) func() {
			return state(p, `state = 'canonical', current_engine = 'canonical', prepared_engine = NULL, details = '{}', finalized_at = NULL`)
		}},
		{code: "awa_transition", leaves: "watch", mends: step, breaks: func(p *patient) func() {
			return state(p, `state = 'mixed_transition', current_engine = 'canonical', prepared_engine = 'queue_storage', finalized_at = NULL`)
		}},
		{code: "awa_hidden", with: []string{"right_to_watch", "right_to_act", "right_unknown"}, leaves: "none", breaks: breaking(`REVOKE SELECT ON awa.queue_claim_heads FROM WATCHER_`)},
		{code: "awa_migration", mends: step, breaks: func(p *patient) func() {
			migrator := p.d.Connect(p.t)
			do(p.t, migrator, `SELECT pg_advisory_lock((1096237407::int8 << 32) | 1296648018)`)
			return func() { do(p.t, migrator, `SELECT pg_advisory_unlock_all()`) }
		}},
		{code: "right_to_watch", with: []string{"awa_hidden", "right_to_act"}, leaves: "none", breaks: breaking(`REVOKE SELECT ON awa.queue_lanes, awa.queue_meta FROM WATCHER_`)},
		{code: "right_wanted", with: []string{"right_to_act"}, leaves: "watch", breaks: breaking(`REVOKE SELECT ON awa.ready_segments, awa.runtime_instances FROM WATCHER_`)},
		{code: "right_wanted", name: "lanes to come", with: []string{"right_to_act"}, leaves: "watch", breaks: breaking(`ALTER DEFAULT PRIVILEGES IN SCHEMA awa REVOKE SELECT ON SEQUENCES FROM WATCHER_`)},
		{code: "right_to_act", leaves: "watch", breaks: func(p *patient) func() {
			p.watcher()
			return nil
		}},
		{code: "right_unknown", mends: nothing, breaks: breaking(`DROP TABLE awa.runtime_instances`)},
		{code: "holder_long", breaks: func(p *patient) func() {
			p.open(atLane)
			return nil
		}},
		{code: "holder_long", name: "prepared", server: preparing, breaks: func(p *patient) func() {
			p.open(atLane, `PREPARE TRANSACTION 'left'`)
			return nil
		}},
		{code: "holder_hidden", with: []string{"statistics_hidden", "right_to_act"}, leaves: "watch", breaks: func(p *patient) func() {
			p.open(atLane)
			p.do(`REVOKE pg_read_all_stats FROM WATCHER_`)
			return nil
		}},
		{code: "lanes_mixed_owners", breaks: breaking(`DO $$ DECLARE seq text; BEGIN
			   SELECT seq_name INTO seq FROM awa.queue_enqueue_heads WHERE enqueue_shard = 1;
			   GRANT CREATE ON SCHEMA awa TO OPERATOR_;
			   EXECUTE format('ALTER SEQUENCE awa.%I OWNER TO OPERATOR_', seq);
			 END $$`)},
		{code: "lanes_missing", breaks: breaking(`UPDATE awa.queue_meta SET enqueue_shards = 4 WHERE queue = 'orders'`)},
		{code: "lanes_unused", mends: nothing, breaks: breaking(`UPDATE awa.queue_meta SET enqueue_shards = 1 WHERE queue = 'orders'`)},
		{code: "queue_without_lanes", breaks: breaking(`INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('it''s new', 2)`)},
	}
}

func ownAilments() []ailment {
	uninstall := func(p *patient) {
		if _, err := db.Uninstall(bounded(p.t), p.admin, false); err != nil {
			p.t.Fatal(err)
		}
	}
	report := `INSERT INTO shardpilot.producer (instance_id, queue, shards) VALUES ('checkout-1', 'orders', 1)`
	return []ailment{
		{code: "producer_stale", mends: step, breaks: undone(`UPDATE shardpilot.producer SET shards = 2`, report)},
		{code: "producer_stale", name: "at an old lane", with: []string{"lanes_unused", "holder_long"}, mends: step, breaks: func(p *patient) func() {
			old := p.open(`SELECT awa.reserve_enqueue_seq('orders', 2::smallint, 1::smallint, 1)`)
			p.do(`UPDATE awa.queue_meta SET enqueue_shards = 1`)
			return func() { do(p.t, old, `ROLLBACK`) }
		}},
		{code: "schema_absent", leaves: "watch", breaks: func(p *patient) func() {
			uninstall(p)
			return nil
		}},
		{code: "schema_foreign", leaves: "watch", breaks: func(p *patient) func() {
			uninstall(p)
			p.do(`CREATE SCHEMA shardpilot`, `CREATE TABLE shardpilot.ours ()`)
			return nil
		}},
		{code: "schema_hidden", with: []string{"right_wanted", "right_to_act"}, leaves: "watch", breaks: breaking(`REVOKE SELECT ON shardpilot.version FROM WATCHER_`)},
		{code: "schema_newer", leaves: "watch", mends: step,
			breaks: undone(`DELETE FROM shardpilot.version WHERE version = 99`, `INSERT INTO shardpilot.version (version) VALUES (99)`)},
		{code: "leader_hidden", with: []string{"right_wanted", "right_to_act"}, leaves: "watch", breaks: breaking(`REVOKE SELECT ON shardpilot.leader FROM WATCHER_`)},
	}
}
