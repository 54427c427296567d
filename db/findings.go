package db

import "shardpilot/control"

// Code names a finding for good. docs/operations.md has a row for each, and
// scripts may rely on them: codes are added, never renamed.
type Code string

// The findings. What is fine has no code.
const (
	FoundServerTooOld  Code = "server_too_old"
	FoundServerUntried Code = "server_untried"
	FoundStandby       Code = "standby"
	FoundReadOnly      Code = "read_only"
	FoundPooler        Code = "pooler"
	FoundTimeouts      Code = "timeouts"
	FoundClock         Code = "clock"
	FoundNoAwa         Code = "awa_not_installed"
	FoundAwaTooOld     Code = "awa_too_old"
	FoundAwaCanonical  Code = "awa_canonical"
	FoundAwaTransition Code = "awa_transition"
	FoundAwaNewer      Code = "awa_newer"
	FoundAwaHidden     Code = "awa_hidden"
	FoundMigration     Code = "awa_migration"
	FoundWatchRight    Code = "right_to_watch"
	FoundPoorer        Code = "right_wanted"
	FoundActRight      Code = "right_to_act"
	FoundRightUnknown  Code = "right_unknown"
	FoundStatsHidden   Code = "statistics_hidden"
	FoundStatsOff      Code = "statistics_off"
	FoundHolder        Code = "holder_long"
	FoundHolderHidden  Code = "holder_hidden"
	FoundTransaction   Code = "transaction_long"
	FoundOwners        Code = "lanes_mixed_owners"
	FoundLanesMissing  Code = "lanes_missing"
	FoundLanesUnused   Code = "lanes_unused"
	FoundNoLanes       Code = "queue_without_lanes"
	FoundStale         Code = "producer_stale"
	FoundNoSchema      Code = "schema_absent"
	FoundSchemaForeign Code = "schema_foreign"
	FoundSchemaHidden  Code = "schema_hidden"
	FoundSchemaOld     Code = "schema_old"
	FoundSchemaNewer   Code = "schema_newer"
	FoundLeaderHidden  Code = "leader_hidden"
	FoundLookFailed    Code = "look_failed"
)

// checks is what was looked at, in words, for each finding.
var checks = map[Code]string{
	FoundServerTooOld: "server version", FoundServerUntried: "server version",
	FoundStandby: "primary", FoundReadOnly: "primary",
	FoundPooler: "pooler", FoundTimeouts: "timeouts", FoundClock: "clock",
	FoundNoAwa: "awa", FoundAwaTooOld: "awa", FoundAwaCanonical: "awa", FoundAwaTransition: "awa",
	FoundAwaNewer: "awa", FoundAwaHidden: "awa", FoundMigration: "awa migration",
	FoundWatchRight: "right to watch", FoundPoorer: "right to watch", FoundActRight: "right to act", FoundRightUnknown: "rights",
	FoundStatsHidden: "statistics", FoundStatsOff: "statistics",
	FoundHolder: "lane holders", FoundHolderHidden: "lane holders", FoundTransaction: "long transactions",
	FoundOwners: "lane owners", FoundLanesMissing: "lanes", FoundLanesUnused: "lanes above the count",
	FoundNoLanes: "queues without lanes", FoundStale: "producers",
	FoundNoSchema: "shardpilot schema", FoundSchemaForeign: "shardpilot schema", FoundSchemaHidden: "shardpilot schema",
	FoundSchemaOld: "shardpilot schema", FoundSchemaNewer: "shardpilot schema",
	FoundLeaderHidden: "leader", FoundLookFailed: "doctor",
}

var awaCodes = map[control.AwaState]Code{
	control.AwaNotInstalled: FoundNoAwa, control.AwaTooOld: FoundAwaTooOld, control.AwaCanonical: FoundAwaCanonical,
	control.AwaTransition: FoundAwaTransition, control.AwaNewer: FoundAwaNewer, control.AwaHidden: FoundAwaHidden,
}
