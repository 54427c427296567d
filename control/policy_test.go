package control

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDefaultPolicyIsValidAtEveryUsefulPace(t *testing.T) {
	for _, pace := range []float64{0, 1, 2, 10, 12, 48} {
		if err := DefaultPolicy().Pace(pace).Validate(); err != nil {
			t.Errorf("pace %v: %v", pace, err)
		}
	}
	if err := DefaultPolicy().Pace(1000).Validate(); err == nil {
		t.Error("at a pace of 1000 the window holds no ten batches, and nothing is said")
	}
}

func TestPaceDividesEveryDurationButTheClockStep(t *testing.T) {
	p, q := reflect.ValueOf(DefaultPolicy()), reflect.ValueOf(DefaultPolicy().Pace(4))
	for i := range p.NumField() {
		name := p.Type().Field(i).Name
		before, isDuration := p.Field(i).Interface().(time.Duration)
		if !isDuration {
			if !p.Field(i).Equal(q.Field(i)) {
				t.Errorf("%s is no duration and went from %v to %v", name, p.Field(i), q.Field(i))
			}
			continue
		}
		want := before / 4
		if name == "ClockStep" {
			want = before
		}
		if got := q.Field(i).Interface().(time.Duration); got != want {
			t.Errorf("%s went from %v to %v, want %v", name, before, got, want)
		}
	}
	for _, odd := range []float64{-3, 0, 0.5, math.NaN()} {
		if DefaultPolicy().Pace(odd) != DefaultPolicy() {
			t.Errorf("a pace of %v changed something", odd)
		}
	}
}

func TestValidateNamesEveryBadFieldWithItsRange(t *testing.T) {
	for i := range reflect.TypeFor[Policy]().NumField() {
		p := DefaultPolicy()
		f := reflect.ValueOf(&p).Elem().Field(i)
		name := reflect.TypeFor[Policy]().Field(i).Name
		switch f.Interface().(type) {
		case time.Duration:
			f.SetInt(-1)
		case float64:
			f.SetFloat(math.NaN())
		case int:
			f.SetInt(-1)
		}
		err := p.Validate()
		var bad BadFields
		if !errors.As(err, &bad) || ExitCode(err) != int(FaultUsage) {
			t.Errorf("%s out of range: %v, want a usage fault around BadFields", name, err)
			continue
		}
		found := false
		for _, line := range bad {
			found = found || strings.HasPrefix(line, name+" is ") && strings.Contains(line, "must be")
		}
		if !found {
			t.Errorf("%s out of range: %v names other fields only", name, bad)
		}
	}
}

func TestQueuePolicyIsManualUntilEverythingIsSaid(t *testing.T) {
	if m := (QueuePolicy{Enforced: true}).Mode(ModeEnforced); m != ModeManual {
		t.Errorf("not auto: %s, want manual", m)
	}
	q := QueuePolicy{Queue: "q", Auto: true, Enforced: true, Max: 4, AcceptedBy: "ann"}
	for process, want := range map[Mode]Mode{ModeEnforced: ModeEnforced, ModeShadow: ModeShadow, "": ModeShadow} {
		if m := q.Mode(process); m != want {
			t.Errorf("enforced queue in a process that runs %q: %s, want %s", process, m, want)
		}
	}
	q.Enforced = false
	if m := q.Mode(ModeEnforced); m != ModeShadow {
		t.Errorf("shadow queue: %s", m)
	}
}

func TestQueuePolicyNamesWhatIsWrong(t *testing.T) {
	good := QueuePolicy{Queue: "q", Auto: true, Max: 4, AcceptedBy: "ann"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*QueuePolicy){
		"no name":                func(q *QueuePolicy) { q.Queue = "" },
		"max is 1":               func(q *QueuePolicy) { q.Max = 1 },
		"max is 65":              func(q *QueuePolicy) { q.Max = 65 },
		"accept partitioned":     func(q *QueuePolicy) { q.AcceptedBy = "" },
		"enforced needs auto":    func(q *QueuePolicy) { q.Auto, q.Enforced = false, true },
		"pin is 0, must be 1 to": func(q *QueuePolicy) { q.Pin = &Pin{} },
	} {
		q := good
		spoil(&q)
		if err := q.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAPinHoldsUntilItsTime(t *testing.T) {
	var none *Pin
	forever, until := &Pin{Shards: 2}, &Pin{Shards: 2, Until: epoch.Add(time.Minute)}
	if none.Holds(epoch) || !forever.Holds(epoch.Add(1e6*time.Hour)) || !until.Holds(epoch) || until.Holds(epoch.Add(time.Minute)) {
		t.Error("a pin ends exactly at its time, and without one not at all")
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	seen := map[string]Reason{}
	for r, words := range reasonWords {
		if words == "" || r == "" || r.Words() != words || !r.Known() {
			t.Errorf("%q has no words", r)
		}
		if other, twice := seen[words]; twice {
			t.Errorf("%q and %q say the same: %s", r, other, words)
		}
		seen[words] = r
	}
	if later := Reason("from_a_newer_version"); later.Known() || later.Words() != "from_a_newer_version" {
		t.Error("an unknown reason must stand for itself")
	}
}
