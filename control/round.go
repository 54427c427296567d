package control

// Member is one queue in a round.
type Member struct {
	Policy QueuePolicy
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
	var first *Member
	inputs := func(m *Member) Input {
		return Input{World: w, Queue: m.Policy, Signal: m.Track.Signal(p), Budget: b}
	}
	for _, m := range members {
		before := m.State
		in := inputs(m)
		m.State, m.Decision, m.Effects = Decide(p, m.State, in)
		if m.Effects.Step == nil {
			continue
		}
		loser := m
		if first == nil || in.Signal.Waiters.Or(0) > first.Decision.Evidence.Waiters.Or(0) {
			first, loser = m, first
			b.InFlight = m.Policy.Queue
		}
		if loser != nil {
			if loser == m {
				m.State = before
			}
			m := loser
			m.State, m.Decision, m.Effects = Decide(p, m.State, inputs(m))
		}
	}
}
