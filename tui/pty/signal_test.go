package pty

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
	"shardpilot/probe"
)

// hotOnly takes the quiet queues out of a shape.
func hotOnly(s *rehearsal.Spec) {
	s.Queues, s.Producers, s.Workers = s.Queues[:1], s.Producers[:1], s.Workers[:1]
}

// look starts a probe on d as main does.
func look(t *testing.T, d *pgtest.DB) *probe.Probe {
	t.Helper()
	cfg, err := db.Parse(d.URL, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := probe.Start(context.Background(), probe.Config{Connect: cfg.Connect, Now: time.Now, Where: db.Where,
		Discover: func(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
			return db.Discover(ctx, conn, false)
		}})
	t.Cleanup(p.Close)
	return p
}

func read(t *testing.T, p *probe.Probe) control.Snapshot {
	t.Helper()
	snap, err := p.Read(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func of(t *testing.T, snap control.Snapshot, queue string) control.Reading {
	t.Helper()
	for _, r := range snap.Readings {
		if r.Queue == queue {
			return r
		}
	}
	t.Fatalf("no reading of %s", queue)
	return control.Reading{}
}

// counter counts the waiters for advisory locks straight from pg_locks, many
// times a second, until stop.
type counter struct {
	stop      func()
	mu        sync.Mutex
	sum, took float64
}

func count(t *testing.T, d *pgtest.DB) *counter {
	t.Helper()
	conn := d.Connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := &counter{}
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			var n float64
			err := conn.QueryRow(context.Background(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
			if err != nil {
				t.Errorf("count the waiters: %v", err)
				return
			}
			c.mu.Lock()
			c.sum, c.took = c.sum+n, c.took+1
			c.mu.Unlock()
			<-tick.C
		}
	})
	c.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(c.stop)
	return c
}

func (c *counter) mean() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum / c.took
}

// shown is what `shardpilot show --json` says of a queue.
func shown(t *testing.T, d *pgtest.DB, queue string) control.Reading {
	t.Helper()
	r := run(t, "show", d.URL, "--queue", queue, "--json")
	var out struct {
		Queues []struct {
			Reading control.Reading `json:"reading"`
		} `json:"queues"`
	}
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || r.code != 0 || len(out.Queues) != 1 {
		t.Fatalf("show: code %d, %v\n%s", r.code, err, r.both())
	}
	return out.Queues[0].Reading
}

// Sixteen producers that keep one lane for 5 ms each: what the program says of
// them holds against a count of our own and against their own stop-watches.
func TestNumbersAgreeWithTheLockTableAndTheProducersStopWatches(t *testing.T) {
	d := pgtest.One(t)
	conn := furnish(t, d, nil)
	running := load(t, d, "steady", hotOnly)
	until(t, "the producers are at work", patience, func() bool { return running.Stats().Enqueued > 200 })

	p := look(t, d)
	until(t, "samples", patience, func() bool { return of(t, read(t, p), rehearsal.HotQueue).Waiters.OK() })
	before, direct := running.Stats(), count(t, d)
	started := time.Now()
	waited, seconds, unseen := 0.0, 0.0, 0.0
	var last control.Reading
	var said control.Reading
	for time.Since(started) < 30*time.Second {
		time.Sleep(time.Second)
		last = of(t, read(t, p), rehearsal.HotQueue)
		if waiters, ok := last.Waiters.Get(); ok {
			waited, seconds = waited+waiters*last.PeriodS, seconds+last.PeriodS
		} else { // no look in a whole second, on a busy machine
			unseen += last.PeriodS
		}
		if said.Queue == "" {
			said = shown(t, d, rehearsal.HotQueue)
		}
	}
	direct.stop()
	watches := running.Stats().Since(before)

	if share := last.Share.Or(0); share < 0.85 || last.Bottleneck != control.BottleneckLane {
		t.Errorf("share %.2f, bottleneck %s", share, last.Bottleneck)
	}
	if share := said.Share.Or(0); share < 0.85 || said.Bottleneck != control.BottleneckLane || said.Shards != 1 {
		t.Errorf("show says share %.2f, bottleneck %s, S %d", share, said.Bottleneck, said.Shards)
	}
	if unseen > seconds/4 {
		t.Fatalf("the waiters were not seen for %.1f of %.1f s", unseen, seconds+unseen)
	}
	waited, seconds = waited*(seconds+unseen)/seconds, seconds+unseen
	if mean := waited / seconds; math.Abs(mean-direct.mean()) > direct.mean()/10 {
		t.Errorf("%.2f waiters, pg_locks had %.2f", mean, direct.mean())
	}
	if math.Abs(waited-watches.LaneWaitS) > 0.15*watches.LaneWaitS {
		t.Errorf("%.1f s of waiting, the producers measured %.1f s", waited, watches.LaneWaitS)
	}
	t.Logf("%.1f s of waiting in %.1f s, the producers measured %.1f s; %.2f waiters, pg_locks had %.2f; share %.3f", waited, seconds, watches.LaneWaitS,
		waited/seconds, direct.mean(), last.Share.Or(0))

	addQueue(t, conn, rehearsal.HotQueue, 8)
	now := running.Stats().Enqueued
	until(t, "the producers are on eight lanes", patience, func() bool { return running.Stats().Enqueued > now+500 })
	eight := shown(t, d, rehearsal.HotQueue)
	if share := eight.Share.Or(1); share >= last.Share.Or(0)/2 || eight.Shards != 8 {
		t.Errorf("share %.3f on %d shards, %.3f on one", share, eight.Shards, last.Share.Or(0))
	}
	t.Logf("share %.3f on eight lanes", eight.Share.Or(1))

	stopLoad(t, running)
	calm := look(t, d)
	until(t, "a reading of the quiet queue", patience, func() bool { return of(t, read(t, calm), rehearsal.HotQueue).Share.OK() })
	time.Sleep(3 * time.Second)
	r := of(t, read(t, calm), rehearsal.HotQueue)
	if r.Waiters.Or(1) != 0 || r.Share.Or(1) != 0 || r.Bottleneck != control.BottleneckNone {
		t.Errorf("nobody works: waiters %v, share %v, bottleneck %s", r.Waiters, r.Share, r.Bottleneck)
	}
	until(t, "a look that costs little", patience, func() bool {
		time.Sleep(time.Second)
		return read(t, calm).Cost.BusyShare <= 0.02
	})
}
