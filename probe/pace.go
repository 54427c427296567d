package probe

import (
	"slices"
	"time"
)

// Shares of Config.MaxCost.
const (
	lookBudget     = 0.50
	depthBudget    = 0.25
	sequenceBudget = 0.10
	otherBudget    = 0.15
)

const (
	smoothing   = 0.1              // weight of the newest look in an average
	slowest     = 30 * time.Second // longest interval between looks
	gateAbove   = 0.50             // share of the budget at which looks start to ask the gate
	gateBelow   = 0.35             // and at which they stop
	rarestForce = 1.0 / 40         // least fraction of looks that read whatever the gate says
	firstLooks  = 5                // on a new connection, before it is held back
)

// pacer decides how often to look and whether to ask the gate first, from what
// looks cost. It is plain arithmetic: the sampler owns the timer.
type pacer struct {
	base   time.Duration // interval at the base rate
	budget float64       // share of one backend's time for looking

	full    typical // s, a look that read pg_locks
	shut    typical // s, a look that the gate stopped
	after   typical // s, what was asked after a look, when something was
	reads   average // share of looks that read pg_locks
	follows average // share of looks after which something was asked
	gated   bool
	credit  float64 // part of a forced look saved up
	looks   int     // on this connection, firstLooks at most
}

// typical is the lower quartile of the newest measurements. Time on the server
// contains waiting for a processor, which looking less often would not give
// back: a mean would thin the samples just when a busy machine makes them
// interesting. When the lock table grows, every look gets dearer, and within a
// dozen of them so does the quartile.
type typical struct {
	newest [16]float64
	n      int
}

func (t *typical) add(x float64) {
	t.newest[t.n%len(t.newest)] = x
	t.n++
}

func (t *typical) value() float64 {
	have := t.newest // a copy
	some := have[:min(t.n, len(have))]
	if len(some) == 0 {
		return 0
	}
	slices.Sort(some)
	return some[len(some)/4]
}

type average struct {
	v   float64
	set bool
}

func (a *average) add(x float64) {
	if !a.set {
		a.v, a.set = x, true
		return
	}
	a.v += smoothing * (x - a.v)
}

// plan says how the next look is to be taken. calm is whether a look behind a
// closed gate is at hand that may stand for others; hurry asks for a reading of
// pg_locks whatever the gate says. The answer depends on nothing that the
// gate would say, which keeps the sample honest.
func (p *pacer) plan(calm, hurry bool) (ask, force bool) {
	if !p.gated {
		return false, true
	}
	p.credit += p.forceShare()
	if !calm || hurry || p.credit >= 1 {
		p.credit = max(p.credit-1, 0)
		return true, true
	}
	return true, false
}

// forceShare is the fraction of looks that read regardless.
func (p *pacer) forceShare() float64 {
	full := p.full.value()
	if full <= 0 {
		return 1
	}
	room := gateAbove*p.budget*p.base.Seconds() - p.shut.value()
	return min(max(room/full, rarestForce), 1)
}

// connected tells of a new connection. Its first look fills the backend's
// caches and says nothing of what looks cost; and whoever has just connected
// waits for a picture, so that a few looks are taken before any is held back.
func (p *pacer) connected() { p.looks = 0 }

// observed tells the server time of a look and of what was asked after it.
func (p *pacer) observed(read bool, look, after time.Duration) {
	if p.looks = min(p.looks+1, firstLooks); p.looks == 1 {
		return
	}
	if read {
		p.full.add(look.Seconds())
		p.reads.add(1)
	} else {
		p.shut.add(look.Seconds())
		p.reads.add(0)
	}
	if after > 0 {
		p.after.add(after.Seconds())
		p.follows.add(1)
	} else {
		p.follows.add(0)
	}
	per := p.budget * p.base.Seconds()
	switch full := p.full.value(); {
	case full > gateAbove*per:
		p.gated = true
	case full < gateBelow*per:
		p.gated = false
	}
}

// each is what a look costs as they come, s.
func (p *pacer) each() float64 {
	return p.reads.v*p.full.value() + (1-p.reads.v)*p.shut.value() + p.follows.v*p.after.value()
}

// interval is the time to the next look.
func (p *pacer) interval() time.Duration {
	switch {
	case p.budget <= 0:
		return slowest
	case p.looks < firstLooks:
		return p.base
	}
	need := time.Duration(p.each() / p.budget * float64(time.Second))
	return min(max(p.base, need), max(slowest, p.base))
}

func (p *pacer) slowed() bool { return p.interval() > p.base+p.base/20 }

// due is when a slow read may run again: after its period, or later when what
// it cost would exceed its share.
func due(at time.Time, period time.Duration, cost time.Duration, budget float64) time.Time {
	if budget > 0 {
		if need := time.Duration(float64(cost) / budget); need > period {
			period = min(need, 5*time.Minute)
		}
	}
	return at.Add(period)
}

// costs are the newest measurements of a slow read. What it typically costs is
// the least of them, for the reason given at typical, and nothing after the
// first on a connection, which fills the backend's caches and does so once.
type costs struct {
	newest [3]time.Duration
	n      int
}

func (c *costs) add(d time.Duration) {
	c.newest[c.n%len(c.newest)] = d
	c.n++
}

func (c *costs) value() time.Duration {
	if c.n < 2 {
		return 0
	}
	return slices.Min(c.newest[:min(c.n, len(c.newest))])
}
