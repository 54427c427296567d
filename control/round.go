package control

// Member is one queue in a round.
type Member struct {
	Policy QueuePolicy
	Own    *Policy // the numbers of this queue, nil for those of the round
	Track  *Track
	State  State
	// The outcome of the newest round.
	Decision Decision
	Effects  Effects
}

// Round decides for all queues at one tick. At most one step comes out of it:
// when several queues want one, the queue with the most waiting sessions goes
// first and the others are told that a change is in flight.
func Round(p Policy, w World, b Budget, members []*Member) {
	of := func(m *Member) Policy {
		if m.Own != nil {
			return *m.Own
		}
		return p
	}
	type wish struct {
		m      *Member
		before State
		in     Input
	}
	var wishes []wish
	for _, m := range members {
		in := Input{World: w, Queue: m.Policy, Signal: m.Track.Signal(of(m)), Budget: b}
		before := m.State
		m.State, m.Decision, m.Effects = Decide(of(m), m.State, in)
		if m.Effects.Step != nil {
			wishes = append(wishes, wish{m, before, in})
		}
	}
	if len(wishes) < 2 {
		return
	}
	first := 0
	for i := range wishes {
		if wishes[i].in.Signal.Waiters.Or(0) > wishes[first].in.Signal.Waiters.Or(0) {
			first = i
		}
	}
	for i := range wishes {
		if x := &wishes[i]; i != first {
			x.in.Budget.InFlight = wishes[first].m.Policy.Queue
			x.m.State, x.m.Decision, x.m.Effects = Decide(of(x.m), x.before, x.in)
		}
	}
}
