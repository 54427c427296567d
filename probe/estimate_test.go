package probe

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// line is one lane with arrivals at random and holds of random length, first
// come first served: the truth that looks are held against.
type line struct {
	rng           *rand.Rand
	gap, hold     float64 // means, s
	now           float64
	arrive, leave float64
	inside        int // holding or waiting
}

func newLine(seed uint64, load, hold float64) *line {
	l := &line{rng: rand.New(rand.NewPCG(seed, 7)), gap: hold / load, hold: hold}
	l.arrive = l.rng.ExpFloat64() * l.gap
	l.leave = math.Inf(1)
	return l
}

// to moves the line on and adds waiting and holding seconds.
func (l *line) to(at float64, wait, busy *float64) {
	for l.now < at {
		next := min(at, l.arrive, l.leave)
		if l.inside > 0 {
			*busy += next - l.now
			*wait += float64(l.inside-1) * (next - l.now)
		}
		l.now = next
		switch next {
		case l.arrive:
			l.inside++
			l.arrive = next + l.rng.ExpFloat64()*l.gap
			if l.inside == 1 {
				l.leave = next + l.rng.ExpFloat64()*l.hold
			}
		case l.leave:
			l.inside--
			l.leave = math.Inf(1)
			if l.inside > 0 {
				l.leave = next + l.rng.ExpFloat64()*l.hold
			}
		}
	}
}

// look is what the sampler would have got at this instant.
func (l *line) look(ln *lane, ask, force bool, at time.Time) look {
	out := look{sent: at, at: at, asked: ask, read: force, wait: map[*lane][]who{}, hold: map[*lane]who{}}
	out.open = ask && l.inside > 1
	out.read = force || out.open
	if out.read && l.inside > 0 {
		out.hold[ln] = who{pid: 1}
		for i := range l.inside - 1 {
			out.wait[ln] = append(out.wait[ln], who{pid: int32(i + 2)})
		}
	}
	return out
}

// Share and busy of gated looks have to agree with the truth, and not only with
// a lane that is always crowded: a lightly loaded one is where the gate is shut.
func TestShareAndBusyBehindTheGateAreUnbiased(t *testing.T) {
	for _, load := range []float64{0.1, 0.3, 0.6, 0.9} {
		for _, full := range []float64{0, 0.008, 0.031} { // what reading pg_locks costs, s
			q := &queue{}
			ln := &lane{queue: q}
			truth := newLine(uint64(load*1000), load, 0.2)
			pace := pacer{base: time.Second / 4, budget: 0.01}
			est := estimator{maxAge: time.Hour}
			jitter := rand.New(rand.NewPCG(3, 4))
			var wait, busy, w, h, seen, reads float64
			for at := 0.0; truth.now < 60_000; {
				at += 0.25 * (0.9 + 0.2*jitter.Float64())
				truth.to(at, &wait, &busy)
				stamp := epoch.Add(time.Duration(at * float64(time.Second)))
				ask, force := pace.plan(est.ready(stamp), false)
				l := truth.look(ln, ask, force, stamp)
				cost := 300 * time.Microsecond
				if l.read {
					reads++
					cost += time.Duration(full * float64(time.Second))
				}
				pace.observed(l.read, cost, 0)
				one, ok := est.sample(l)
				if !ok {
					t.Fatalf("load %v: a look that does not count", load)
				}
				seen++
				w += float64(one.w[q])
				h += float64(one.h[q])
			}
			gotBusy, wantBusy := h/seen, busy/truth.now
			gotShare, wantShare := w/(w+h), wait/(wait+busy)
			t.Logf("load %.1f, %2.0f ms: busy %.3f (true %.3f) share %.3f (true %.3f), pg_locks read in %.0f%%",
				load, full*1000, gotBusy, wantBusy, gotShare, wantShare, 100*reads/seen)
			if math.Abs(gotBusy-wantBusy) > 0.02 || math.Abs(gotShare-wantShare) > 0.03 {
				t.Errorf("load %.1f, %.0f ms: busy %.3f, true %.3f; share %.3f, true %.3f", load, full*1000, gotBusy, wantBusy, gotShare, wantShare)
			}
			if full == 0.031 && load == 0.1 && reads/seen > 0.2 {
				t.Errorf("the gate saved nothing: pg_locks read in %.0f%% of looks", 100*reads/seen)
			}
		}
	}
}

func TestALookBehindTheGateNeverBorrowsWaitersOrAnOldOrOpenLook(t *testing.T) {
	q := &queue{}
	ln := &lane{queue: q}
	est := estimator{maxAge: time.Minute}
	shut := look{sent: epoch, asked: true}
	if _, ok := est.sample(shut); ok {
		t.Error("counted without anything to stand on")
	}
	open := look{sent: epoch, asked: true, open: true, read: true,
		hold: map[*lane]who{ln: {pid: 1}}, wait: map[*lane][]who{ln: {{pid: 2}}}}
	if one, ok := est.sample(open); !ok || one.w[q] != 1 || one.h[q] != 1 {
		t.Errorf("open look: %+v", one)
	}
	if _, ok := est.sample(shut); ok {
		t.Error("an open look stood for a closed one")
	}
	calm := look{sent: epoch, asked: true, read: true,
		hold: map[*lane]who{ln: {pid: 1}}, wait: map[*lane][]who{ln: {{pid: 2}}}} // came between gate and locks
	if one, ok := est.sample(calm); !ok || one.w[q] != 1 {
		t.Errorf("calm look: %+v", one)
	}
	if one, ok := est.sample(shut); !ok || one.w[q] != 0 || one.h[q] != 1 || !one.busy[ln] {
		t.Errorf("closed look: %+v %v", one, ok)
	}
	shut.sent = epoch.Add(2 * time.Minute)
	if _, ok := est.sample(shut); ok {
		t.Error("an old look stood for a new one")
	}
	torn := look{read: true, torn: true}
	if _, ok := est.sample(torn); ok {
		t.Error("a torn look counted")
	}
}

func TestSessionsThatHoldSeveralLanesCountOnceInHAndPerLaneInBusy(t *testing.T) {
	q, other := &queue{}, &queue{}
	a, b, c := &lane{queue: q}, &lane{queue: q}, &lane{queue: other}
	one := count(look{read: true,
		hold: map[*lane]who{a: {pid: 1}, b: {pid: 1}, c: {pid: 1}},
		wait: map[*lane][]who{a: {{pid: 2}, {pid: 3}}, b: {{pid: 4}}}})
	if one.h[q] != 1 || one.h[other] != 1 || one.w[q] != 3 || one.w[other] != 0 || len(one.busy) != 3 || one.wait[a] != 2 {
		t.Errorf("%+v", one)
	}
	// Two prepared transactions have no pid; they are two all the same.
	one = count(look{read: true, hold: map[*lane]who{a: {txn: "-1/7"}, b: {txn: "-1/8"}}})
	if one.h[q] != 2 {
		t.Errorf("prepared transactions: %+v", one.h)
	}
}

func TestTheSamplerStaysWithinItsBudgetAndComesBack(t *testing.T) {
	p := pacer{base: time.Second / 4, budget: 0.01}
	run := func(full, gate, open float64, looks int) (share, reads float64) {
		rng := rand.New(rand.NewPCG(5, 6))
		var busy, span float64
		for range looks {
			ask, force := p.plan(true, false)
			read := force || rng.Float64() < open
			cost := 0.0
			if ask {
				cost += gate
			}
			if read {
				cost += full
				reads++
			}
			p.observed(read, time.Duration(cost*float64(time.Second)), 0)
			busy += cost
			span += p.interval().Seconds()
		}
		return busy / span, reads / float64(looks)
	}
	if share, reads := run(0.0003, 0.0004, 0.5, 1000); p.interval() != p.base || reads != 1 || p.slowed() {
		t.Errorf("cheap: share %v reads %v every %v", share, reads, p.interval())
	}
	if share, _ := run(0.031, 0.0004, 1, 1000); share > 0.0115 || !p.slowed() {
		t.Errorf("34,000 locks and always a waiter: share %v every %v", share, p.interval())
	}
	if share, reads := run(0.031, 0.0004, 0, 4000); share > 0.0115 || reads > 0.2 {
		t.Errorf("34,000 locks and nobody waits: share %v reads %v every %v", share, reads, p.interval())
	}
	if run(0.0003, 0.0004, 0, 1000); p.gated || p.interval() != p.base {
		t.Errorf("cheap again: gated %v every %v", p.gated, p.interval())
	}
	if p := (pacer{base: time.Second}); p.interval() != slowest {
		t.Errorf("no budget at all: every %v", p.interval())
	}
}

// The first look of a connection is dear because the backend is new, on a busy
// machine by a factor of fifty. An operator who connects must not wait for a
// picture because of that, and a lock table that is large is noticed all the same.
func TestFirstLooksOfAConnectionAreNotHeldBack(t *testing.T) {
	p := pacer{base: time.Second / 4, budget: 0.01}
	for range 3 {
		p.connected()
		for n := range 20 {
			cost := 600 * time.Microsecond
			if n == 0 {
				cost = 50 * time.Millisecond
			}
			p.observed(true, cost, 0)
			if p.interval() != p.base {
				t.Fatalf("look %d: every %v", n, p.interval())
			}
		}
	}
	p.connected()
	for range firstLooks + 12 {
		p.observed(true, 50*time.Millisecond, 0)
	}
	if !p.slowed() {
		t.Errorf("a large lock table: every %v", p.interval())
	}
}

// A busy machine makes looks wait for a processor. That is no reason to look
// less; a lock table that grows is, and is noticed within a few seconds.
func TestWaitingForAProcessorDoesNotThinTheSamples(t *testing.T) {
	p := pacer{base: time.Second / 4, budget: 0.01}
	rng := rand.New(rand.NewPCG(8, 9))
	noisy := func(cost float64) time.Duration {
		if rng.IntN(2) == 0 {
			cost *= 1 + 20*rng.Float64()
		}
		return time.Duration(cost * float64(time.Second))
	}
	thinned := 0
	for range 2000 {
		p.observed(true, noisy(0.0006), noisy(0.0004))
		if p.slowed() {
			thinned++
		}
	}
	if thinned > 100 {
		t.Errorf("%d of 2000 looks thinned", thinned)
	}
	for range 16 {
		p.observed(true, noisy(0.03), noisy(0.0004))
	}
	if !p.slowed() || !p.gated {
		t.Errorf("a lock table that grew fifty-fold: every %v, gated %v", p.interval(), p.gated)
	}
}

func TestTheFirstSlowReadOfAConnectionIsNotItsTypicalCost(t *testing.T) {
	var c costs
	for i, step := range []struct{ cost, want time.Duration }{
		{300, 0}, {7, 7}, {90, 7}, {80, 7}, {85, 80}, {90, 80},
	} {
		if c.add(step.cost); c.value() != step.want {
			t.Errorf("after %d: %d, want %d", i+1, c.value(), step.want)
		}
	}
}

func TestSlowReadsWaitForWhatTheyCost(t *testing.T) {
	for _, c := range []struct {
		cost time.Duration
		want time.Duration
	}{
		{time.Millisecond, 2 * time.Second},
		{8 * time.Millisecond, 2 * time.Second},
		{94 * time.Millisecond, 23500 * time.Millisecond},
		{time.Hour, 5 * time.Minute},
	} {
		if got := due(epoch, 2*time.Second, c.cost, 0.004).Sub(epoch); got != c.want {
			t.Errorf("cost %v: next after %v, want %v", c.cost, got, c.want)
		}
	}
}
