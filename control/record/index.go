package record

import (
	"bytes"
	"encoding/json"
	"slices"

	"shardpilot/control"
)

// place is where an event can be found.
type place struct {
	part int
	at   int64 // offset of its line
	t    int64
	mark bool // of entries: people look for it
}

// index is where a recording can be read from, and its entries.
type index struct {
	points  []place
	entries []place
	last    int64 // t of the newest event
	events  int   // that were come across
}

func pointOf(b []byte) (point, bool) {
	if !bytes.HasPrefix(b, []byte(wordPoint)) {
		return point{}, false
	}
	var p struct{ Point point }
	err := json.Unmarshal(b, &p)
	return p.Point, err == nil && p.Point.T > 0
}

// read finds what a part holds: by the chain of its points, or, where that is
// broken, line by line. A last point that no event follows is none.
func (x *index) read(n int, p *part) {
	for at := lastIndex(p.file, p.size, wordPoint); at > 0; {
		points, entries, events := len(x.points), len(x.entries), x.events
		if !x.chain(n, p, at) {
			break
		}
		if x.scan(n, p, at, true); x.events > events {
			return
		}
		at = 0
		if last := len(x.points) - 2; last >= points {
			at = x.points[last].at
		}
		x.points, x.entries = x.points[:points], x.entries[:entries]
	}
	x.scan(n, p, 0, false)
}

// chain follows the points from the last to the first; false, and nothing
// learned, when it does not hold.
func (x *index) chain(n int, p *part, at int64) bool {
	var points, entries []place
	var buf []byte
	for number := 0; ; {
		buf = lineAt(p.file, at, p.size, buf[:cap(buf)])
		l, ok := pointOf(buf)
		if !ok || number > 0 && l.N != number-1 || l.Prev >= at || l.Prev < 0 || l.N < 1 {
			return false
		}
		if len(points) > 0 && l.T > points[len(points)-1].t {
			return false
		}
		points = append(points, place{part: n, at: at, t: l.T})
		for i := len(l.Log) - 1; i >= 0; i-- {
			e := l.Log[i]
			entries = append(entries, place{part: n, at: e[0], t: e[1], mark: e[2] == 1})
		}
		if number, at = l.N, l.Prev; number == 1 || at == 0 {
			break
		}
	}
	slices.Reverse(points)
	slices.Reverse(entries)
	x.points, x.entries = append(x.points, points...), append(x.entries, entries...)
	return true
}

// scan reads on from an offset and learns what is there. The point with which
// it begins may be known.
func (x *index) scan(n int, p *part, from int64, known bool) {
	l := newLines(p.file, from, p.size)
	fresh, points := len(x.entries), len(x.points)
	for first := true; ; first = false {
		b, at, err := l.next()
		if err != nil {
			x.entries, x.points = x.entries[:fresh], x.points[:points] // no event came after them
			return
		}
		switch {
		case len(b) == 0:
		case b[0] == '[':
			s := scanner{b: b, i: 1}
			if t := s.int(); !s.failed {
				x.event(t, fresh)
				fresh, points = len(x.entries), len(x.points)
			}
		case bytes.HasPrefix(b, []byte(wordFail)):
			var f struct{ Fail fail }
			if json.Unmarshal(b, &f) == nil {
				x.event(f.Fail.T, fresh)
				fresh, points = len(x.entries), len(x.points)
			}
		case bytes.HasPrefix(b, []byte(wordPoint)) && !(first && known):
			if l, ok := pointOf(b); ok {
				x.points = append(x.points, place{part: n, at: at, t: l.T})
			}
		case bytes.HasPrefix(b, []byte(wordEntry)):
			if e, err := entryOf(b); err == nil {
				x.entries = append(x.entries, place{part: n, at: at, mark: marks(&e)})
			}
		}
	}
}

// event learns that one came, which completes the entries from fresh on.
func (x *index) event(t int64, fresh int) {
	x.last = max(x.last, t)
	x.events++
	for i := fresh; i < len(x.entries); i++ {
		x.entries[i].t = t
	}
}

// before is how many of a list of places in order of time come before t.
func before(list []place, t int64) int {
	n, _ := slices.BinarySearchFunc(list, t, func(p place, t int64) int {
		if p.t < t {
			return -1
		}
		return 1
	})
	return n
}

// entriesAt reads entries of the log; those that cannot be read are left out.
func (r *Recording) entriesAt(list []place) []control.LogEntry {
	out := make([]control.LogEntry, 0, len(list))
	var buf []byte
	for _, at := range list {
		p := &r.parts[at.part]
		buf = lineAt(p.file, at.at, p.size, buf[:cap(buf)])
		if !bytes.HasPrefix(buf, []byte(wordEntry)) {
			continue
		}
		if e, err := entryOf(buf); err == nil {
			out = append(out, e)
		}
	}
	return out
}
