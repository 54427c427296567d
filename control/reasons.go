package control

// The closed list of reasons. A decision's reason is one of these, and so is
// the rule of every blocker. Codes are part of the log and of the streams:
// they are added to, never renamed.
const (
	// Why a step is wanted.
	ReasonContended     Reason = "contended"      // waits took a large share over the whole window
	ReasonContendedFast Reason = "contended_fast" // a crowd so plain that the short window proves it
	ReasonCalm          Reason = "calm"           // hardly a wait for the long window
	ReasonRevert        Reason = "revert"         // the last change did harm and is taken back

	// Freeze: nothing is written.
	ReasonNoReading   Reason = "no_reading"
	ReasonStale       Reason = "stale_reading"
	ReasonStandby     Reason = "standby"
	ReasonReadOnly    Reason = "read_only"
	ReasonAwaUnfit    Reason = "awa_unfit"
	ReasonAwaBusy     Reason = "awa_transition"
	ReasonNotLeader   Reason = "not_leader"
	ReasonStore       Reason = "store_unavailable"
	ReasonClockStep   Reason = "clock_step"
	ReasonWarmUp      Reason = "warm_up"
	ReasonFewSamples  Reason = "few_samples"
	ReasonUnsupported Reason = "count_out_of_range"

	// Pin, pause, mode and bounds.
	ReasonPinned      Reason = "pinned"
	ReasonPausedUp    Reason = "paused_up"
	ReasonPausedDown  Reason = "paused_down"
	ReasonManual      Reason = "manual"
	ReasonNotAccepted Reason = "not_accepted"
	ReasonAtMax       Reason = "at_max"
	ReasonAtMin       Reason = "at_min"

	// Evidence for a step up.
	ReasonGathering      Reason = "gathering"
	ReasonShareLow       Reason = "share_low"
	ReasonBurst          Reason = "burst"
	ReasonFewWaiters     Reason = "few_waiters"
	ReasonSmallGain      Reason = "small_gain"
	ReasonNotifyBound    Reason = "notify_bound"
	ReasonStuckHolder    Reason = "stuck_holder"
	ReasonHoldersHidden  Reason = "holders_hidden"
	ReasonSkewed         Reason = "skewed"
	ReasonStaleProducers Reason = "stale_producers"
	ReasonUnknownSignal  Reason = "unknown_signal"

	// Evidence for a step down.
	ReasonNotCalmYet  Reason = "not_calm_yet"
	ReasonNotCalm     Reason = "not_calm"
	ReasonBusySlice   Reason = "busy_slice"
	ReasonRateFalling Reason = "rate_falling"
	ReasonLanesBusy   Reason = "lanes_busy"
	ReasonNotDrained  Reason = "not_drained"

	// Time, budgets and locks.
	ReasonInFlight       Reason = "in_flight"
	ReasonVerifying      Reason = "verifying"
	ReasonCooldown       Reason = "cooldown"
	ReasonReverse        Reason = "reverse_cooldown"
	ReasonOscillating    Reason = "oscillating"
	ReasonQueueBudget    Reason = "queue_budget"
	ReasonDatabaseBudget Reason = "database_budget"
	ReasonIneffective    Reason = "ineffective"
	ReasonWeak           Reason = "weak_gain"
	ReasonHarmful        Reason = "harmful"
	ReasonShrinkHarmful  Reason = "shrink_harmful"
	ReasonAdopted        Reason = "changed_elsewhere"
	ReasonRejected       Reason = "rejected"
	ReasonRetry          Reason = "write_failed"

	// What the gate alone finds out.
	ReasonNotEnforced   Reason = "not_enforced"
	ReasonPolicyChanged Reason = "policy_changed"
	ReasonNoLanes       Reason = "no_lanes"
	ReasonLanesUnfit    Reason = "lanes_unfit"
	ReasonNoRights      Reason = "no_rights"
	ReasonBadStep       Reason = "bad_step"

	// What became of a proposed step, and what hands did.
	ReasonExpired    Reason = "expired"
	ReasonSuperseded Reason = "superseded"
	ReasonApproved   Reason = "approved"
	ReasonForced     Reason = "forced"
	ReasonOverride   Reason = "override"
	ReasonUndo       Reason = "undo"
	ReasonUnpinned   Reason = "unpinned"
	ReasonPaused     Reason = "paused"
	ReasonResumed    Reason = "resumed"
	ReasonModeSet    Reason = "mode_set"
	ReasonVerified   Reason = "verified"
)

var reasonWords = map[Reason]string{
	ReasonContended:     "producers wait for their lanes",
	ReasonContendedFast: "a crowd of producers waits for its lanes",
	ReasonCalm:          "hardly anybody has waited for a long time",
	ReasonRevert:        "the last change did harm",

	ReasonNoReading:   "nothing was read of this queue yet",
	ReasonStale:       "stale",
	ReasonStandby:     "the server is a standby",
	ReasonReadOnly:    "the server is read-only",
	ReasonAwaUnfit:    "this Awa installation must not be written to",
	ReasonAwaBusy:     "Awa is migrating or in transition",
	ReasonNotLeader:   "this process does not lead",
	ReasonStore:       "the decision log cannot be written",
	ReasonClockStep:   "a clock stepped",
	ReasonWarmUp:      "warming up",
	ReasonFewSamples:  "too few samples in the window",
	ReasonUnsupported: "the configured count is outside 1 to 64",

	ReasonPinned:      "pinned",
	ReasonPausedUp:    "steps up are paused",
	ReasonPausedDown:  "steps down are paused",
	ReasonManual:      "manual mode",
	ReasonNotAccepted: "partitioned FIFO is not accepted",
	ReasonAtMax:       "at its maximum",
	ReasonAtMin:       "at one shard",

	ReasonGathering:      "the window is not full yet",
	ReasonShareLow:       "producers wait too little",
	ReasonBurst:          "the contention did not last",
	ReasonFewWaiters:     "too few sessions wait",
	ReasonSmallGain:      "more lanes would gain too little",
	ReasonNotifyBound:    "the holders wait for NOTIFY, more lanes would only move the queue",
	ReasonStuckHolder:    "one stuck transaction keeps the lane",
	ReasonHoldersHidden:  "what the holders wait for is hidden",
	ReasonSkewed:         "the waits are in one lane: a hot key, or producers that do not spread",
	ReasonStaleProducers: "producers have not taken up the present count",
	ReasonUnknownSignal:  "a value this rule needs could not be measured",

	ReasonNotCalmYet:  "not calm for long enough yet",
	ReasonNotCalm:     "producers still wait",
	ReasonBusySlice:   "a part of the window was busy",
	ReasonRateFalling: "fewer jobs come in: a slowdown is no evidence of spare lanes",
	ReasonLanesBusy:   "the lanes that remain would be too busy",
	ReasonNotDrained:  "the upper lanes are not drained",

	ReasonInFlight:       "a change is being written",
	ReasonVerifying:      "the last change is being verified",
	ReasonCooldown:       "cooling down after a change",
	ReasonReverse:        "too soon after a change in the other direction",
	ReasonOscillating:    "held as oscillating until resumed by hand",
	ReasonQueueBudget:    "the queue has used up its changes",
	ReasonDatabaseBudget: "the database has used up its changes",
	ReasonIneffective:    "growing beyond this count did not help",
	ReasonWeak:           "growing helped only a little",
	ReasonHarmful:        "growing beyond this count did harm",
	ReasonShrinkHarmful:  "shrinking below this count did harm",
	ReasonAdopted:        "somebody else changed the count",
	ReasonRejected:       "an operator rejected this step",
	ReasonRetry:          "the last write did not succeed",

	ReasonNotEnforced:   "the queue and this process are not both enforced",
	ReasonPolicyChanged: "the queue's policy was changed meanwhile",
	ReasonNoLanes:       "the queue has no lanes",
	ReasonLanesUnfit:    "the lanes are not ready to be used",
	ReasonNoRights:      "this role may not do that",
	ReasonBadStep:       "the step makes no sense",

	ReasonExpired:    "nobody took the step in time",
	ReasonSuperseded: "what the step rested on no longer holds",
	ReasonApproved:   "approved by hand",
	ReasonForced:     "forced by hand",
	ReasonOverride:   "set by hand",
	ReasonUndo:       "taken back by hand",
	ReasonUnpinned:   "the pin was taken away",
	ReasonPaused:     "paused by hand",
	ReasonResumed:    "resumed by hand",
	ReasonModeSet:    "the mode was set",
	ReasonVerified:   "the change was judged",
}

// Words is the reason as a phrase for people. A code that is not in the list,
// for instance from a newer version's log, is its own phrase.
func (r Reason) Words() string {
	if w, ok := reasonWords[r]; ok {
		return w
	}
	return string(r)
}

// Known says whether the reason is in the closed list.
func (r Reason) Known() bool { _, ok := reasonWords[r]; return ok }
