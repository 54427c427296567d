package record

import (
	"time"

	"shardpilot/control"
)

// Tape is a recording and a place in it.
type Tape struct {
	*Recording
	player *Player
}

// Tape begins at the start.
func (r *Recording) Tape() *Tape { return &Tape{r, r.Play()} }

// Seek goes to the newest event that is not after a time, and gives it with what
// comes before it; see Recording.Seek.
func (t *Tape) Seek(at time.Time, see func(*control.Reading)) ([]control.Event, time.Time, error) {
	p, events, err := t.Recording.Seek(at, see)
	if err != nil {
		return nil, time.Time{}, err
	}
	t.player = p
	return events, p.At(), nil
}

// Next is the next event and its time, io.EOF after the last.
func (t *Tape) Next() (control.Event, time.Time, error) {
	ev, err := t.player.Next()
	return ev, t.player.At(), err
}

// Note says what is wrong with the recording as a whole, "" when nothing is.
func (t *Tape) Note() string {
	if t.Torn {
		return "the last line of the recording is torn, as after a crash; what came before it is there"
	}
	return ""
}

// Bad is how many stretches could not be read, of what was read so far.
func (t *Tape) Bad() int { return t.player.Bad() }

// Lost is how much time those stretches take.
func (t *Tape) Lost() time.Duration { return t.player.Lost() }

// Gap is how much time could not be read before the event that Next gave last,
// or before the end.
func (t *Tape) Gap() time.Duration { return t.player.Gap() }
