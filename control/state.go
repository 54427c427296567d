package control

import "time"

// State is what the controller remembers of one queue between ticks. All of it
// but the last group is a fold over the decision log (RebuildState): a tick
// asks for entries to be written, and only when they come back from the store
// does the state move. State is a value; copying it is enough to keep it.
type State struct {
	// Shards is the count as far as we know it from the log or from the first
	// reading, 0 before. A reading that says otherwise is somebody else's doing.
	Shards int
	// marks are the newest applied changes, oldest first, marked of them.
	marks  [historySize]mark
	marked int
	// Trial is the change that is being verified, nil when none is.
	Trial *Trial
	// Lock keeps the queue from growing beyond a count that did not pay, Floor
	// from shrinking below one whose loss did harm.
	Lock, Floor Lock
	// Undo of harm: the count to go back to, 0 when there is none. It lapses
	// after PendingLife.
	RevertTo int
	RevertAt time.Time

	AdoptedAt   time.Time // when somebody else last changed the count
	RejectedUp  time.Time // when an operator last rejected a step up
	RejectedDn  time.Time // or down
	FailedAt    time.Time // when a write of ours last did not succeed
	Oscillating bool      // held until resumed by hand
	ResumedAt   time.Time // reversals before do not count
	Pending     *Pending  // the step that waits for a hand, nil when none does
	ended       ended     // how the newest pending step to end did
	lastGen     int64     // newest generation of a pending step
	logged      mind      // the newest decision in the log

	// Not from the log: how long the present decision has been the same.
	seen   mind
	seenAt time.Time
}

// mark is one applied change. Own ones are the controller's, carried out by it
// or approved; a reversal is two of those in opposite directions.
type mark struct {
	at       time.Time
	from, to int
	own      bool
	revert   bool // took harm back
	by       string
}

func (m mark) up() bool { return m.to > m.from }

// ended is how a pending step came to its end.
type ended struct {
	generation int64
	from, to   int
	by, how    string
	at         time.Time
}

// mind is what makes a decision the same as the one before.
type mind struct {
	action  Action
	reason  Reason
	pending bool
}

// Lock is a count that steps of one direction must not pass for a while.
type Lock struct {
	Shards int // 0 for no lock
	At     time.Time
	Hold   time.Duration
	Why    Reason // ReasonIneffective, ReasonWeak, ReasonHarmful or ReasonShrinkHarmful
	What   string // what the verification found
}

// Trial is a change on trial.
type Trial struct {
	At        time.Time
	From, To  int
	Before    Figures
	Own       bool // the controller's, so that harm is taken back
	Predicted Value
	// Not from the log: since when it could be measured, zero before, and
	// whether a window showed harm already.
	Settled time.Time
	Harmed  bool
}

// last is the newest applied change.
func (s *State) last() (mark, bool) {
	if s.marked == 0 {
		return mark{}, false
	}
	return s.marks[s.marked-1], true
}

func (s *State) push(m mark) {
	if s.marked == historySize {
		copy(s.marks[:], s.marks[1:])
		s.marked--
	}
	s.marks[s.marked] = m
	s.marked++
}

// spent is the number of changes within span, and when the oldest of the last
// limit leaves it.
func (s *State) spent(span time.Duration, limit int, now time.Time) (n int, until time.Time) {
	for i := s.marked - 1; i >= 0; i-- {
		if now.Sub(s.marks[i].at) >= span {
			break
		}
		if n++; n == limit {
			until = s.marks[i].at.Add(span)
		}
	}
	return n, until
}

// reversals counts own changes, since the queue was last resumed and within
// span, that went against the own change before them. Taking harm back is one;
// the change after it is held against what was taken back, or a step that is
// tried again later in the same direction would count as another.
func (s *State) reversals(span time.Duration, now time.Time) int {
	n := 0
	var before *mark
	for i := range s.marked {
		m := &s.marks[i]
		if !m.own {
			continue
		}
		if before != nil && before.up() != m.up() && now.Sub(m.at) < span && m.at.After(s.ResumedAt) {
			n++
		}
		if !m.revert {
			before = m
		}
	}
	return n
}

// moved is a time after such a step.
func moved(t time.Time, d time.Duration, now time.Time) time.Time {
	if d > 0 {
		return t.Add(d)
	}
	return earlier(t, now)
}

// Step moves every remembered time along after the server's clock moved by d
// against ours. Which of the two clocks it was cannot be told, so a wait is
// never made shorter: forward, everything moves along; backward, nothing lies
// in the future.
func (s *State) Step(d time.Duration, now time.Time) {
	move := func(t *time.Time) {
		if !t.IsZero() {
			*t = moved(*t, d, now)
		}
	}
	for i := range s.marked {
		move(&s.marks[i].at)
	}
	for _, t := range []*time.Time{&s.Lock.At, &s.Floor.At, &s.RevertAt, &s.AdoptedAt, &s.RejectedUp, &s.RejectedDn, &s.FailedAt, &s.ResumedAt, &s.seenAt} {
		move(t)
	}
	if s.Trial != nil {
		t := *s.Trial
		move(&t.At)
		t.Settled, t.Harmed = time.Time{}, false
		s.Trial = &t
	}
}
