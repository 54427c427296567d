package record

import (
	"time"

	"shardpilot/control"
)

func (d *decoder) tick(b []byte) (done bool, t int64, err error) {
	s := scanner{b: b}
	s.expect('[')
	var heads [headPeriod]int64
	for i := range heads {
		heads[i] = s.int()
		s.expect(',')
	}
	var common control.Reading
	common.PeriodS = s.value().Or(0)
	s.expect(',')
	common.Expected = s.value().Or(0)
	s.expect(',')
	common.Samples = max(whole(s.value()), 0)
	s.expect(',')
	common.WindowS = s.value().Or(0)
	for s.more() {
		if s.i < len(b) && b[s.i] != '[' { // a later version's addition to the head
			s.value()
			continue
		}
		read := d.row
		if d.light {
			d.buf, read = s.head(d.buf, rowPeriod+1), d.lightRow
		} else {
			d.buf = s.row(d.buf)
		}
		if s.failed || !read(d.buf) {
			return false, 0, errLine
		}
	}
	if s.failed || s.i != len(b) {
		return false, 0, errLine
	}
	d.failure = nil
	d.head = tickHead{at: moment(heads[headAt]), server: moment(heads[headServer]), skew: time.Duration(heads[headSkew]), reading: common}
	return true, heads[headT], nil
}

// lightRow takes what charts are drawn from.
func (d *decoder) lightRow(row []control.Value) bool {
	var r control.Reading
	if !chartOf(&r, row, d.names) || len(row) <= rowPeriod {
		return false
	}
	q := d.queue(whole(row[rowQueue]))
	period, own := row[rowPeriod].Get()
	r.PeriodS = period
	q.reading, q.asPeriod, q.there = r, !own, true
	return true
}

// row takes what is new of one queue.
func (d *decoder) row(row []control.Value) bool {
	var r control.Reading
	if !chartOf(&r, row, d.names) || len(row) < rowFixed {
		return false
	}
	q := d.queue(whole(row[rowQueue]))
	r.ProducerList, r.HighestShard = q.reading.ProducerList, whole(row[rowHighest])
	or := func(to *float64, at int) bool {
		v, ok := row[at].Get()
		*to = v
		return !ok
	}
	var samples float64
	q.asPeriod, q.asExpect = or(&r.PeriodS, rowPeriod), or(&r.Expected, rowExpected)
	q.asSamples, q.asWindow = or(&samples, rowSamples), or(&r.WindowS, rowWindow)
	r.Samples = max(whole(control.Some(samples)), 0)
	r.WaitSum, r.HoldSum = row[rowWaitSum].Or(0), row[rowHoldSum].Or(0)
	r.Holders, r.Inside, r.WaitPerEnqueueS = row[rowHolders], row[rowInside], row[rowWaitEach]
	r.Applied, r.Producers, r.Stale = row[rowApplied], row[rowProducers], max(whole(row[rowStale]), 0)
	if r.HighestShard < 0 || r.HighestShard > 1<<16 {
		return false
	}
	if n := whole(row[rowDrained]); n >= 0 {
		r.Drained = make([]bool, r.HighestShard)
		for i := n; i < len(r.Drained); i++ {
			r.Drained[i] = true
		}
	}
	q.offset = time.Duration(row[rowAt].Or(0))
	lanes, rest := whole(row[rowLanes]), row[rowFixed:]
	if lanes < 0 || lanes > len(rest)/laneFields {
		return false
	}
	r.Lanes = make([]control.LaneReading, lanes)
	for i := range r.Lanes {
		r.Lanes[i] = control.LaneReading{Priority: whole(rest[0]), Shard: whole(rest[1]), Waiters: rest[2], Busy: rest[3], Depth: rest[4], LagS: rest[5], Rate: rest[6]}
		rest = rest[laneFields:]
	}
	if !d.rest(&r, rest) {
		return false
	}
	q.reading, q.there = r, true
	return true
}

// rest reads the holders of a row and what drains.
func (d *decoder) rest(r *control.Reading, rest []control.Value) bool {
	if len(rest) == 0 {
		return false
	}
	n := whole(rest[0])
	if rest = rest[1:]; n < 0 || n > (len(rest)-1)/holderFields {
		return false
	}
	known := true
	name := func(v control.Value) string {
		n := whole(v)
		known = known && n >= 0 && n < len(d.names)
		return d.name(n)
	}
	all := make([]control.Holder, n)
	for i := range all {
		all[i] = control.Holder{PID: whole(rest[0]), Application: name(rest[1]), User: name(rest[2]), Client: name(rest[3]),
			State: name(rest[4]), WaitEvent: name(rest[5]), XactAgeS: rest[6], Waiters: whole(rest[7]), Class: bottleneckOf(rest[8]),
			Priority: whole(rest[9]), Shard: whole(rest[10]), Hidden: whole(rest[11]) == 1}
		rest = rest[holderFields:]
	}
	culprit := whole(rest[0])
	for i := range all {
		if i == culprit {
			r.Holder = &all[i]
		}
		for k := range r.Lanes {
			if l := &r.Lanes[k]; l.Priority == all[i].Priority && l.Shard == all[i].Shard {
				l.Holder = &all[i]
			}
		}
	}
	if rest = rest[1:]; len(rest) >= drainFields {
		r.Drain = &control.Drain{From: whole(rest[0]), State: control.DrainState(name(rest[1])), Lanes: whole(rest[2]), Jobs: rest[3], Rate: rest[4],
			WindowS: rest[5].Or(0), LeftS: rest[6]}
	}
	return known
}
