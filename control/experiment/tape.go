package experiment

import (
	"math/rand/v2"
	"sync"
)

// tape is a stretch of one load at one count, second by second.
type tape struct{ beats []beat }

type tapeKey struct {
	load   Load
	shards int
}

// Tapes keeps what was played event by event, for all runs on one machine. It
// is safe for concurrent use.
type Tapes struct {
	machine Machine
	seed    uint64
	// A tape is as long as so many enqueues take, within these bounds in seconds:
	// loads with little to do can be played for longer.
	events            int
	shortest, longest int

	mu    sync.Mutex
	tapes map[tapeKey]*slot
}

type slot struct {
	once sync.Once
	tape *tape
}

// NewTapes makes an empty shelf. The seed makes tapes repeatable, in whatever
// order they are played.
func NewTapes(m Machine, seed uint64) *Tapes {
	return &Tapes{machine: m, seed: seed, events: 60_000, shortest: 240, longest: 7200, tapes: map[tapeKey]*slot{}}
}

func (t *Tapes) get(load Load, shards int) *tape {
	key := tapeKey{load, shards}
	t.mu.Lock()
	s := t.tapes[key]
	if s == nil {
		s = &slot{}
		t.tapes[key] = s
	}
	t.mu.Unlock()
	s.once.Do(func() { s.tape = t.play(load, shards) })
	return s.tape
}

func (t *Tapes) play(load Load, shards int) *tape {
	out := &tape{}
	c := newCrowd(t.machine, load, shards, t.seed)
	c.run(warmUp)
	c.sink = func(b beat) {
		b.say(load)
		b.latency.dense = [buckets]uint16{}
		out.beats = append(out.beats, b)
	}
	from := c.enqueued
	for len(out.beats) < t.longest && (len(out.beats) < t.shortest || c.enqueued-from < t.events) {
		c.run(c.now + 60)
	}
	return out
}

// player strings blocks of a tape together.
type player struct {
	rng  *rand.Rand
	tape *tape
	at   int // of the next beat
	left int // beats left in the block
}

// blockBeats is the length of a block in seconds: well beyond the time in
// which the crowd in front of a lane forgets what it was.
const blockBeats = 30

// next is the next beat of the tape; another tape begins with a new block.
func (p *player) next(t *tape) *beat {
	if t != p.tape || p.left == 0 {
		p.tape, p.at, p.left = t, p.rng.IntN(len(t.beats)), blockBeats
	}
	b := &t.beats[p.at]
	p.at = (p.at + 1) % len(t.beats)
	p.left--
	return b
}

func newPlayer(seed uint64) player {
	return player{rng: rand.New(rand.NewPCG(seed, 0xb10c))}
}
