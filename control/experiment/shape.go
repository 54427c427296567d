package experiment

import (
	"math"
	"strings"
	"time"

	"shardpilot/control"
)

// Shape is a load over time.
type Shape struct {
	Name string
	What string // one phrase
	// Steady: nothing about the producers changes, so a count that was right
	// once stays right; no reversal is due.
	Steady bool
	// Daily: the load moves through one cycle a day. A bench that has no day
	// goes through it once in a run.
	Daily bool
	Start int // count to begin with
	Max   int // highest count the controller may choose
	// At is the load so many seconds after the start. u, uniform in 0..1 and
	// drawn anew for each block, chooses between neighbouring levels of a load
	// that moves, so that its mean is right between them.
	At func(seconds, u float64) Load
	// Restart, when above 0, is how often in seconds the sessions that cache
	// the count (Load.Cached) read it again.
	Restart float64
	// Cached is how many sessions do.
	Cached int
}

const (
	shapeSessions = 16
	shapeHold     = 5 * time.Millisecond
	shapeMax      = 8
	daySeconds    = 86400.0
)

func steadyLoad() Load { return Load{Sessions: shapeSessions, Hold: shapeHold} }

func always(l Load) func(float64, float64) Load { return func(float64, float64) Load { return l } }

// Shapes are the eight loads of the gate, in the order in which they are
// reported.
func Shapes() []Shape {
	skewed, notify := steadyLoad(), Load{Sessions: 32}
	skewed.Keys, skewed.Zipf = 1000, 2.5
	return []Shape{
		{Name: "steady", What: "16 sessions in a closed loop, 5 ms inside the transaction", Steady: true, Start: 1, Max: shapeMax, At: always(steadyLoad())},
		{Name: "bursty", What: "the same, 30 s of work and 60 s of rest in turn", Start: 1, Max: shapeMax, At: bursts},
		{Name: "ramp", What: "1 to 24 such sessions within twelve hours and back", Daily: true, Start: 1, Max: shapeMax, At: ramp},
		{Name: "sine", What: "jobs at 20 to 420 a second over a day, 24 sessions", Daily: true, Start: 1, Max: shapeMax, At: sine},
		{Name: "skewed", What: "steady, three quarters of the jobs with one ordering key", Steady: true, Start: 1, Max: shapeMax, At: always(skewed)},
		{Name: "notify", What: "32 sessions with nothing inside, bound by the NOTIFY commit lock", Steady: true, Start: 1, Max: shapeMax, At: always(notify)},
		{Name: "idle", What: "a job every five seconds", Steady: true, Start: 1, Max: shapeMax, At: always(Load{Sessions: 1, Rate: 0.2})},
		{Name: "stuck", What: "steady, and a transaction that keeps lane 0 for 60 s of every 65", Start: 1, Max: shapeMax, At: stuck},
	}
}

// ShapeNamed finds a shape of the gate. An unknown name is a *control.Fault of
// usage.
func ShapeNamed(name string) (Shape, error) {
	var names []string
	for _, s := range Shapes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Shape{}, &control.Fault{
		Kind: control.FaultUsage, What: "there is no load shape named " + strings.ToValidUTF8(name, "?"),
		Hint: "Shapes are " + strings.Join(names, ", "),
	}
}

func bursts(t, _ float64) Load {
	if math.Mod(t, 90) < 30 {
		return steadyLoad()
	}
	return Load{Sessions: shapeSessions, Rate: 1e-3, Hold: shapeHold}
}

func stuck(t, _ float64) Load {
	l := steadyLoad()
	l.Stuck = math.Mod(t, 65) < 60
	return l
}

// rampSessions is where the ramp turns.
const rampSessions = 24

func ramp(t, _ float64) Load {
	up := math.Mod(t, daySeconds) / (daySeconds / 2)
	if up > 1 {
		up = 2 - up
	}
	l := steadyLoad()
	l.Sessions = 1 + min(int(rampSessions*up), rampSessions-1)
	return l
}

// The sine goes through rates for which tapes are played, sineStep apart.
const (
	sineLow  = 20.0
	sineHigh = 420.0
	sineStep = 1.05
)

func sine(t, u float64) Load {
	rate := (sineLow+sineHigh)/2 - (sineHigh-sineLow)/2*math.Cos(2*math.Pi*t/daySeconds)
	n := math.Log(rate/sineLow) / math.Log(sineStep)
	level := math.Floor(n)
	if u < n-level {
		level++
	}
	return Load{Sessions: 24, Hold: shapeHold, Rate: math.Round(10*sineLow*math.Pow(sineStep, level)) / 10}
}
