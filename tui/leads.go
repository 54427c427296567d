package tui

import "shardpilot/control"

// led is a decision as the leader made it, where the log says so: each that
// differs from the one before is in it. A follower decides too, from its own,
// shorter view, but what it makes of a queue is not what will be done. The
// entry is nil, and the decision the follower's, when we lead, when the queue is
// manual, or when something has happened since that the leader has yet to
// decide about.
func (q *queue) led(ev *control.Event, d *control.Decision) (*control.Decision, *control.LogEntry) {
	if d == nil || ev.Leader == "" || ev.Leader == "self" || d.Mode == control.ModeManual {
		return d, nil
	}
	if q.leads == nil || q.leads.From != d.From {
		return d, nil
	}
	l, as := q.leads, *d
	as.Mode, as.Action, as.To, as.Reason, as.Detail = l.Mode, l.Action, l.To, l.Reason, l.Detail
	as.PredictedGain, as.Evidence, as.Next = l.PredictedGain, l.Evidence, l.Until
	as.Pending = l.Pending != 0 && d.Step != nil
	if l.Kind == control.LogProposed { // when it ends is with the step
		as.Next = d.Next
	}
	as.Blockers = nil
	for _, b := range l.Blockers { // without those that have given way since
		if b.Until.IsZero() || b.Until.After(ev.Snapshot.At) {
			as.Blockers = append(as.Blockers, b)
		}
	}
	return &as, l
}

// leaderSays is when the leader decided what is shown of a row, for a heading;
// "" when that is our own view.
func (m *Model) leaderSays(r row) string {
	if r.led == nil {
		return ""
	}
	return ", by the leader " + m.timeOf(r.led.At)
}

// heldBackWords say why an enforced queue is not acted on.
func heldBackWords(r row) string {
	if r.led != nil {
		return heldBackMark + "enforced, but the leader runs shadow"
	}
	return heldBackMark + "enforced, but this process runs shadow"
}

const heldBackMark = "* "

// ruleWords is a rule's code for people. That a value is not there yet is no
// fault.
func (m *Model) ruleWords(rule control.Reason) string {
	if rule == control.ReasonUnknownSignal {
		return "not measured yet"
	}
	return m.memory.words(string(rule))
}

// nobodyWaits says whether all that a decision lacks is somebody who waits.
func nobodyWaits(d *control.Decision) bool {
	w, known := d.Evidence.Waiters.Get()
	return d.Reason == control.ReasonUnknownSignal && known && w == 0
}
