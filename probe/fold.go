package probe

import (
	"fmt"
	"time"

	"shardpilot/control"
)

// Sessions are asked about again after this long, and forgotten when they
// have not been seen for twice as long.
const sessionAge = 30 * time.Second

// fold puts one look into the sums and returns the backends to ask about: those
// that hold a lane with somebody behind them, and those never asked about.
func (s *state) fold(l look, est *estimator) []int32 {
	s.meter.looks++
	if s.skewTrip == 0 || l.trip <= s.skewTrip {
		s.skew, s.skewTrip = l.skew, l.trip
	}
	s.skewTrip += s.skewTrip / 20 // let a newer, slower one replace it in time
	if l.trip > 0 {
		s.meter.ours.add(l.server.Seconds() / l.trip.Seconds())
	}
	s.activityProblem(l)
	if l.read {
		s.meter.read++
	}
	if l.torn {
		s.problem(control.Problem{Part: "locks", Detail: "too many advisory locks to read; this look does not count", Hint: "looking for our lanes only from now on"})
	} else if l.read {
		s.mended("locks")
		s.own(l)
	}
	if one, ok := est.sample(l); ok && s.seesProducers() {
		s.add(l.at, one)
	}
	if !l.read || l.torn {
		return nil
	}
	return s.wanted(l)
}

// seesProducers says whether the lock table looked at is the producers'. A
// standby has its own: nobody waits there, whatever happens on the primary.
func (s *state) seesProducers() bool {
	if !s.database.Standby {
		s.mended("waits")
		return true
	}
	s.problem(control.Problem{Part: "waits", Detail: "a standby does not see who waits on its primary",
		Hint: "watch the primary; depth and lag are shown here too"})
	return false
}

func (s *state) activityProblem(l look) {
	if l.visible {
		s.mended("activity")
		return
	}
	role := s.database.User
	if role == "" {
		role = "our role"
	}
	s.problem(control.Problem{
		Part:   "activity",
		Detail: "what other roles' sessions do is hidden from " + role + ": waits are complete, but why a holder keeps its lane is not known, and every look has to read pg_locks",
		Hint:   "GRANT pg_read_all_stats TO " + quoted(s.database.User) + inheriting(s.database.Version) + ";",
	})
}

// inheriting has a grant of a role work for a role that is NOINHERIT too, where
// the server can do that: a plain grant would change nothing that we can see.
func inheriting(version string) string {
	major := 0
	if _, err := fmt.Sscanf(version, "%d", &major); err == nil && major >= 16 {
		return " WITH INHERIT TRUE"
	}
	return ""
}

// own keeps who has which lane, and since when by our own looks.
func (s *state) own(l look) {
	if !l.dated {
		s.fullAt = l.sent
	}
	for ln := range s.owned {
		if _, still := l.hold[ln]; !still {
			ln.owner, ln.since = who{}, time.Time{}
			delete(s.owned, ln)
		}
	}
	for ln, by := range l.hold {
		if !s.owned[ln] || ln.owner != by {
			ln.owner, ln.since = by, l.sent
			s.owned[ln] = true
		}
		ln.lockedAt, ln.queue.active = l.sent, l.sent
	}
	for ln := range l.wait {
		ln.lockedAt, ln.queue.active = l.sent, l.sent
	}
}

func (s *state) add(at time.Time, one sample) {
	for _, q := range s.queues {
		w, h := float64(one.w[q]), float64(one.h[q])
		q.samples++
		q.wait += w
		q.hold += h
		q.window.Add(at, w, h, 1)
	}
	for ln, n := range one.wait {
		ln.wait += float64(n)
	}
	for ln := range one.busy {
		ln.busy++
	}
}

func (s *state) wanted(l look) []int32 {
	var pids []int32
	seen := map[int32]bool{0: true} // a prepared transaction has no backend
	want := func(q *queue, by who, always bool) {
		if seen[by.pid] {
			return
		}
		old, known := s.sessions[by.pid]
		// One that began before the count changed proves nothing about its
		// producer; it may have begun another since.
		early := known && !q.changedAt.IsZero() && !old.began.After(q.changedAt)
		if always || !known || early || l.sent.Sub(old.asked) > sessionAge {
			seen[by.pid] = true
			pids = append(pids, by.pid)
		}
	}
	for ln, by := range l.hold {
		want(ln.queue, by, len(l.wait[ln]) > 0)
	}
	for ln, all := range l.wait {
		for _, by := range all {
			want(ln.queue, by, false)
		}
	}
	return pids
}

// attribute uses what is known of the sessions of a look: causes of waiting,
// the holder to show, producers. fresh are the sessions just asked about.
func (s *state) attribute(l look, fresh map[int32]session, stuckAfter time.Duration) {
	for pid, one := range fresh {
		s.sessions[pid] = one
	}
	for ln, all := range l.wait {
		by, held := l.hold[ln]
		if !held {
			continue // the lock table never shows that; if it did, nobody could be blamed
		}
		one, known := fresh[by.pid]
		one = one.then(l.at)
		class := classify(l.notify[by.pid], l.ahead(by.pid), l.sent.Sub(ln.since), stuckAfter, one, known)
		ln.queue.causes.put(class, float64(len(all)))
		ln.holder, ln.holderAt = describe(ln, by, len(all), class, one, known), l.sent
	}
	s.attributeGroups(l, stuckAfter)
}

// attributeGroups notes which lanes the sessions of this look picked.
func (s *state) attributeGroups(l look, grace time.Duration) {
	at := map[*group]map[int32]bool{}
	note := func(ln *lane, by who, waits bool) {
		one, known := s.sessions[by.pid]
		if !known {
			return // gone before we could ask
		}
		g := ln.queue.group(one)
		if g == nil {
			return
		}
		if at[g] == nil {
			at[g] = map[int32]bool{}
		}
		at[g][by.pid] = true
		g.see(l.sent, waits)
		if ln.queue.proves(one, l, grace) {
			g.pick(by.pid, ln.shard, ln.queue.shards, l.sent)
		}
	}
	for ln, by := range l.hold {
		note(ln, by, false)
	}
	for ln, all := range l.wait {
		for _, by := range all {
			note(ln, by, true)
		}
	}
	for g, pids := range at {
		g.most = max(g.most, len(pids))
	}
}

// proves says whether a lock of this session tells which count its producer
// works with now: its transaction has to be younger than the count. Of a hidden
// session it is only known that ten times the longest ordinary transaction has
// passed.
func (q *queue) proves(one session, l look, grace time.Duration) bool {
	switch {
	case q.changedSeen.IsZero():
		return true
	case one.began.IsZero():
		return l.sent.Sub(q.changedSeen) > 10*grace
	default:
		return one.began.After(q.changedAt)
	}
}

// prune forgets sessions that were not asked about for long.
func (s *state) prune(now time.Time) {
	for pid, one := range s.sessions {
		if now.Sub(one.asked) > 2*sessionAge {
			delete(s.sessions, pid)
		}
	}
}
