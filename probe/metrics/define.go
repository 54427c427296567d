package metrics

import "github.com/prometheus/client_golang/prometheus"

// definition is one metric: what a scrape says of it and what the page
// docs/metrics.md says.
type definition struct {
	name   string
	kind   prometheus.ValueType
	unit   string // as the page names it
	help   string
	labels []string
	desc   *prometheus.Desc
}

// section is a part of the page.
type section struct {
	title string
	list  []*definition
}

// othersHelp ends the help of what can be summed.
const othersHelp = ` queue="` + Others + `" is the sum over the queues without series of their own.`

func define(kind prometheus.ValueType, name, unit, help string, labels ...string) *definition {
	return &definition{name: name, kind: kind, unit: unit, help: help, labels: labels,
		desc: prometheus.NewDesc(name, help, labels, nil)}
}

func gauge(name, unit, help string, labels ...string) *definition {
	return define(prometheus.GaugeValue, name, unit, help, labels...)
}

func counter(name, unit, help string, labels ...string) *definition {
	return define(prometheus.CounterValue, name, unit, help, labels...)
}

// of a queue, by its physical name.
func queueGauge(name, unit, help string, more ...string) *definition {
	return gauge(name, unit, help, append([]string{"queue"}, more...)...)
}

func summedGauge(name, unit, help string) *definition {
	return gauge(name, unit, help+othersHelp, "queue")
}

func summedCounter(name, unit, help string) *definition {
	return counter(name, unit, help+othersHelp, "queue")
}

// Units, as the page names them. Yes or no is 1 or 0; a fact is always 1 and
// says what it says in its labels.
const (
	seconds  = "seconds"
	sessions = "sessions"
	jobs     = "jobs"
	shards   = "enqueue shards"
	ratio    = "ratio, 0 to 1"
	times    = "ratio, 1 is no difference"
	yesNo    = "1 or 0"
	fact     = "always 1"
	unixTime = "seconds since 1970"
	number   = "count"
)

// Contention at the lanes.
var (
	laneLockWait = summedCounter("awa_enqueue_lane_lock_wait_seconds_total", seconds,
		"Session-seconds that producers have spent waiting for an enqueue lane of the queue: mean waiting sessions times the length of each measured period. Periods that were not measured add nothing.")
	laneWaiters = summedGauge("awa_enqueue_lane_waiters", sessions,
		"Sessions waiting for an enqueue lane of the queue, mean over the last period (normally a second).")
	laneHolders = summedGauge("awa_enqueue_lane_holders", sessions,
		"Sessions holding an enqueue lane of the queue, mean over the last period.")
	laneSessions = summedGauge("awa_enqueue_lane_sessions", sessions,
		"Sessions inside an enqueue, waiting for a lane or having one, mean over the last period.")
	waitShare = queueGauge("awa_enqueue_lane_wait_ratio", ratio,
		"Share of the producers' time at the lanes that is waiting: waiting / (waiting + holding) over the last 30 s.")
	waitShareLow = queueGauge("awa_enqueue_lane_wait_low_ratio", ratio,
		"Lower end of the 95% interval of awa_enqueue_lane_wait_ratio.")
	waitShareHigh = queueGauge("awa_enqueue_lane_wait_high_ratio", ratio,
		"Upper end of the 95% interval of awa_enqueue_lane_wait_ratio.")
	waitCause = queueGauge("awa_enqueue_lane_wait_cause_ratio", ratio,
		"Share of the waiting over the last 30 s that was behind holders of this class: lane (at work, more lanes would help), notify (in line to commit notifications), stuck (one transaction for 2 s or longer), unknown (hidden from our role). Absent while nobody waits.", "cause")
	waitPerJob = queueGauge("awa_enqueue_lane_wait_per_job_seconds", seconds,
		"Mean time an enqueued job has waited for its lane, over the last 30 s.")
	enqueued = summedCounter("awa_enqueue_jobs_total", jobs,
		"Jobs enqueued, as the lanes' sequences advanced, in the periods that were measured.")
	enqueueRate = summedGauge("awa_enqueue_jobs_per_second", "jobs per second",
		"Jobs enqueued per second over the last period, as the lanes' sequences advanced.")
	depth = summedGauge("awa_queue_depth_jobs", jobs,
		"Ready jobs not yet claimed, in all lanes of the queue.")
	lag = queueGauge("awa_queue_lag_seconds", seconds,
		"How long the oldest ready job of the queue could have been run, in its worst lane.")
)

// Shards and producers.
var (
	configuredShards = queueGauge("awa_queue_enqueue_shards", shards,
		"Enqueue shards configured for the queue.")
	laneShards = queueGauge("awa_queue_lane_shards", shards,
		"Enqueue shards for which the queue has lanes; above the configured count when lanes of an earlier one remain.")
	drained = queueGauge("awa_queue_upper_lanes_drained", yesNo,
		"Whether every lane at or above the configured count is empty and unlocked.")
	upperJobs = queueGauge("awa_queue_upper_lanes_jobs", jobs,
		"Ready jobs left in lanes at or above the configured count, which drain. Absent without such lanes, or when their depth is not known.")
	upperLeft = queueGauge("awa_queue_upper_lanes_drain_seconds", seconds,
		"Seconds until the lanes at or above the configured count are empty, at the rate at which their jobs became fewer over the last 30 s. Absent while they do not.")
	producers = queueGauge("awa_queue_producers", "producers",
		"Producers known: instances that report, otherwise groups of one client address and application name.")
	producersOn = queueGauge("awa_queue_producers_applied", "producers",
		"Producers known to work with the configured count.")
	producersStale = queueGauge("awa_queue_producers_stale", "producers",
		"Producers proven to work with another count. The rest of awa_queue_producers is unknown.")
	targetShards = queueGauge("shardpilot_queue_target_shards", shards,
		"Enqueue shards the controller wants, or would want in shadow mode: of the pending step, otherwise of the newest decision.")
	maxShards = queueGauge("shardpilot_queue_max_shards", shards,
		"Highest count the controller may choose. Absent for queues in manual mode.")
	pinned = queueGauge("shardpilot_queue_pinned", yesNo,
		"Whether an operator has pinned the queue.")
	pinShards = queueGauge("shardpilot_queue_pin_shards", shards,
		"Count the queue is pinned at. Absent while it is not pinned.")
)

// What the controller thinks of a queue.
var (
	queueMode = queueGauge("shardpilot_queue_mode", fact,
		"The mode in force for the queue: manual, shadow or enforced.", "mode")
	queueDecision = queueGauge("shardpilot_queue_decision", fact,
		"The present decision for the queue and its reason, a code of the closed list.", "action", "reason")
	predictedGain = queueGauge("shardpilot_queue_predicted_gain_ratio", times,
		"Throughput that the model predicts from the step under consideration, new over old. Absent when there is none.")
	pendingSteps = summedGauge("shardpilot_queue_pending_steps", number,
		"Steps of the queue that wait for an operator, 0 or 1.")
	pendingAge = queueGauge("shardpilot_queue_pending_step_age_seconds", seconds,
		"How long the pending step has been waiting. Absent while none is.")
	lastChange = queueGauge("shardpilot_queue_last_change_timestamp_seconds", unixTime,
		"When the count of the queue was last changed, by whomever, on the server's clock. Absent when that is not in the newest part of the decision log.")
	lastVerdict = queueGauge("shardpilot_queue_last_verification_timestamp_seconds", unixTime,
		"When a change of the queue was last verified, on the server's clock, and what came of it: kept, ineffective, harmful or inconclusive.", "result")
	lastGain = queueGauge("shardpilot_queue_last_verification_gain_ratio", times,
		"Enqueue rate after over before, of the last verified change.")
	lastPredicted = queueGauge("shardpilot_queue_last_verification_predicted_gain_ratio", times,
		"What had been predicted for the last verified change.")
)

// The controller itself.
var (
	decisions = counter("shardpilot_decisions_total", number,
		"Decisions in the decision log since this process started (a queue's decision is logged when it changes), by mode, action and reason.", "mode", "action", "reason")
	changes = counter("shardpilot_changes_total", number,
		"Attempts to write a shard count in the decision log since this process started, by actor (controller, operator, elsewhere), action (grow or shrink), reason and outcome (applied, superseded, refused, failed).", "actor", "action", "reason", "outcome")
	verifications = counter("shardpilot_verifications_total", number,
		"Verified changes in the decision log since this process started, by result.", "result")
	logEntries = counter("shardpilot_log_entries_total", number,
		"Entries of the decision log since this process started, by kind: decision, proposed, withdrawn, change, adopted, verdict, act.", "kind")
	logDurable = gauge("shardpilot_log_durable", yesNo,
		"Whether decisions are kept in the database. 0 while they are kept in memory only, or the log cannot be used.")
	leader = gauge("shardpilot_leader", yesNo,
		"Whether this process leads. Absent where it takes no part in leading.")
	leaderKnown = gauge("shardpilot_leader_known", yesNo,
		"Whether this process knows who leads, itself or another. Absent where it takes no part in leading.")
	leaderInfo = gauge("shardpilot_leader_info", fact,
		"Who leads as far as this process knows, itself shown as self.", "leader")
	policyCurrent = gauge("shardpilot_policy_current", yesNo,
		"Whether the numbers in force are those of the policy file when it was last read. 0 after a file that could not be used: the numbers before it stay in force. Absent without --policy.")
	processMode = gauge("shardpilot_process_mode", yesNo,
		"What this process may do: 1 for the mode it runs in, shadow or enforced, 0 for the other.", "mode")
)

// Looking, and what it costs.
var (
	databaseUp = gauge("shardpilot_database_up", yesNo,
		"Whether the newest attempt to read the database succeeded.")
	databaseWritable = gauge("shardpilot_database_writable", yesNo,
		"Whether the server takes writes: 0 for a standby and for a read-only server.")
	databaseInfo = gauge("shardpilot_database_info", fact,
		"Which database is watched, and the environment label given with --label.", "host", "port", "database", "version", "environment")
	awaInfo = gauge("shardpilot_awa_info", fact,
		"What kind of Awa installation was found: its state, its queue-storage schema and its schema version.", "state", "schema", "version")
	snapshotAge = gauge("shardpilot_snapshot_age_seconds", seconds,
		"Age of the newest reading of the database, at the scrape; before the first, of the process.")
	snapshots = counter("shardpilot_snapshots_total", number,
		"Readings of the database that succeeded.")
	failures = counter("shardpilot_read_failures_total", number,
		"Attempts to read the database that failed.")
	clockSkew = gauge("shardpilot_clock_skew_seconds", seconds,
		"The server's clock minus ours.")
	queues = gauge("shardpilot_queues", "queues",
		"Queues seen in the database.")
	queuesSummed = gauge("shardpilot_queues_summed", "queues",
		`Queues without series of their own, summed under queue="`+Others+`".`)
	problems = gauge("shardpilot_problems", number,
		"Parts of the newest reading that could not be had.")
	problem = gauge("shardpilot_problem", fact,
		"A part of the newest reading that could not be had; the log and the doctor say why.", "part")
	probeStatements = counter("shardpilot_probe_statements_total", "statements",
		"Statements the probe has sent to the database.")
	probeBusy = gauge("shardpilot_probe_busy_ratio", "ratio, 1 is one backend all the time",
		"Time of one backend that looking takes. The sampler keeps itself at or below 0.02.")
	probeHertz = gauge("shardpilot_probe_looks_hertz", "per second",
		"How often the probe looks at the lanes at present.")
	probeLocksRead = gauge("shardpilot_probe_locks_read_ratio", ratio,
		"Share of looks that had to read the lock table. Absent while there was none.")
	probeSlowed = gauge("shardpilot_probe_slowed", yesNo,
		"Whether the probe holds itself back because looking costs too much.")
	eventsDropped = counter("shardpilot_events_dropped_total", number,
		"Ticks that this page missed because it was slow to take them; their waiting is not counted.")
	buildInfo = gauge("shardpilot_build_info", fact,
		"Version of shardpilot and of Go.", "version", "goversion")
)

// catalogue is every metric of ours, in the order of the page.
func catalogue() []section {
	return []section{
		{"Contention at the enqueue lanes", []*definition{laneLockWait, laneWaiters, laneHolders, laneSessions, waitShare,
			waitShareLow, waitShareHigh, waitCause, waitPerJob, enqueued, enqueueRate, depth, lag}},
		{"Shards and producers", []*definition{configuredShards, laneShards, drained, upperJobs, upperLeft, producers, producersOn, producersStale,
			targetShards, maxShards, pinned, pinShards}},
		{"What the controller thinks of a queue", []*definition{queueMode, queueDecision, predictedGain, pendingSteps, pendingAge,
			lastChange, lastVerdict, lastGain, lastPredicted}},
		{"The controller", []*definition{decisions, changes, verifications, logEntries, logDurable, leader, leaderKnown,
			leaderInfo, processMode, policyCurrent}},
		{"Looking, and what it costs", []*definition{databaseUp, databaseWritable, databaseInfo, awaInfo, snapshotAge, snapshots,
			failures, clockSkew, queues, queuesSummed, problems, problem, probeStatements, probeBusy, probeHertz, probeLocksRead,
			probeSlowed, eventsDropped, buildInfo}},
	}
}
