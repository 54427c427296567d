package probe

import "time"

// Shares of Config.MaxCost.
const (
	lookBudget     = 0.50
	depthBudget    = 0.20
	sequenceBudget = 0.15
	otherBudget    = 0.15
)

const (
	smoothing   = 0.2              // weight of the newest cost in its average
	slowest     = 30 * time.Second // longest interval between looks
	gateAbove   = 0.50             // share of the budget at which looks start to ask the gate
	gateBelow   = 0.35             // and at which they stop
	rarestForce = 1.0 / 40         // least fraction of looks that read whatever the gate says
)

// pacer decides how often to look and whether to ask the gate first, from what
// looks cost. It is plain arithmetic: the sampler owns the timer.
type pacer struct {
	base   time.Duration // interval at the base rate
	budget float64       // share of one backend's time for looking

	full   average // s, a look that read pg_locks
	shut   average // s, a look that the gate stopped
	each   average // s, looks as they come, with what was asked after them
	gated  bool
	credit float64 // part of a forced look saved up
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
	if p.full.v <= 0 {
		return 1
	}
	room := gateAbove*p.budget*p.base.Seconds() - p.shut.v
	return min(max(room/p.full.v, rarestForce), 1)
}

// observed tells the server time of a look and of what was asked after it.
func (p *pacer) observed(read bool, look, after time.Duration) {
	if read {
		p.full.add(look.Seconds())
	} else {
		p.shut.add(look.Seconds())
	}
	p.each.add((look + after).Seconds())
	per := p.budget * p.base.Seconds()
	switch {
	case p.full.v > gateAbove*per:
		p.gated = true
	case p.full.v < gateBelow*per:
		p.gated = false
	}
}

// interval is the time to the next look.
func (p *pacer) interval() time.Duration {
	if p.budget <= 0 {
		return slowest
	}
	need := time.Duration(p.each.v / p.budget * float64(time.Second))
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
