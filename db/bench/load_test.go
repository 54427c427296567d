package bench

import (
	"testing"
	"time"

	"shardpilot/control/experiment"
	"shardpilot/db/rehearsal"
)

// loadSpec is what there is to say of a shape's load.
type loadSpec struct {
	count   int
	rate    float64
	hold    time.Duration
	keys    int
	holders int
	wave    func(time.Duration) rehearsal.Level
	holder  []rehearsal.Holder
}

func shapeLoad(t *testing.T, name string, o Options, job experiment.Job) (spec loadSpec) {
	t.Helper()
	shape, err := experiment.ShapeNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	job.Shape = name
	b := &Bench{o: o}
	s, err := b.load(shape, job)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Producers) != 1 || s.Producers[0].Queue != queue || s.Seed != job.Seed {
		t.Fatalf("%s: %+v", name, s)
	}
	return loadSpec{s.Producers[0].Count, s.Producers[0].Rate, s.Producers[0].Hold, s.Producers[0].Keys.N, len(s.Holders), s.Producers[0].Wave, s.Holders}
}

// TestEveryShapeOfTheGateIsPlayedAsItIs: what producers do at moments of a run
// is what the shape says, at the run's pace.
func TestEveryShapeOfTheGateIsPlayedAsItIs(t *testing.T) {
	o := Options{Slow: 1}
	job := experiment.Job{Seed: 7, Seconds: 60, Pace: 12}
	at := func(s loadSpec, seconds float64) int {
		return s.wave(time.Duration(seconds * float64(time.Second))).Sessions
	}
	if s := shapeLoad(t, "steady", o, job); s.count != 16 || s.hold != 5*time.Millisecond || s.rate != 0 || at(s, 59) != 16 {
		t.Errorf("steady: %+v", s)
	}
	if s := shapeLoad(t, "bursty", o, job); at(s, 1) != 16 || at(s, 3) != 0 || at(s, 8) != 16 {
		t.Errorf("bursty rests 5 s of 7.5: %d %d %d", at(s, 1), at(s, 3), at(s, 8))
	}
	if s := shapeLoad(t, "ramp", o, job); s.count != 24 || at(s, 0) != 1 || at(s, 30) != 24 || at(s, 15) < 11 || at(s, 59) > 2 {
		t.Errorf("ramp: %d sessions, %d %d %d %d", s.count, at(s, 0), at(s, 15), at(s, 30), at(s, 59))
	}
	sine := shapeLoad(t, "sine", o, job)
	if low, high := sine.wave(0).Rate, sine.wave(30*time.Second).Rate; low > 25 || high < 380 || sine.rate <= 0 {
		t.Errorf("sine goes from %v to %v jobs/s", low, high)
	}
	if s := shapeLoad(t, "skewed", o, job); s.keys == 0 {
		t.Errorf("skewed has no keys")
	}
	if s := shapeLoad(t, "notify", o, job); s.count != 32 || s.hold != 0 {
		t.Errorf("notify: %+v", s)
	}
	if s := shapeLoad(t, "idle", o, job); s.rate < 2.39 || s.rate > 2.41 {
		t.Errorf("idle: %v jobs/s, a fifth at pace 12", s.rate)
	}
	s := shapeLoad(t, "stuck", o, job)
	if s.holders != 1 || s.holder[0].Hold < 4900*time.Millisecond || s.holder[0].Hold > 5100*time.Millisecond || s.holder[0].Rest > time.Second {
		t.Errorf("stuck: %+v", s.holder)
	}
	if s := shapeLoad(t, "steady", Options{Slow: 8}, job); s.hold != 40*time.Millisecond {
		t.Errorf("eight times slower holds for %v", s.hold)
	}
	if s := shapeLoad(t, "sine", Options{Slow: 8}, job); s.wave(30*time.Second).Rate > 60 {
		t.Errorf("eight times slower still comes at %v jobs/s", s.wave(30*time.Second).Rate)
	}
}
