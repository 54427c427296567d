package probe

import (
	"context"
	"slices"
	"testing"
	"time"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// BenchmarkWatchedProducers is what watching costs those who are watched: the
// rate of contending producers with a probe at work and without, in short
// turns of one run, so that what else the machine does falls on both.
//
// It reports jobs/s of both kinds of turn and the median over pairs of
// neighbouring turns of watched / alone, whose distance from 1 is the cost.
func BenchmarkWatchedProducers(b *testing.B) {
	d := pgtest.One(b)
	awa(b, d, map[string]int{rehearsal.HotQueue: 4})
	spec, err := rehearsal.Shape("steady", 16, 5*time.Millisecond)
	if err != nil {
		b.Fatal(err)
	}
	for i := range spec.Queues {
		if spec.Queues[i].Name == rehearsal.HotQueue {
			spec.Queues[i].Shards = 4
		}
	}
	load, err := rehearsal.Run(context.Background(), d.URL, spec)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = load.Stop(context.Background()) }()

	const turn = 4 * time.Second
	rate := func() float64 {
		from := load.Stats()
		time.Sleep(turn)
		did := load.Stats().Since(from)
		return float64(did.Enqueued) / did.Elapsed.Seconds()
	}
	cfg := config(d.URL)
	cfg.Pace, cfg.BaseHz, cfg.MaxCost = 1, 0, 0 // as shipped
	watched := func() float64 {
		p := Start(context.Background(), cfg)
		defer p.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range int(turn/time.Second) + 1 {
				_, _ = p.Read(context.Background())
				time.Sleep(time.Second)
			}
		}()
		r := rate()
		<-ended
		return r
	}
	rate() // the load warms up
	var alone, seen, ratios []float64
	b.ResetTimer()
	for i := range 2 * max(b.N, 6) {
		var a, w float64
		if i%2 == 0 { // the order within a pair alternates too
			a, w = rate(), watched()
		} else {
			w, a = watched(), rate()
		}
		alone, seen, ratios = append(alone, a), append(seen, w), append(ratios, w/a)
	}
	b.ReportMetric(median(alone), "jobs/s-alone")
	b.ReportMetric(median(seen), "jobs/s-watched")
	b.ReportMetric(median(ratios), "watched/alone")
	b.ReportMetric(0, "ns/op") // the length of a turn says nothing
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}
