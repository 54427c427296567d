package control

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Rules are the numbers that hold in a database, and those that hold for single
// queues in their stead.
type Rules struct {
	Policy Policy
	Queues map[string]Policy // by physical name, each a whole policy
}

// Of is what holds for a queue.
func (r Rules) Of(queue string) Policy {
	if p, ok := r.Queues[queue]; ok {
		return p
	}
	return r.Policy
}

// Pace is Policy.Pace for all of them.
func (r Rules) Pace(n float64) Rules {
	paced := Rules{Policy: r.Policy.Pace(n), Queues: make(map[string]Policy, len(r.Queues))}
	for queue, p := range r.Queues {
		paced.Queues[queue] = p.Pace(n)
	}
	return paced
}

// Validate is Policy.Validate for all of them; its fields are named with the
// queue they are of.
func (r Rules) Validate() error {
	var bad BadFields
	collect := func(where string, p Policy) {
		for _, field := range p.bad() {
			bad = append(bad, where+field)
		}
	}
	collect("", r.Policy)
	for _, queue := range slices.Sorted(maps.Keys(r.Queues)) {
		collect(fmt.Sprintf("queue %q: ", queue), r.Queues[queue])
	}
	return bad.fault()
}

// Changes lists what is other than it was, a field each, "" for nothing.
func (r Rules) Changes(was Rules) []string {
	list := differences("", was.Policy, r.Policy)
	queues := maps.Clone(r.Queues)
	maps.Copy(queues, was.Queues)
	for _, queue := range slices.Sorted(maps.Keys(queues)) {
		_, had := was.Queues[queue]
		_, has := r.Queues[queue]
		if had || has {
			list = append(list, differences(fmt.Sprintf("queue %q: ", queue), was.Of(queue), r.Of(queue))...)
		}
	}
	return list
}

func differences(where string, was, now Policy) (list []string) {
	old, fresh := reflect.ValueOf(was), reflect.ValueOf(now)
	for i := range old.NumField() {
		if before, after := old.Field(i).Interface(), fresh.Field(i).Interface(); before != after {
			list = append(list, fmt.Sprintf("%s%s %v -> %v", where, old.Type().Field(i).Name, before, after))
		}
	}
	return list
}

// sameWindows says whether what was measured under one policy can be read
// under the other.
func sameWindows(a, b Policy) bool {
	return a.Batch == b.Batch && a.GrowWindow == b.GrowWindow && a.ShrinkWindow == b.ShrinkWindow
}

// Use puts other numbers in force for a queue, nil for the common ones. When
// the lengths of windows changed, evidence is gathered anew.
func (m *Member) Use(own *Policy, was, now Policy) {
	m.Own = own
	if !sameWindows(was, now) {
		m.Track = NewTrack(now)
	}
}
