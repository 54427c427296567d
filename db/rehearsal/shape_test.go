package rehearsal_test

import (
	"errors"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// TestEveryShapeEnqueuesAndWorksWithoutErrors runs each shape for a moment.
func TestEveryShapeEnqueuesAndWorksWithoutErrors(t *testing.T) {
	d := pgtest.One(t)
	install(t, d.Connect(t), rehearsal.Options{})
	for _, name := range rehearsal.Shapes() {
		t.Run(name, func(t *testing.T) {
			spec, err := rehearsal.Shape(name, 4, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, d, spec)
			want := uint64(1)
			if name == "steady" || name == "notify" {
				want = 100
			}
			until(t, "completed jobs", func() bool {
				s := r.Stats()
				return s.Completed >= want && s.Latency.Count() > 0
			})
			stop(t, r)
			s := r.Stats()
			if len(s.Errors) > 0 || s.Uncertain > 0 {
				t.Errorf("errors %v, uncertain %d", s.Errors, s.Uncertain)
			}
			if s.Latency.Quantile(0.99) < s.Latency.Quantile(0.5) {
				t.Errorf("latency of %d transactions: p50 %g, p99 %g", s.Latency.Count(), s.Latency.Quantile(0.5), s.Latency.Quantile(0.99))
			}
		})
	}
}

func TestAnUnknownShapeIsAUsageFaultThatListsTheShapes(t *testing.T) {
	_, err := rehearsal.Shape("sawtooth", 0, 0)
	var f *control.Fault
	if !errors.As(err, &f) || f.Kind != control.FaultUsage {
		t.Fatalf("got %v", err)
	}
}
