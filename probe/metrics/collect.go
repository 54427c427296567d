package metrics

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shardpilot/control"
)

// page is a scrape in the making.
type page struct{ list []prometheus.Metric }

// put adds a sample. What Prometheus would not take becomes an error of the
// scrape that names the metric.
func (p *page) put(d *definition, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d.desc, d.kind, v, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d.desc, err)
	}
	p.list = append(p.list, m)
}

// value adds a sample if there is one.
func (p *page) value(d *definition, v control.Value, labels ...string) {
	if x, ok := v.Get(); ok {
		p.put(d, x, labels...)
	}
}

// is adds a yes or no.
func (p *page) is(d *definition, yes bool, labels ...string) {
	v := 0.0
	if yes {
		v = 1
	}
	p.put(d, v, labels...)
}

// when adds a point in time, unless it is not known.
func (p *page) when(d *definition, t time.Time, labels ...string) {
	if !t.IsZero() {
		p.put(d, float64(t.UnixMilli())/1000, labels...)
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, s := range catalogue() {
		for _, d := range s.list {
			to <- d.desc
		}
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, one := range m.render() {
		to <- one
	}
}

// render lists every sample there is now.
func (m *Metrics) render() []prometheus.Metric {
	now := m.opts.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	measured, decided := m.current(now)
	p := &page{}
	p.put(buildInfo, 1, text(m.opts.Version), text(m.opts.GoVersion))
	p.put(snapshots, m.snapshots)
	p.put(failures, m.failures)
	p.put(probeStatements, m.statements)
	p.put(eventsDropped, m.dropped)
	p.put(snapshotAge, m.age(now))
	p.value(policyCurrent, m.policyOK)
	m.ledger.show(p)
	if decided {
		m.showProcess(p)
	}
	if measured {
		m.showLooking(p)
	}
	m.showQueues(p, measured, decided)
	return p.list
}

// show adds the counters of the decision log, in a steady order.
func (l *ledger) show(p *page) {
	for _, k := range slices.Sorted(maps.Keys(l.kinds)) {
		p.put(logEntries, l.kinds[k], string(k))
	}
	for _, v := range slices.Sorted(maps.Keys(l.verdicts)) {
		p.put(verifications, l.verdicts[v], string(v))
	}
	for k, n := range l.decisions {
		p.put(decisions, n, string(k.mode), string(k.action), string(k.reason))
	}
	for k, n := range l.changes {
		p.put(changes, n, k.actor, string(k.action), string(k.reason), string(k.outcome))
	}
}

func (m *Metrics) showProcess(p *page) {
	e := &m.newest
	p.is(databaseUp, e.Snapshot != nil)
	p.is(processMode, e.ProcessMode != control.ModeEnforced, string(control.ModeShadow))
	p.is(processMode, e.ProcessMode == control.ModeEnforced, string(control.ModeEnforced))
	p.is(logDurable, e.Memory == inDatabase)
	if e.World.Alone {
		return // it takes no part in leading
	}
	p.is(leader, e.Leader == self)
	p.is(leaderKnown, e.Leader != "")
	if e.Leader != "" {
		p.put(leaderInfo, 1, text(e.Leader))
	}
}

// What an event says of its leader and its memory.
const (
	self       = "self"
	inDatabase = "database"
)

func (m *Metrics) showLooking(p *page) {
	s := m.snapshot
	d := s.Database
	p.is(databaseWritable, !d.Standby && !d.ReadOnly)
	p.put(databaseInfo, 1, text(d.Host), strconv.Itoa(d.Port), text(d.Name), text(d.Version), text(d.Label))
	p.put(awaInfo, 1, text(string(s.Awa.State)), text(s.Awa.Schema), strconv.Itoa(s.Awa.Version))
	p.put(clockSkew, s.ClockSkew.Seconds())
	p.put(queues, float64(len(s.Readings)))
	p.put(problems, float64(len(s.Problems)))
	seen := map[string]bool{}
	for _, one := range s.Problems {
		if part := text(one.Part); !seen[part] && len(seen) < mostParts {
			seen[part] = true
			p.put(problem, 1, part)
		}
	}
	p.value(probeBusy, control.Some(s.Cost.BusyShare))
	p.value(probeHertz, control.Some(s.Cost.SampleHz))
	p.value(probeLocksRead, s.Cost.LocksReadShare)
	p.is(probeSlowed, s.Cost.SlowedDown)
}

// mostParts bounds the parts of a snapshot that are named.
const mostParts = 32
