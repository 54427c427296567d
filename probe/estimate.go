package probe

import "time"

// sample is what one look says about every queue, whether or not it read
// pg_locks. Lanes and queues that are not named have nobody.
type sample struct {
	wait map[*lane]int
	busy map[*lane]bool
	w, h map[*queue]int
}

// count turns a look that read pg_locks into a sample.
func count(l look) sample {
	s := sample{wait: map[*lane]int{}, busy: map[*lane]bool{}, w: map[*queue]int{}, h: map[*queue]int{}}
	type seat struct {
		q *queue
		who
	}
	seen := map[seat]bool{}
	for ln, by := range l.hold {
		s.busy[ln] = true
		if at := (seat{ln.queue, by}); !seen[at] {
			seen[at] = true
			s.h[ln.queue]++
		}
	}
	for ln, all := range l.wait {
		s.wait[ln] = len(all)
		s.w[ln.queue] += len(all)
	}
	return s
}

// estimator gives looks that did not read pg_locks their holders: those of the
// latest look that read it although the gate was closed (see the package
// comment).
type estimator struct {
	last   sample
	at     time.Time // our clock, zero when there is none
	maxAge time.Duration
}

// ready says whether a look behind a closed gate can be counted at all.
func (e *estimator) ready(now time.Time) bool {
	return !e.at.IsZero() && now.Sub(e.at) <= e.maxAge
}

func (e *estimator) forget() { *e = estimator{maxAge: e.maxAge} }

// sample returns what l says, ok false when it says nothing that can be
// counted.
func (e *estimator) sample(l look) (s sample, ok bool) {
	switch {
	case l.torn:
		return sample{}, false
	case l.read:
		s = count(l)
		if l.asked && !l.open {
			e.last, e.at = s, l.sent
		}
		return s, true
	case !e.ready(l.sent):
		return sample{}, false
	default: // nobody waits: what the calm look saw waiting does not carry over
		return sample{busy: e.last.busy, h: e.last.h}, true
	}
}
