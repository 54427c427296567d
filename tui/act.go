package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

const actionGroup = "Acting, after a question"

// actionBindings are the keys that ask for something to be done. They are in
// the table only when it can be.
func actionBindings() []binding {
	on := []screen{screenOverview, screenQueue}
	ask := func(f func(*Model, row)) func(*Model) Effect {
		return just(func(m *Model) { m.ask(f) })
	}
	count := func(f func(*Model, row)) func(*Model) Effect { // what cannot but write one
		return just(func(m *Model) {
			if why := m.noCounts(); why != "" {
				m.say(why)
				return
			}
			m.ask(f)
		})
	}
	return []binding{
		{keys: []string{"a"}, short: "approve", help: "approve the pending step", group: actionGroup, on: on, do: count((*Model).askApprove)},
		{keys: []string{"x"}, help: "reject the pending step", group: actionGroup, on: on, do: ask((*Model).askReject)},
		{keys: []string{"o"}, short: "override", help: "set any shard count", group: actionGroup, on: on, do: count((*Model).askOverride)},
		{keys: []string{"p"}, short: "pin", help: "pin the count, or unpin it", group: actionGroup, on: on, do: ask((*Model).askPin)},
		{keys: []string{"m"}, short: "mode", help: "manual, shadow or enforced", group: actionGroup, on: on, do: ask((*Model).askMode)},
		{keys: []string{"b"}, short: "brake", help: "brake: pause steps up or down, or resume them", group: actionGroup, on: on, do: ask((*Model).askPause)},
		{keys: []string{"u"}, help: "undo the last change", group: actionGroup, on: on, do: count((*Model).askUndo)},
	}
}

// barred says why nothing can be done from here at this moment, "" when it can.
// It is asked when a question opens and again at its Yes: minutes may lie between.
func (m *Model) barred() string {
	switch {
	case m.failure != nil, m.newest == nil:
		return "there is no fresh reading: nothing can be done until there is"
	case m.stale():
		return "the newest reading is " + age(ageOf(*m.newest, m.opt.Now())) + " old: nothing can be done until there is a fresh one"
	case m.paused:
		return "the picture is not live: nothing can be done from it; end returns to the newest reading"
	case m.newest.Snapshot.Database.Standby:
		return "this is a standby: nothing can be written here"
	}
	return m.noPolicy()
}

// ask opens a dialog about the queue under the cursor, if it can be shown whole.
func (m *Model) ask(open func(*Model, row)) {
	r, ok := m.selected()
	if !ok {
		m.say("no queue under the cursor")
		return
	}
	if why := m.barred(); why != "" {
		m.say(why)
		return
	}
	open(m, r)
	if m.dialog != nil && !m.dialogFits() {
		m.dialog = nil
		m.say("the window is too small to show what this would do")
	}
}

func (m *Model) newDialog(r row, v control.Verb, title, yes string) *dialog {
	d := &dialog{verb: v, queue: r.name, label: r.label, from: r.reading.Shards, to: r.reading.Shards, title: title, yes: yes}
	if r.decision != nil {
		d.accepted = r.decision.Policy.Accepted()
	}
	return d
}

func reasonField() field {
	return field{name: "reason", limit: control.MaxWhy, hint: "for the log"}
}

func lowerField() field { return forceField("lower although upper lanes are not drained (space)") }

func forceField(hint string) field { return field{name: "force", check: true, hint: hint} }

// withAccept adds the box that accepts partitioned FIFO, when nobody has yet.
func (d *dialog) withAccept() {
	if !d.accepted {
		d.fields = append(d.fields, field{name: "accept", check: true, hint: "partitioned FIFO: order holds within a shard only (space)"})
	}
}

// openDialog shows d with the focus on No, or on the field that must be filled in.
func (m *Model) openDialog(d *dialog, first int) {
	d.focus = d.no()
	if first >= 0 {
		d.focus = first
	}
	m.dialog = d
}

// step is the pending step of a row, nil when there is none.
func step(r row) *control.Pending {
	if r.decision == nil {
		return nil
	}
	return r.decision.Step
}

func (m *Model) askApprove(r row) {
	s := step(r)
	if s == nil {
		m.say("no step of this queue is pending")
		return
	}
	d := m.newDialog(r, control.VerbApprove, "Approve the pending step", "Approve")
	d.from, d.to, d.expect = s.From, s.To, s.Generation
	d.facts = []string{s.Detail, "predicted " + gain(s.PredictedGain, m.g.times) + ", share " + percent(s.Evidence.Share) + ", waiting " + count(s.Evidence.Waiters) +
		", applied " + ofTotal(s.Evidence.Applied, s.Evidence.Producers)}
	d.good = s.Until
	d.fields = []field{reasonField(), forceField("also if the evidence no longer holds (space)")}
	m.openDialog(d, -1)
}

func (m *Model) askReject(r row) {
	s := step(r)
	if s == nil {
		m.say("no step of this queue is pending")
		return
	}
	d := m.newDialog(r, control.VerbReject, "Reject the pending step", "Reject")
	d.from, d.to, d.expect = s.From, s.To, s.Generation
	d.facts = []string{s.Detail}
	d.fields = []field{reasonField()}
	m.openDialog(d, -1)
}

func (m *Model) askOverride(r row) {
	d := m.newDialog(r, control.VerbOverride, "Set the shard count by hand", "Set")
	d.fields = []field{{name: "new count", allow: "0123456789", limit: 2, hint: fmt.Sprintf("%d..%d", control.MinShards, control.MaxShards)},
		reasonField()}
	d.withAccept()
	d.fields = append(d.fields, lowerField())
	m.openDialog(d, 0)
}

func (m *Model) askPin(r row) {
	if pinned(r) {
		d := m.newDialog(r, control.VerbUnpin, "Take the pin away", "Unpin")
		d.fields = []field{reasonField()}
		m.openDialog(d, -1)
		return
	}
	d := m.newDialog(r, control.VerbPin, "Pin the shard count", "Pin")
	d.fields = []field{{name: "count", value: shardCount(r.reading.Shards), allow: "0123456789", limit: 2, hint: fmt.Sprintf("%d..%d", control.MinShards, control.MaxShards)},
		{name: "for", value: "2h", allow: "0123456789hms", limit: 8, hint: "30m, 2h, 48h; empty: until unpinned"}, reasonField()}
	d.withAccept()
	d.fields = append(d.fields, forceField("lower although not drained, or above the max (space)"))
	if r.reading.Shards == 0 {
		d.fields[0].value = ""
	}
	m.openDialog(d, -1)
}

// pinned says whether the queue is, by its policy or by what the rules say.
func pinned(r row) bool {
	if r.decision == nil {
		return false
	}
	if r.decision.Policy.Pin.Holds(r.reading.At) {
		return true
	}
	if r.decision.Reason == control.ReasonPinned {
		return true
	}
	for _, b := range r.decision.Blockers {
		if b.Rule == control.ReasonPinned {
			return true
		}
	}
	return false
}

var modes = []string{string(control.ModeManual), string(control.ModeShadow), string(control.ModeEnforced)}

func (m *Model) askMode(r row) {
	d := m.newDialog(r, control.VerbAuto, "Change who decides", "Change")
	now := 0
	for i, name := range modes {
		if r.decision != nil && string(r.decision.Mode) == name {
			now = i
		}
	}
	if heldBack(r) { // what is changed is the policy, not what the process makes of it
		now = len(modes) - 1
	}
	highest := ""
	if r.decision != nil && r.decision.Policy.Max > 0 {
		highest = strconv.Itoa(r.decision.Policy.Max)
	}
	d.facts = []string{"now " + modes[now] + "; enforced acts only in a process that runs enforced too"}
	d.fields = []field{{name: "mode", choices: modes, at: now, hint: "left and right"},
		{name: "max", value: highest, allow: "0123456789", limit: 2, hint: fmt.Sprintf("%d..%d, above %d is dear; empty keeps the one there is", control.MinMax, control.MaxMax, control.WarnMax)},
		reasonField()}
	d.withAccept()
	m.openDialog(d, 0)
}

func (m *Model) askUndo(r row) {
	u := m.undo(r.name)
	if u.From == 0 {
		m.say("no change of this queue is known here")
		return
	}
	d := m.newDialog(r, control.VerbUndo, "Take the last change back", "Undo")
	d.from, d.to = u.From, u.To
	if c := r.changed; c != nil && c.From == u.To && c.To == u.From {
		d.facts = []string{m.memory.steps(c.From, c.To) + " by " + c.Actor + " at " + m.until(c.At)}
	}
	d.fields = []field{reasonField()}
	if u.To > control.MinShards {
		d.withAccept()
	}
	if u.To < u.From {
		d.fields = append(d.fields, lowerField())
	}
	m.openDialog(d, -1)
}

// undo is what taking a queue's last change back would do, by the newest tick:
// the picture may be from before the change.
func (m *Model) undo(name string) control.Undo {
	for i := range m.newest.Decisions {
		if d := &m.newest.Decisions[i]; d.Queue == name {
			return d.Undo
		}
	}
	return control.Undo{}
}

// brakes are what the brake dialog offers, in its order.
var brakes = []struct {
	name     string
	verb     control.Verb
	up, down bool
	what     string
}{
	{"pause up", control.VerbPause, true, false, "steps up pause until resumed"},
	{"pause down", control.VerbPause, false, true, "steps down pause until resumed"},
	{"pause both", control.VerbPause, true, true, "all steps pause until resumed"},
	{"resume", control.VerbResume, true, true, "steps go on, also after oscillating"},
}

// askPause offers what the queue is not in already: resuming, when it is braked.
func (m *Model) askPause(r row) {
	d := m.newDialog(r, control.VerbPause, "Pause or resume steps", "Do it")
	f := field{name: "steps", hint: "left and right"}
	for _, b := range brakes {
		f.choices = append(f.choices, b.name)
	}
	d.facts = []string{"now nothing is paused"}
	if r.decision != nil {
		if lines := m.pauseWords(r.decision.Policy); len(lines) > 0 {
			d.facts, f.at = lines, len(brakes)-1
		}
	}
	d.fields = []field{f, reasonField()}
	m.openDialog(d, 0)
}

// target is the count a dialog is about now, 0 when none has been given yet.
func (d *dialog) target() int {
	switch d.verb {
	case control.VerbOverride:
		return d.number("new count")
	case control.VerbPin:
		return d.number("count")
	}
	return d.to
}

// writesCount says whether a command of verb v cannot but write a shard count.
func writesCount(v control.Verb) bool {
	return v == control.VerbApprove || v == control.VerbOverride || v == control.VerbUndo
}

// command is what Yes means, or why it means nothing yet.
func (m *Model) command(d *dialog) (control.Command, string) {
	c := control.Command{Verb: d.verb, Queue: d.queue, Actor: m.opt.Actor, Host: m.opt.Host, Why: strings.TrimSpace(d.get("reason").value),
		Force: d.get("force").on, Accept: d.get("accept").on, Expect: d.expect}
	to := d.target()
	if why := m.barred(); why != "" {
		return c, why
	}
	if why := m.noCounts(); why != "" && writesCount(d.verb) {
		return c, why
	}
	switch d.verb {
	case control.VerbOverride, control.VerbPin:
		if to < control.MinShards || to > control.MaxShards {
			return c, fmt.Sprintf("the count must be %d to %d", control.MinShards, control.MaxShards)
		}
		if why := m.noCounts(); why != "" && d.from != 0 && to != d.from {
			return c, why + "; only " + shardCount(d.from) + " can be pinned"
		}
		c.From, c.To = d.from, to
		if s := d.get("for").value; s != "" {
			f, err := time.ParseDuration(s)
			if err != nil || f <= 0 {
				return c, "how long is not a time like 30m or 2h"
			}
			c.For = f
		}
	case control.VerbUndo:
		if u := m.undo(d.queue); u.From != d.from || u.To != d.to {
			return c, "this is not the last change any more: leave with esc, and look at it"
		}
		c.From, c.To = d.from, d.to
	case control.VerbPause, control.VerbResume:
		b := brakes[d.get("steps").at]
		c.Verb, c.Up, c.Down, d.verb = b.verb, b.up, b.down, b.verb
	case control.VerbAuto, control.VerbManual:
		switch c.Verb, c.Max = control.VerbAuto, d.number("max"); d.get("mode").at {
		case 0:
			c.Verb, c.Max, c.Accept, d.verb = control.VerbManual, 0, false, control.VerbManual
			return c, ""
		case 2:
			c.Enforced = true
		}
		d.verb = c.Verb
		if c.Max != 0 && (c.Max < control.MinMax || c.Max > control.MaxMax) {
			return c, fmt.Sprintf("max must be %d to %d", control.MinMax, control.MaxMax)
		}
	}
	return c, ""
}
