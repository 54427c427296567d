package tui

import (
	"time"

	"shardpilot/control"
)

// compared is a figure before and after a change.
type compared struct {
	name          string
	before, after control.Value
	show          func(control.Value) string
}

// comparedLines set figures side by side, under what they are means of.
func (m *Model) comparedLines(list []compared, of string, w int) []line {
	var head line
	head.cell(roleFaint, "", 9, false, "").cell(roleFaint, "before", 8, true, "").cell(roleFaint, "after", 8, true, "").add(roleFaint, "   "+of)
	lines := []line{head.clip(w, m.g.dots)}
	for _, x := range list {
		var l line
		l.cell(roleDim, x.name, 9, false, "").cell(roleText, x.show(x.before), 8, true, "").cell(roleStrong, x.show(x.after), 8, true, "")
		if b, a := x.before.Or(0), x.after.Or(-1); b > 0 && a >= 0 {
			l.add(roleDim, "   "+gain(control.Some(a/b), m.g.times))
		}
		lines = append(lines, l.clip(w, m.g.dots))
	}
	return lines
}

// comparisonPane sets the queue before its last change against after it, from
// what was seen here until the controller's verdict stands below, and then from
// the figures that the verdict is about. A change from before this screen has
// those of the log alone.
func (m *Model) comparisonPane(r row, w int) []line {
	c := r.changed
	if c == nil || r.past {
		return nil
	}
	list, of := loggedBeside(r, c)
	if seen, span := m.seenBeside(r, c); seen != nil && (list == nil || !judges(r.judged, c)) {
		list, of = seen, span
	}
	if list == nil {
		return nil
	}
	lines := []line{section("After "+m.memory.steps(c.From, c.To), m.timeOf(c.At)+" by "+safe(c.Actor, m.g.ascii), w, m.g)}
	return append(append(lines, m.comparedLines(list, of, w)...), m.verdictLines(r, w)...)
}

// seenBeside compares what was seen here, nil when that is not enough.
func (m *Model) seenBeside(r row, c *control.Change) (list []compared, of string) {
	n := min(m.clock().Unix()-c.At.Unix()-settleS, compareWindow)
	if c.At.Before(m.memory.first) || n < 5 || m.clock().Sub(c.At) > time.Duration(tiers[0].slots-compareWindow)*time.Second {
		return nil, ""
	}
	for _, x := range []struct {
		name   string
		series int
		show   func(control.Value) string
	}{{"waiting", seriesWaiters, count}, {"share", seriesShare, percent}, {"jobs/s", seriesRate, count}} {
		list = append(list, compared{x.name, r.history.recent(x.series, c.At.Unix()-1, n), r.history.recent(x.series, c.At.Unix()+settleS+n-1, n), x.show})
	}
	return list, "means of " + age(time.Duration(n)*time.Second)
}

// loggedBeside compares what the log kept: the figures that stand with the
// change, and those that stand with its verdict.
func loggedBeside(r row, c *control.Change) (list []compared, of string) {
	l, v := r.logged, r.judged
	if l == nil || !l.At.Equal(c.At) || l.Before == (control.Figures{}) {
		return nil, ""
	}
	var after control.Evidence
	if judges(v, c) {
		after = v.Evidence
	}
	return []compared{
		{"waiting", l.Before.Waiters, after.Waiters, count},
		{"jobs/s", l.Before.Rate, after.EnqueueRate, count},
		{"wait each", l.Before.WaitPerS, after.WaitPerEnqS, seconds},
		{"producers", l.Before.Producers, after.Producers, whole},
	}, "as logged"
}

// judges says whether a verdict is about a change.
func judges(v *control.LogEntry, c *control.Change) bool {
	return v != nil && v.From == c.From && v.To == c.To && !v.At.Before(c.At)
}
