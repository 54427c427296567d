package metrics

import (
	"time"

	"shardpilot/control"
)

// ledger counts entries of the decision log, each once.
type ledger struct {
	last      int64     // newest ID seen
	lastAt    time.Time // and the newest time, on the server's clock
	kinds     map[control.LogKind]float64
	verdicts  map[control.Verdict]float64
	decisions map[decisionKey]float64
	changes   map[changeKey]float64
}

type decisionKey struct {
	mode   control.Mode
	action control.Action
	reason control.Reason
}

type changeKey struct {
	actor   string
	action  control.Action
	reason  control.Reason
	outcome control.Outcome
}

// newLedger is an empty one. What has few labels, and what is done to a count
// without an operator, starts at 0, so that the first of its kind shows as a rise.
func newLedger() ledger {
	l := ledger{kinds: map[control.LogKind]float64{}, verdicts: map[control.Verdict]float64{},
		decisions: map[decisionKey]float64{}, changes: map[changeKey]float64{}}
	for _, k := range []control.LogKind{control.LogDecision, control.LogProposed, control.LogWithdrawn, control.LogChange,
		control.LogAdopted, control.LogVerdict, control.LogAct} {
		l.kinds[k] = 0
	}
	for _, v := range []control.Verdict{control.VerdictKept, control.VerdictIneffective, control.VerdictHarmful, control.VerdictInconclusive} {
		l.verdicts[v] = 0
	}
	for _, c := range unasked {
		l.changes[c] = 0
	}
	return l
}

// unasked is what can become of the controller's own steps, and what is adopted
// from elsewhere. A change that was made, or over which the gate itself failed,
// has the reason of its step; one that the gate stopped has the rule that did.
var unasked = func() (all []changeKey) {
	const grow, shrink = control.ActionGrow, control.ActionShrink
	for _, o := range []control.Outcome{control.OutcomeApplied, control.OutcomeFailed} {
		all = append(all, changeKey{controller, grow, control.ReasonContended, o}, changeKey{controller, grow, control.ReasonContendedFast, o},
			changeKey{controller, shrink, control.ReasonCalm, o},
			changeKey{controller, shrink, control.ReasonRevert, o}, changeKey{controller, grow, control.ReasonRevert, o})
	}
	for _, a := range []control.Action{grow, shrink} {
		all = append(all, changeKey{elsewhere, a, control.ReasonAdopted, control.OutcomeApplied},
			changeKey{controller, a, control.ReasonRetry, control.OutcomeFailed},
			changeKey{controller, a, control.ReasonSuperseded, control.OutcomeSuperseded},
			changeKey{controller, a, control.ReasonExpired, control.OutcomeSuperseded})
		for _, rule := range []control.Reason{
			control.ReasonStandby, control.ReasonReadOnly, control.ReasonStore, control.ReasonAwaUnfit, control.ReasonAwaBusy,
			control.ReasonNoRights, control.ReasonNotEnforced, control.ReasonNotLeader, control.ReasonNoLanes, control.ReasonLanesUnfit,
			control.ReasonPolicyChanged, control.ReasonNotAccepted, control.ReasonPinned, control.ReasonPausedUp, control.ReasonPausedDown,
			control.ReasonAtMax, control.ReasonBadStep, control.ReasonQueueBudget, control.ReasonDatabaseBudget, control.ReasonInFlight,
			control.ReasonNotDrained,
		} {
			all = append(all, changeKey{controller, a, rule, control.OutcomeRefused})
		}
	}
	return all
}()

// Who changes a count: the controller, somebody outside of shardpilot, or an
// operator through it, who has a name in the log and none here.
const (
	controller = "controller"
	elsewhere  = "elsewhere"
	operator   = "operator"
)

// other stands for a word that is not in its closed list, for instance from a
// newer version's log: labels stay few.
const other = "other"

// meet tells of entries that come together, before each is entered: those of a
// log that was made anew count, though their numbers have been seen.
func (l *ledger) meet(entries []control.LogEntry) {
	if control.MadeAnew(entries, l.last, l.lastAt) {
		l.last = 0
	}
}

// enter says whether an entry is new, and counts it when it is to be counted.
func (l *ledger) enter(e *control.LogEntry, counts bool) bool {
	if e.ID != 0 && e.ID <= l.last {
		return false
	}
	l.last = max(l.last, e.ID)
	if e.At.After(l.lastAt) {
		l.lastAt = e.At
	}
	if !counts {
		return true
	}
	kind := e.Kind
	if _, known := l.kinds[kind]; !known {
		kind = other
	}
	l.kinds[kind]++
	switch e.Kind {
	case control.LogDecision:
		l.decisions[decisionKey{modeWord(e.Mode), actionWord(e.Action), reasonWord(e.Reason)}]++
	case control.LogChange, control.LogAdopted:
		l.changes[changed(e)]++
	case control.LogVerdict:
		v := e.Verdict
		if _, known := l.verdicts[v]; !known {
			v = other
		}
		l.verdicts[v]++
	case control.LogProposed, control.LogWithdrawn, control.LogAct:
	}
	return true
}

// changed is what a change counts as.
func changed(e *control.LogEntry) changeKey {
	k := changeKey{actor: operator, action: control.ActionGrow, reason: reasonWord(e.Reason), outcome: e.Outcome}
	switch {
	case e.Kind == control.LogAdopted:
		k.actor, k.outcome = elsewhere, control.OutcomeApplied
	case e.Actor == controller, e.Actor == elsewhere:
		k.actor = e.Actor
	}
	switch {
	case e.To < e.From:
		k.action = control.ActionShrink
	case e.To == e.From:
		k.action = control.ActionHold
	}
	switch k.outcome {
	case control.OutcomeApplied, control.OutcomeSuperseded, control.OutcomeRefused, control.OutcomeFailed:
	default:
		k.outcome = other
	}
	return k
}

func modeWord(m control.Mode) control.Mode {
	switch m {
	case control.ModeManual, control.ModeShadow, control.ModeEnforced:
		return m
	}
	return other
}

func actionWord(a control.Action) control.Action {
	switch a {
	case control.ActionHold, control.ActionGrow, control.ActionShrink:
		return a
	}
	return other
}

func reasonWord(r control.Reason) control.Reason {
	if r.Known() {
		return r
	}
	return other
}
