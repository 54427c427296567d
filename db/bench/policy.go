package bench

import (
	"time"

	"shardpilot/control"
)

// Policy is what the controller of a bench goes by: the one it ships with, at a
// pace, taken to have been up for long. The warm-up after a start would only
// add its length to every run.
func Policy(pace float64) control.Policy {
	p := control.DefaultPolicy().Pace(pace)
	p.WarmUp = min(p.WarmUp, warmUp)
	return p
}

const warmUp = 500 * time.Millisecond

// Ready says whether a controller would act on the bench's queue if there were
// anything to do.
func Ready(d control.Decision) bool {
	if d.Queue != queue || d.Mode != control.ModeEnforced {
		return false
	}
	for _, b := range d.Blockers {
		switch b.Rule {
		case control.ReasonNoReading, control.ReasonStale, control.ReasonNotLeader, control.ReasonStore, control.ReasonWarmUp, control.ReasonAwaUnfit:
			return false
		}
	}
	return true
}
