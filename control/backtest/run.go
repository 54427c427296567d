package backtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// run is a backtest under way.
type run struct {
	o       Options
	base    *controller
	other   *controller   // the base when nothing is changed
	without []*controller // of each of several changes, without it
	open    map[string]*Difference
	wished  map[string][]wished // by queue, what the log should get
	queues  map[string]bool     // that were met
	dropped int
	report  Report
}

// wished is an entry that a decision asked for.
type wished struct {
	kind     control.LogKind
	from, to int
	reason   control.Reason
	verdict  control.Verdict
}

func newRun(o Options) *run {
	r := &run{o: o, open: map[string]*Difference{}, wished: map[string][]wished{}, queues: map[string]bool{}, dropped: -1}
	r.report.Changes = append([]Change{}, o.Changes...)
	r.report.Check.Odd, r.report.Steps, r.report.Differences = []Odd{}, []Step{}, []Difference{}
	by := func(leaveOut int) *controller {
		set := rules{policy: o.Policy}
		for i, c := range o.Changes {
			if i != leaveOut {
				c.apply(&set)
			}
		}
		c := newController(set)
		c.learn(o.Before, time.Unix(1<<40, 0)) // all of it is past
		return c
	}
	r.base = newController(rules{policy: o.Policy})
	r.base.learn(o.Before, time.Unix(1<<40, 0))
	if r.other = r.base; len(o.Changes) > 0 {
		r.other = by(-1)
	}
	if len(o.Changes) > 1 {
		for i := range o.Changes {
			r.without = append(r.without, by(i))
		}
	}
	return r
}

func (r *run) take(ev *control.Event) {
	p := &r.report
	p.Ticks++
	if now := ev.World.Now; !now.IsZero() {
		if p.From.IsZero() {
			p.From = now
		}
		p.To = now
	}
	if r.dropped >= 0 && ev.Dropped > r.dropped {
		p.Missed += ev.Dropped - r.dropped
	}
	r.dropped = ev.Dropped
	r.meet(ev)
	r.entries(ev)
	r.base.take(ev, r.o.Policy)
	r.check(ev)
	if r.other == r.base {
		return
	}
	r.other.take(ev, r.o.Policy)
	for _, c := range r.without {
		c.take(ev, r.o.Policy)
	}
	for i := range ev.Decisions {
		if q := ev.Decisions[i].Queue; r.o.Queue == "" || r.o.Queue == q {
			r.compare(q, ev.World.Now)
		}
	}
}

// meet learns which queues there are.
func (r *run) meet(ev *control.Event) {
	for i := range ev.Decisions {
		r.queues[ev.Decisions[i].Queue] = true
	}
	if ev.Snapshot != nil {
		for i := range ev.Snapshot.Readings {
			r.queues[ev.Snapshot.Readings[i].Queue] = true
		}
	}
	for i := range ev.Entries {
		r.queues[ev.Entries[i].Queue] = true
	}
	delete(r.queues, "") // an entry about the whole database
}

// mostNamed bounds a list of queues in a sentence.
const mostNamed = 20

// known is a Fault when the queue that is asked about was not met.
func (r *run) known() error {
	if r.o.Queue == "" || r.queues[r.o.Queue] {
		return nil
	}
	names := slices.Sorted(maps.Keys(r.queues))
	hint := "it holds none"
	if n := len(names); n > 0 {
		hint = "it holds " + strings.Join(names[:min(n, mostNamed)], ", ")
		if n > mostNamed {
			hint += fmt.Sprintf(" and %d more", n-mostNamed)
		}
	}
	return &control.Fault{Kind: control.FaultRefused, What: fmt.Sprintf("there is no queue %q in the recording", r.o.Queue), Hint: hint}
}

// entries lists the steps of the log, and holds the controller's own entries
// against what it asked for.
func (r *run) entries(ev *control.Event) {
	p, last := &r.report, r.base.last
	if r.base.anew(ev.Entries) {
		last = 0
	}
	for i := range ev.Entries {
		e := &ev.Entries[i]
		if e.ID != 0 && e.ID <= last || r.o.Queue != "" && e.Queue != r.o.Queue {
			continue
		}
		if e.Kind == control.LogProposed || e.Kind == control.LogChange || e.Kind == control.LogAdopted {
			p.Steps = append(p.Steps, Step{At: e.At, Queue: e.Queue, From: e.From, To: e.To, Kind: e.Kind, Outcome: e.Outcome, Reason: e.Reason, Actor: e.Actor})
		}
		if p.Ticks == 1 || e.Verb != "" || e.Kind == control.LogAct || e.Kind == control.LogAdopted || e.Kind == control.LogWithdrawn {
			continue // from before, or not decided by figures
		}
		p.Check.Entries++
		k := wished{kind: e.Kind, from: e.From, to: e.To, reason: e.Reason, verdict: e.Verdict}
		if e.Kind == control.LogChange && e.Outcome != control.OutcomeApplied {
			k.reason = "" // the gate's own
		}
		if list := r.wished[e.Queue]; slices.Contains(list, k) {
			p.Check.Explained++
			r.wished[e.Queue] = nil
		} else {
			r.odd(Odd{At: e.At, Queue: e.Queue, Recorded: fmt.Sprintf("log: %s %d to %d %s %s", e.Kind, e.From, e.To, e.Reason, e.Verdict), Computed: fmt.Sprint(list)})
		}
	}
}

func (r *run) odd(o Odd) {
	if len(r.report.Check.Odd) < mostOdd {
		r.report.Check.Odd = append(r.report.Check.Odd, o)
	}
}

// check holds the recorded decisions against the computed ones.
func (r *run) check(ev *control.Event) {
	c := &r.report.Check
	for i := range ev.Decisions {
		d := &ev.Decisions[i]
		m := r.base.members[d.Queue]
		r.remember(m)
		if r.o.Queue != "" && r.o.Queue != d.Queue || !ev.World.Lead.Leading && !ev.World.Alone {
			continue
		}
		c.Decisions++
		if got, want := wishOf(m), wishOfDecision(d); got.same(want) && got.Reason == want.Reason {
			c.Same++
		} else {
			r.odd(Odd{At: d.At, Queue: d.Queue, Recorded: want.String(), Computed: got.String()})
		}
	}
}

// mostWished bounds what is remembered of a queue whose entries never come, as
// those of a process that does not lead.
const mostWished = 32

// remember keeps what a decision asked for until the log has it: while one
// errand is out the loop drops what others want, and they want it again.
func (r *run) remember(m *control.Member) {
	add := func(e *control.LogEntry, reason control.Reason) {
		k := wished{kind: e.Kind, from: e.From, to: e.To, reason: reason, verdict: e.Verdict}
		list := r.wished[m.Policy.Queue]
		if !slices.Contains(list, k) {
			r.wished[m.Policy.Queue] = append(list[max(0, len(list)-mostWished):], k)
		}
	}
	for i := range m.Effects.Entries {
		add(&m.Effects.Entries[i], m.Effects.Entries[i].Reason)
	}
	if s := m.Effects.Step; s != nil {
		add(&s.Entry, s.Entry.Reason)
		add(&s.Entry, "")
	}
}

func wishOf(m *control.Member) Wish { return wishOfDecision(&m.Decision) }

func wishOfDecision(d *control.Decision) Wish {
	return Wish{Action: d.Action, From: d.From, To: d.To, Reason: d.Reason, Detail: d.Detail, Pending: d.Pending}
}

// same says whether both want the same done.
func (w Wish) same(o Wish) bool {
	return w.Action == o.Action && w.From == o.From && w.To == o.To && w.Pending == o.Pending
}

func (w Wish) String() string {
	s := fmt.Sprintf("%s %d to %d, %s", w.Action, w.From, w.To, w.Reason)
	if w.Action == control.ActionHold {
		s = fmt.Sprintf("hold at %d, %s", w.From, w.Reason)
	}
	if w.Pending {
		s += ", pending"
	}
	return s
}

// compare lengthens the difference of a queue, or begins or ends one.
func (r *run) compare(queue string, now time.Time) {
	was, is := wishOf(r.base.members[queue]), wishOf(r.other.members[queue])
	d := r.open[queue]
	if was.same(is) {
		if was.Reason != is.Reason {
			r.report.Reasons++
		}
		if d != nil {
			r.close(queue)
		}
		return
	}
	if d != nil && d.Recorded.same(was) && d.Other.same(is) {
		d.To = now
		return
	}
	r.close(queue)
	d = &Difference{Queue: queue, From: now, To: now, Recorded: was, Other: is, Decisive: []string{}}
	for i, c := range r.without {
		if wishOf(c.members[queue]).same(was) {
			d.Decisive = append(d.Decisive, r.o.Changes[i].Field)
		}
	}
	if len(r.o.Changes) == 1 {
		d.Decisive = append(d.Decisive, r.o.Changes[0].Field)
	}
	r.open[queue] = d
}

func (r *run) close(queue string) {
	if d := r.open[queue]; d != nil && len(r.report.Differences) < mostDifferences {
		r.report.Differences = append(r.report.Differences, *d)
	}
	delete(r.open, queue)
}

func (r *run) end() Report {
	for queue := range r.open {
		r.close(queue)
	}
	slices.SortFunc(r.report.Differences, func(a, b Difference) int {
		if c := a.From.Compare(b.From); c != 0 {
			return c
		}
		return strings.Compare(a.Queue, b.Queue)
	})
	p := &r.report
	all := len(p.Steps)
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return s.At.Before(p.From) })
	p.Earlier = all - len(p.Steps)
	return r.report
}
