package control

import (
	"fmt"
	"time"
)

// Leadership is who leads the processes that watch one database.
type Leadership struct {
	Leading bool   // we do
	Epoch   int64  // counts up with every change of leader
	Name    string // who leads, as name@host[process]; "" when not known
	Refused string // why we cannot lead (for instance a pooling proxy), "" when we can
}

// World is what all queues of a database share at one tick: the clock, the
// server, Awa, and who leads. Its methods return the World that follows.
type World struct {
	Now     time.Time // server clock
	ReadAt  time.Time // server clock, of the newest snapshot; zero before the first
	Process Mode      // ModeEnforced or ModeShadow: what this process may do
	// Alone: there is no store, so nobody to lead and nothing to write to.
	// Decisions are kept in memory and are shadow decisions.
	Alone bool
	// Store says why the log cannot be written at the moment, "" when it can.
	Store string

	Database Database
	Awa      Installation
	Lead     Leadership
	led      bool // Lead is known

	WarmUntil time.Time // nothing is written before, zero or past when warm
	WarmWhy   string
	StepUntil time.Time // the same after a step of a clock
	// Anew is when the server became another one as far as its speed goes: failed
	// over, was promoted or restarted, and why. Zero when it never did.
	Anew    time.Time
	AnewWhy string
	// Stepped is by how much the server's clock moved against ours at this
	// snapshot, 0 nearly always. Windows must be forgotten when it is not.
	Stepped time.Duration
	skew    time.Duration
}

// See takes in a snapshot.
func (w World) See(p Policy, snap Snapshot) World {
	before, first := w.Database, w.ReadAt.IsZero()
	w.Stepped = 0
	if moved := snap.ClockSkew - w.skew; !first && (moved > p.ClockStep || moved < -p.ClockStep) {
		w.Stepped = moved
		w.StepUntil = snap.At.Add(p.WarmUp)
		w.WarmUntil = earlier(w.WarmUntil, w.StepUntil)
	}
	w.skew = snap.ClockSkew
	w.Now, w.ReadAt, w.Database, w.Awa = snap.At, snap.At, snap.Database, snap.Awa
	d := snap.Database
	why := ""
	switch {
	case first:
	case before.Host != d.Host || before.Port != d.Port:
		why = fmt.Sprintf("the server is another one now, %s:%d", d.Host, d.Port)
	case before.Standby && !d.Standby:
		why = "the standby was promoted"
	case !before.StartedAt.IsZero() && !d.StartedAt.IsZero() && !before.StartedAt.Equal(d.StartedAt):
		why = "the server restarted"
	}
	if why != "" {
		w = w.warm(p, why)
		w.Anew, w.AnewWhy = w.Now, why
	}
	return w
}

// At moves the clock without a snapshot, as when a read failed.
func (w World) At(now time.Time) World {
	w.Stepped = 0
	if now.After(w.Now) {
		w.Now = now
	}
	return w
}

// Follow takes in who leads. Whoever begins to lead warms up: it does not know
// what happened before.
func (w World) Follow(p Policy, l Leadership) World {
	if w.led && w.Lead == l {
		return w
	}
	changed := !w.led || l.Epoch != w.Lead.Epoch || l.Leading != w.Lead.Leading
	w.Lead, w.led = l, true
	if changed && l.Leading {
		w = w.warm(p, "this process began to lead")
	}
	return w
}

func (w World) warm(p Policy, why string) World {
	w.WarmUntil, w.WarmWhy = w.Now.Add(p.WarmUp), why
	return w
}

// Writes says whether this process keeps the log: it leads and the server takes
// writes, or it is alone and keeps one in memory.
func (w World) Writes() bool {
	able := w.Lead.Leading && !w.Database.Standby && !w.Database.ReadOnly
	return (w.Alone || able) && w.Store == ""
}
