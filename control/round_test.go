package control

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// fleet is so many queues in auto mode: of a hundred, busy are crowded, ten
// have traffic and the rest is idle.
func fleet(p Policy, n, busy int, span time.Duration) ([]*Member, World, func(at time.Time)) {
	members := make([]*Member, n)
	readings := make([]Reading, n)
	for i := range members {
		q := fmt.Sprintf("queue-%05d", i)
		members[i] = &Member{Policy: QueuePolicy{Queue: q, Auto: true, Max: 8, AcceptedBy: "ann"}, Track: NewTrack(p)}
		r := Reading{Queue: q, Shards: 1 + i%2, PeriodS: 1, Samples: 4, Expected: 4, EnqueueRate: Some(0), Waiters: Some(0), Inside: Some(0), Holders: Some(0), Drained: []bool{true, true, true}}
		if i%100 < busy {
			r.WaitSum, r.HoldSum, r.Waiters, r.Inside, r.EnqueueRate = 20, 4, Some(5), Some(6), Some(100)
			r.Causes = Causes{Lane: Some(1), Notify: Some(0), Stuck: Some(0), Unknown: Some(0)}
			r.Lanes = []LaneReading{{Priority: 2, Waiters: Some(5), Busy: Some(1)}}
		} else if i%100 < busy+10 {
			r.HoldSum, r.Holders, r.Inside, r.EnqueueRate = 1, Some(0.25), Some(0.25), Some(20)
			r.Lanes = []LaneReading{{Priority: 2, Busy: Some(0.25)}}
		}
		readings[i] = r
	}
	w := World{Process: ModeShadow, Lead: Leadership{Leading: true}, Awa: Installation{State: AwaActive, MayWrite: true}}
	observe := func(at time.Time) {
		for i := range members {
			r := readings[i]
			r.At = at
			members[i].Track.Observe(p, r)
		}
	}
	for at := epoch; at.Before(epoch.Add(span)); at = at.Add(time.Second) {
		observe(at)
	}
	return members, w, observe
}

func learnAll(p Policy, members []*Member, now time.Time) {
	for _, m := range members {
		for _, e := range m.Effects.Entries {
			m.State.Learn(p, e, now)
		}
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRoundOf10000Queues is one round of decisions, signals included; it
// is meant to take less than 50 ms on one core.
func BenchmarkRoundOf10000Queues(b *testing.B) {
	for _, busy := range []int{0, 1, 10, 90} {
		b.Run(fmt.Sprintf("%d%%_crowded", busy), func(b *testing.B) {
			p := DefaultPolicy()
			members, w, observe := fleet(p, 10_000, busy, 150*time.Second)
			at := epoch.Add(150 * time.Second)
			b.ReportAllocs()
			began := cpu()
			var others time.Duration
			for b.Loop() {
				paused := cpu()
				at = at.Add(time.Second)
				b.StopTimer()
				observe(at)
				learnAll(p, members, at)
				others += cpu() - paused
				b.StartTimer()
				w.Now = at
				Round(p, w, Budget{}, members)
			}
			// What the process used, whatever else the machine is doing.
			b.ReportMetric(float64((cpu()-began-others).Milliseconds())/float64(b.N), "cpu-ms/round")
		})
	}
}

func TestWhatIsKeptDoesNotGrowWithTime(t *testing.T) {
	p := DefaultPolicy().Pace(10)
	members, w, observe := fleet(p, 50, 10, 10*time.Minute)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	at := epoch.Add(10 * time.Minute)
	run := func(n int) {
		for range n {
			at = at.Add(time.Second)
			observe(at)
			w.Now = at
			Round(p, w, Budget{}, members)
		}
	}
	run(600)
	before := heap()
	minutes := 50
	if underRace {
		minutes = 15
	}
	run(60 * minutes)
	if after := heap(); after > before+before/4+256<<10 {
		t.Errorf("%d minutes more took the heap from %d to %d bytes", minutes, before, after)
	}
	runtime.KeepAlive(members)
}

func TestIdleQueuesCostNextToNothing(t *testing.T) {
	p := DefaultPolicy()
	members, _, _ := fleet(p, 1, 0, 40*time.Minute)
	idle := *members[0].Track
	members, _, _ = fleet(p, 12, 0, time.Minute)
	if idle.fine.cells != nil && members[11].Track.fine.cells != nil {
		t.Error("an idle queue keeps rings")
	}
	if tr := members[11].Track; tr.window.fine.cells != nil || tr.fine.cells != nil {
		t.Error("a queue without a session or a job keeps rings")
	}
}

func TestOfManyWishesTheLongestQueueGoesFirst(t *testing.T) {
	p := DefaultPolicy()
	members, w, _ := fleet(p, 300, 100, 150*time.Second)
	w.Now, w.Process = epoch.Add(150*time.Second), ModeEnforced
	for i, m := range members {
		m.Policy.Enforced = true
		r := m.Track.newest
		r.At, r.Waiters, r.Shards = w.Now, Some(5+float64(i%7)), m.Track.newest.Shards
		m.Track.Observe(p, r)
	}
	Round(p, w, Budget{}, members)
	steps := 0
	for i, m := range members {
		switch {
		case m.Effects.Step != nil:
			if steps++; i%7 != 6 {
				t.Errorf("queue %d goes first, others wait longer", i)
			}
		case m.Decision.Action != ActionHold || len(m.Decision.Blockers) == 0:
			t.Fatalf("%s neither goes nor holds: %+v", m.Policy.Queue, m.Decision)
		}
	}
	if steps != 1 {
		t.Errorf("%d steps out of one round, want one", steps)
	}
}
