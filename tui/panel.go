package tui

import (
	"fmt"
	"strings"

	"shardpilot/control"
)

// policyPane is what operators allow for a queue: mode, highest count, pin and
// pauses, and who accepted that order holds within a shard only.
func (m *Model) policyPane(r row, w int) []line {
	title := func(fact string) line { return section("Policy", fact, w, m.g) }
	switch {
	case r.past:
		return []line{title(""), text(roleFaint, absent+": policies of the past are not kept here")}
	case r.decision == nil:
		return []line{title(""), text(roleFaint, "not known: nothing decides about this queue")}
	}
	p := r.decision.Policy
	fact := ""
	if p.UpdatedBy != "" {
		fact = safe(p.UpdatedBy, m.g.ascii) + " " + m.timeOf(p.UpdatedAt)
	}
	var l line
	mode, name := modeCell(r)
	l.add(roleDim, "mode ").add(mode, name)
	if p.Max > 0 {
		l.add(roleDim, "  max ").add(roleStrong, shardCount(p.Max))
	} else {
		l.add(roleDim, "  no max")
	}
	lines := []line{title(fact), l.clip(w, m.g.dots)}
	if p.Accepted() {
		lines = append(lines, text(roleDim, cut("partitioned FIFO accepted by "+safe(p.AcceptedBy, m.g.ascii), w, m.g.dots)))
	} else {
		lines = append(lines, text(roleDim, cut("partitioned FIFO accepted by nobody", w, m.g.dots)))
	}
	if p.Pin.Holds(r.reading.At) {
		lines = append(lines, m.pinLines(p.Pin, w)...)
	}
	for _, s := range m.pauseWords(p) {
		for _, part := range wrap(s, w, 2, m.g.dots) {
			lines = append(lines, text(roleWarn, part))
		}
	}
	return lines
}

func (m *Model) pinLines(p *control.Pin, w int) []line {
	var l, by line
	l.add(roleWarn, m.g.pin+" pinned to "+shardCount(p.Shards))
	if p.Until.IsZero() {
		l.add(roleText, " until unpinned")
	} else {
		l.add(roleText, " until "+m.until(p.Until))
	}
	by.add(roleDim, "  by "+safe(p.By, m.g.ascii)+reasonGiven(p.Why, m.g))
	return []line{l.clip(w, m.g.dots), by.clip(w, m.g.dots)}
}

func reasonGiven(why string, g *glyphs) string {
	if why == "" {
		return ""
	}
	return ": " + safe(why, g.ascii)
}

// pauseWords say which steps are paused, since when and by whom.
func (m *Model) pauseWords(p control.QueuePolicy) []string {
	var out []string
	for _, x := range []struct {
		pause *control.Pause
		what  string
	}{{p.PauseUp, "up"}, {p.PauseDown, "down"}} {
		if x.pause != nil {
			out = append(out, fmt.Sprintf("steps %s paused since %s by %s%s", x.what, m.timeOf(x.pause.At), safe(x.pause.By, m.g.ascii), reasonGiven(x.pause.Why, m.g)))
		}
	}
	return out
}

// compareWindow is the longest stretch of time that is compared on either side
// of a change, and settleS what is left out after it while producers follow.
const (
	compareWindow = 120
	settleS       = 10
)

func (m *Model) verdictLines(r row, w int) []line {
	v, c := r.verdict, r.changed
	var l line
	if v == nil || v.At.Before(c.At) || v.To != c.To {
		l.add(roleDim, "no verdict yet")
		return []line{l}
	}
	l.add(verdictRole(v.Result), m.memory.words(string(v.Result)))
	l.add(roleDim, ": jobs/s ").add(roleText, gain(v.Gain, m.g.times)).add(roleDim, ", predicted ").add(roleText, gain(v.PredictedGain, m.g.times))
	lines := []line{l.clip(w, m.g.dots)}
	for _, s := range wrap(m.g.told(v.Detail), w-2, 2, m.g.dots) {
		lines = append(lines, text(roleDim, "  "+s))
	}
	return lines
}

// pendingCard is a step that waits for a hand: what it rests on, what it would
// bring and cost, and how fresh that is.
func (m *Model) pendingCard(d *control.Decision, w int) []line {
	from, to, e, predicted := d.From, d.To, d.Evidence, d.PredictedGain
	if s := d.Step; s != nil {
		from, to, e, predicted = s.From, s.To, s.Evidence, s.PredictedGain
	}
	fact := ""
	if m.opt.Do != nil && !m.opt.ReadOnly {
		fact = "a approves, x rejects"
		switch {
		case m.paused:
			fact = ""
		case m.noPolicy() != "":
			fact = "read-only"
		case m.noCounts() != "":
			fact = "x rejects"
		}
	}
	lines := []line{section(m.g.pending+" Pending step", fact, w, m.g)}
	add := func(l line) { lines = append(lines, l.clip(w, m.g.dots)) }
	var l line
	l.add(roleWarn, m.direction(from, to)+" "+m.memory.steps(from, to))
	if predicted.OK() {
		l.add(roleDim, "  predicted ").add(roleStrong, gain(predicted, m.g.times)).add(roleDim, " jobs/s")
	}
	add(l)
	if s := d.Step; s != nil {
		add(text(roleDim, "  made "+age(m.clock().Sub(s.At))+" ago, good for another "+age(s.Until.Sub(m.clock()))))
	}
	if !d.Pending && hinders(d) {
		add(text(roleWarn, "  the rules would not allow it at this moment"))
	}
	var a, b, c line
	a.add(roleDim, "  share ").add(roleText, percent(e.Share)).add(roleDim, interval(e))
	if e.WindowS > 0 {
		a.add(roleDim, " over "+seconds(control.Some(e.WindowS)))
	}
	b.add(roleDim, "  waiting ").add(roleText, count(e.Waiters)).add(roleDim, "  inside ").add(roleText, count(e.Inside))
	b.add(roleDim, "  jobs/s ").add(roleText, count(e.EnqueueRate))
	c.add(roleDim, "  waiting each ").add(roleText, seconds(e.WaitPerEnqS)).add(roleDim, "  on the count ").add(roleText, ofTotal(e.Applied, e.Producers))
	add(a)
	add(b)
	add(c)
	if e.TopLaneShare.OK() {
		add(*new(line).add(roleDim, "  worst lane ").add(roleText, percent(e.TopLaneShare)).add(roleDim, " of the waits"))
	}
	if m.screen == screenOverview { // there what holds the queue up has more need of the room
		add(text(roleDim, "  enter tells what it costs"))
		return lines
	}
	for _, s := range control.Price(from, to) {
		for _, part := range wrap(s, w-2, 5, m.g.dots) {
			add(text(roleDim, "  "+part))
		}
	}
	return lines
}

// interval is the one in which the share lies, "" when it is not known.
func interval(e control.Evidence) string {
	if !e.ShareLow.OK() || !e.ShareHigh.OK() {
		return ""
	}
	return " in " + percent(e.ShareLow) + ".." + percent(e.ShareHigh)
}

// evidenceLines are what a decision rests on, one fact after the other.
func (m *Model) evidenceLines(e control.Evidence, w int) []line {
	facts := []struct{ name, value string }{
		{"share", percent(e.Share) + interval(e) + " over " + seconds(control.Some(e.WindowS))},
		{"waiting", count(e.Waiters) + ", inside " + count(e.Inside)},
		{"jobs/s", count(e.EnqueueRate) + ", waiting " + seconds(e.WaitPerEnqS) + " each"},
		{"ready", whole(e.Depth)},
		{"behind", strings.Join([]string{"lane " + percent(e.Causes.Lane), "notify " + percent(e.Causes.Notify), "stuck " + percent(e.Causes.Stuck), "hidden " + percent(e.Causes.Unknown)}, ", ")},
		{"worst lane", percent(e.TopLaneShare) + " of the waits"},
		{"on the count", ofTotal(e.Applied, e.Producers) + " producers"},
		{"predicted", gain(e.PredictedGain, m.g.times)},
	}
	var lines []line
	for _, f := range facts {
		var l line
		l.cell(roleDim, "  "+f.name, 16, false, "").add(roleText, f.value)
		lines = append(lines, l.clip(w, m.g.dots))
	}
	return lines
}
