package probe

import (
	"time"

	"shardpilot/control"
)

// leastDrain is the shortest span of depth reads that tells how fast lanes
// drain.
const leastDrain = 6 * time.Second

// level notes what stands above the configured count after a depth read, and
// forgets what was noted before the window. A read that misses a lane ends what
// was measured: a sum without it would be of something else.
func (q *queue) level(at time.Time, window time.Duration) {
	now, above := control.Level{At: at}, 0
	for _, l := range q.lanes {
		if q.shards < control.MinShards || l.shard < q.shards {
			continue
		}
		jobs, known := l.depth.Get()
		if !known {
			q.levels = nil
			return
		}
		above++
		now.Jobs += jobs
		now.Claimed += l.cursor
	}
	if above == 0 || now.Jobs == 0 {
		q.levels = nil
		return
	}
	old := 0
	for old < len(q.levels) && at.Sub(q.levels[old].At) > window {
		old++
	}
	q.levels = append(q.levels[old:len(q.levels):len(q.levels)], now)
}
