package record

import (
	"time"

	"shardpilot/control"
)

// past sums up what a queue's numbers were since the last point.
type past struct {
	sum    [chartValues]float64
	n      [chartValues]int
	shards int
	cause  int64 // the gravest
}

// chartValues are the measured ones among a row's fields that charts are drawn
// from.
const chartValues = 11

func chartFields(r *control.Reading) [chartValues]*control.Value {
	return [...]*control.Value{&r.Waiters, &r.Share, &r.ShareLow, &r.ShareHigh, &r.EnqueueRate, &r.Depth, &r.LagS,
		&r.Causes.Lane, &r.Causes.Notify, &r.Causes.Stuck, &r.Causes.Unknown}
}

func (p *past) add(r *control.Reading) {
	for i, v := range chartFields(r) {
		if f, ok := v.Get(); ok {
			p.sum[i], p.n[i] = p.sum[i]+f, p.n[i]+1
		}
	}
	p.shards, p.cause = r.Shards, max(p.cause, bottleneckNumber(r.Bottleneck))
}

// row appends the means as a row.
func (p *past) row(b []byte, number int) []byte {
	r := control.Reading{Shards: p.shards, Bottleneck: bottlenecks[p.cause]}
	for i, v := range chartFields(&r) {
		if p.n[i] > 0 {
			*v = round(control.Some(p.sum[i] / float64(p.n[i])))
		}
	}
	return closeArray(appendChart(append(b, '['), &r, number))
}

// tellPast gives the past of a point, as readings that took so many seconds.
// What cannot be read of it is left out.
func tellPast(line []byte, names []string, at time.Time, seconds float64, see func(*control.Reading)) {
	s := scanner{b: line, i: len(wordPast)}
	buf := make([]control.Value, 0, rowPeriod)
	r := new(control.Reading)
	for s.expect('['); !s.failed; {
		if s.i < len(line) && line[s.i] == ']' {
			return // nobody was there
		}
		buf = s.row(buf)
		if ok := chartOf(r, buf, names); s.failed || !ok {
			return
		}
		r.At, r.PeriodS = at, seconds
		see(r)
		if !s.more() {
			return
		}
	}
}

// chartOf reads the part of a row that charts are drawn from.
func chartOf(r *control.Reading, row []control.Value, names []string) bool {
	if len(row) < rowPeriod {
		return false
	}
	number := whole(row[rowQueue])
	if number < 0 || number >= len(names) {
		return false
	}
	r.Queue, r.Shards = names[number], whole(row[rowShards])
	r.Waiters, r.Share, r.ShareLow, r.ShareHigh = row[rowWaiters], row[rowShare], row[rowLow], row[rowHigh]
	r.EnqueueRate, r.Depth, r.LagS = row[rowRate], row[rowDepth], row[rowLag]
	r.Bottleneck = bottleneckOf(row[rowBottleneck])
	r.Causes = control.Causes{Lane: row[rowLane], Notify: row[rowNotify], Stuck: row[rowStuck], Unknown: row[rowUnknown]}
	return true
}

// whole is a value that should be a count, -1 when it is none.
func whole(v control.Value) int {
	f, ok := v.Get()
	if !ok || f != float64(int32(f)) {
		return -1
	}
	return int(f)
}

func bottleneckOf(v control.Value) control.Bottleneck {
	if n := whole(v); n >= 0 && n < len(bottlenecks) {
		return bottlenecks[n]
	}
	return ""
}
