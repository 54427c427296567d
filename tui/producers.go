package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shardpilot/control"
)

// producerItem is one line of the producers page: an instance of Awa or a
// producer of a queue.
type producerItem struct {
	queue    string // raw, "" for an instance
	instance *control.Instance
	producer *control.Producer
	configed int // configured count of the producer's queue
}

// id names an item for cursors.
func (p producerItem) id() string {
	if p.instance != nil {
		return "i\x00" + p.instance.ID
	}
	return "p\x00" + p.queue + "\x00" + p.producer.ID
}

// text is what the filter looks at.
func (p producerItem) text() string {
	if i := p.instance; i != nil {
		state := "healthy"
		if i.Stale {
			state = "silent stale"
		}
		return strings.Join([]string{i.Hostname, i.Version, i.ID, state, strings.Join(i.Queues, " ")}, " ")
	}
	return strings.Join([]string{p.queue, p.producer.ID, string(p.producer.State), p.producer.How}, " ")
}

// producerItems are those that have the filter's text in them.
func (m *Model) producerItems() []producerItem {
	all := m.allProducers()
	needle := strings.ToLower(m.filters[screenProducers])
	if needle == "" {
		return all
	}
	return slices.DeleteFunc(all, func(p producerItem) bool {
		return !strings.Contains(strings.ToLower(safe(p.text(), m.g.ascii)), needle)
	})
}

// allProducers are instances, then producers by queue, in the order of the
// overview.
func (m *Model) allProducers() []producerItem {
	if m.picture == nil {
		return nil
	}
	in := m.picture.event.Snapshot.Instances
	n := len(in)
	for _, r := range m.rows {
		n += len(r.reading.ProducerList)
	}
	out := make([]producerItem, 0, n)
	for i := range in {
		out = append(out, producerItem{instance: &in[i]})
	}
	for _, r := range m.rows {
		for i := range r.reading.ProducerList {
			p := &r.reading.ProducerList[i]
			out = append(out, producerItem{queue: r.name, producer: p, configed: r.reading.Shards})
		}
	}
	return out
}

func (m *Model) producerUnderCursor() producerItem {
	items := m.producerItems()
	i := m.list[screenProducers].place(len(items), func(i int) string { return items[i].id() })
	if i < 0 {
		return producerItem{}
	}
	return items[i]
}

// producersPage is who enqueues and works, and on which count.
func (m *Model) producersPage(w, h int) []line {
	items := m.producerItems()
	if len(items) == 0 && m.filter() != "" {
		return []line{{}, text(roleDim, "  nobody has \""+m.filter()+"\" in it; esc clears the filter")}
	}
	if len(items) == 0 {
		return []line{{}, text(roleText, "  No producer has been seen yet."),
			text(roleDim, "  Producers are known by what they report, or by the lanes their sessions lock.")}
	}
	c := &m.list[screenProducers]
	at := c.place(len(items), func(i int) string { return items[i].id() })
	var detail []line
	switch {
	case h >= 16:
		detail = m.producerDetail(items[at], w, 6)
	case h >= 8:
		detail = m.producerDetail(items[at], w, 3)
	}
	room := max(h-len(detail), 1)
	p := producerLines{m: m, items: items, w: w, at: at}
	for p.instances < len(items) && items[p.instances].instance != nil {
		p.instances++
	}
	view := cursor{index: p.lineOf(at), offset: c.offset}
	c.offset = view.window(p.lineOf(len(items)), room)
	if at == 0 {
		c.offset = 0
	}
	out := p.draw(c.offset, room)
	for len(out) < room {
		out = append(out, line{})
	}
	return append(out, detail...)
}

// producerLines lays both tables out as one list of lines, of which only the
// visible ones are made.
type producerLines struct {
	m             *Model
	items         []producerItem
	instances, at int
	w             int
}

// The headings: two lines before the instances, three before the producers.
const instanceHead, producerHead = 2, 3

func (p producerLines) lineOf(item int) int {
	if item < p.instances {
		return instanceHead + item
	}
	return instanceHead + producerHead + item
}

func (p producerLines) draw(from, n int) []line {
	m := p.m
	ic, pc := m.instanceColumns(p.w-2), m.producerColumns(p.w-2)
	var out []line
	for k := from; k < from+n && k < p.lineOf(len(p.items)); k++ {
		switch i := k - instanceHead; {
		case k == 0:
			out = append(out, section("Awa runtimes", m.runtimesFact(p.items[:p.instances]), p.w, m.g))
		case k == 1:
			out = append(out, m.listLine(false, headLine(ic, 1, m.g.dots)))
		case i < p.instances:
			out = append(out, m.itemLine(i, p.at, bodyLine(ic, 1, m.g.dots, p.items[i])))
		case i == p.instances:
			out = append(out, line{})
		case i == p.instances+1:
			out = append(out, section("Producers", m.producersFact(p.items[p.instances:]), p.w, m.g))
		case i == p.instances+2:
			out = append(out, m.listLine(false, headLine(pc, 1, m.g.dots)))
		default:
			i -= producerHead
			out = append(out, m.itemLine(i, p.at, bodyLine(pc, 1, m.g.dots, p.items[i])))
		}
	}
	return out
}

// runtimesFact counts the runtimes, those that are silent, and the versions.
func (m *Model) runtimesFact(items []producerItem) string {
	silent, versions := 0, map[string]bool{}
	for _, it := range items {
		if it.instance.Stale {
			silent++
		}
		versions[it.instance.Version] = true
	}
	s := strconv.Itoa(len(items))
	if silent > 0 {
		s += ", " + strconv.Itoa(silent) + " silent"
	}
	if len(versions) > 1 {
		s += ", " + strconv.Itoa(len(versions)) + " versions"
	}
	return s
}

// producersFact counts the producers by how they stand to the count.
func (m *Model) producersFact(items []producerItem) string {
	n := map[control.AppliedState]int{}
	for _, it := range items {
		n[it.producer.State]++
	}
	return fmt.Sprintf("%d: %d on, %d stale, %d unknown", len(items), n[control.AppliedOn], n[control.AppliedStale], n[control.AppliedUnknown])
}

func (m *Model) instanceColumns(w int) []column[producerItem] {
	return fitColumns([]column[producerItem]{
		{title: "HOST", w: 14, grow: 20, prio: 0, cell: func(i producerItem) (role, string) { return roleStrong, safe(i.instance.Hostname, m.g.ascii) }},
		{title: "PID", w: 7, right: true, prio: 3, cell: func(i producerItem) (role, string) { return roleDim, strconv.Itoa(i.instance.PID) }},
		{title: "VERSION", w: 9, prio: 2, cell: func(i producerItem) (role, string) { return roleText, safe(i.instance.Version, m.g.ascii) }},
		{title: "STATE", w: 12, prio: 1, cell: func(i producerItem) (role, string) { return m.instanceState(i.instance) }},
		{title: "SEEN", w: 6, right: true, prio: 1, cell: func(i producerItem) (role, string) { return roleDim, seconds(i.instance.SeenAgoS) }},
		{title: "UP", w: 6, right: true, prio: 4, cell: func(i producerItem) (role, string) { return roleDim, seconds(i.instance.UptimeS) }},
		{title: "QUEUES", w: 6, right: true, prio: 4, cell: func(i producerItem) (role, string) { return roleText, strconv.Itoa(len(i.instance.Queues)) }},
		{title: "", w: 10, prio: 5, cell: func(i producerItem) (role, string) {
			if i.instance.Leader {
				return roleAccent, "maintains"
			}
			return roleText, ""
		}},
		{title: "INSTANCE", w: 12, grow: 26, prio: 6, cell: func(i producerItem) (role, string) { return roleFaint, safe(i.instance.ID, m.g.ascii) }},
	}, w, 1)
}

func (m *Model) instanceState(i *control.Instance) (role, string) {
	switch {
	case i.Stale:
		return roleBad, m.g.bad + " silent"
	case i.ShuttingDn:
		return roleDim, "stopping"
	case !i.Healthy:
		return roleWarn, m.g.warn + " unwell"
	}
	return roleGood, "healthy"
}

func (m *Model) producerColumns(w int) []column[producerItem] {
	return fitColumns([]column[producerItem]{
		{title: "QUEUE", w: 12, grow: 14, prio: 0, cell: func(i producerItem) (role, string) { return roleText, safe(i.queue, m.g.ascii) }},
		{title: "PRODUCER", w: 16, grow: 36, prio: 0, cell: func(i producerItem) (role, string) { return roleStrong, safe(i.producer.ID, m.g.ascii) }},
		{title: "S", w: 7, right: true, prio: 1, cell: m.producerShards},
		{title: "STATE", w: 9, prio: 1, cell: func(i producerItem) (role, string) { return m.appliedState(i.producer.State) }},
		{title: "HOW", w: 8, prio: 4, cell: func(i producerItem) (role, string) { return roleDim, safe(i.producer.How, m.g.ascii) }},
		{title: "SESSIONS", w: 8, right: true, prio: 3, cell: func(i producerItem) (role, string) { return quietZero(i.producer.Sessions), whole(i.producer.Sessions) }},
		{title: "WAIT", w: 5, right: true, prio: 2, cell: func(i producerItem) (role, string) {
			return quietZero(i.producer.Waiting), count(i.producer.Waiting)
		}},
		{title: "SEEN", w: 6, right: true, prio: 5, cell: func(i producerItem) (role, string) { return roleDim, seconds(i.producer.SeenAgoS) }},
	}, w, 1)
}

// producerShards is the count a producer works with, of the configured one. An
// inferred count is a lower bound and says so.
func (m *Model) producerShards(i producerItem) (role, string) {
	if !i.producer.Shards.OK() {
		return roleFaint, absent
	}
	s := whole(i.producer.Shards)
	if i.producer.How != "reported" {
		s = ">=" + s
	}
	return roleText, fmt.Sprintf("%s/%s", s, shardCount(i.configed))
}

func (m *Model) appliedState(s control.AppliedState) (role, string) {
	switch s {
	case control.AppliedOn:
		return roleGood, "on"
	case control.AppliedStale:
		return roleWarn, m.g.warn + " stale"
	}
	return roleDim, "unknown"
}

// producerPane is the producers of one queue on its page.
func (m *Model) producerPane(r row, w int) []line {
	lines := m.takeUpLines(r, w)
	type producer = control.Producer
	cols := fitColumns([]column[producer]{
		{title: "who", w: 12, grow: 30, prio: 0, cell: func(p producer) (role, string) { return roleText, safe(p.ID, m.g.ascii) }},
		{title: "S", w: 6, right: true, prio: 1, cell: func(p producer) (role, string) {
			return m.producerShards(producerItem{producer: &p, configed: r.reading.Shards})
		}},
		{title: "state", w: 8, prio: 1, cell: func(p producer) (role, string) { return m.appliedState(p.State) }},
		{title: "wait", w: 5, right: true, prio: 2, cell: func(p producer) (role, string) { return quietZero(p.Waiting), count(p.Waiting) }},
		{title: "seen", w: 5, right: true, prio: 3, cell: func(p producer) (role, string) { return roleDim, seconds(p.SeenAgoS) }},
	}, w, 1)
	if len(r.reading.ProducerList) == 0 {
		return lines
	}
	lines = append(lines, headLine(cols, 1, ""))
	list := troubleFirst(r.reading.ProducerList)
	for _, p := range list {
		lines = append(lines, bodyLine(cols, 1, m.g.dots, p))
	}
	return append(lines, m.remedyLines(list, r.reading.Shards, w)...)
}

// troubleFirst puts the producers that are not on the count first, and those
// of which it is not known second.
func troubleFirst(list []control.Producer) []control.Producer {
	rank := func(p control.Producer) int {
		return slices.Index([]control.AppliedState{control.AppliedOn, control.AppliedUnknown, control.AppliedStale}, p.State)
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b control.Producer) int { return rank(b) - rank(a) })
	return out
}
