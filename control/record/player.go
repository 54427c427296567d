package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"shardpilot/control"
)

// Player reads the events of a recording in their order.
type Player struct {
	r     *Recording
	part  int
	lines *lines
	dec   *decoder
	lost  bool           // since a line that could not be read, until the next point
	read  int64          // t of the newest event that was read
	t     int64          // of the newest one that was given
	ahead *control.Event // read, but not given yet
	bad   int
	gap   time.Duration // of what could not be read, together
	hole  time.Duration // the part of it before the event that was read last, or before the end
}

// Play begins at the start.
func (r *Recording) Play() *Player { return r.from(place{at: 0}) }

func (r *Recording) from(at place) *Player {
	p := &Player{r: r, part: at.part, dec: newDecoder()}
	p.lines = newLines(r.parts[at.part].file, at.at, r.parts[at.part].size)
	return p
}

// Bad is how many stretches could not be read, of what was read so far.
func (p *Player) Bad() int { return p.bad }

// Lost is how much of the recording's time they take: from the event before each
// to the one after it, or to the end.
func (p *Player) Lost() time.Duration {
	if !p.lost {
		return p.gap
	}
	_, end := p.r.Span()
	return p.gap + max(end.Sub(moment(p.read)), 0)
}

// Gap is how much time could not be read before the event that Next gave last,
// or before the end.
func (p *Player) Gap() time.Duration { return p.hole }

// At is when the newest event was, by the clock that Seek goes by.
func (p *Player) At() time.Time { return moment(p.t) }

// Next is the next event, io.EOF after the last. Its lists must not be changed.
// What cannot be read is left out, up to the next point.
func (p *Player) Next() (control.Event, error) {
	ev := p.ahead
	if ev == nil {
		if err := p.fetch(); err != nil {
			return control.Event{}, err
		}
		ev = p.dec.take()
	}
	p.ahead, p.t = nil, p.read
	return *ev, nil
}

// fetch reads up to the end of the next event.
func (p *Player) fetch() error {
	since, bad := p.read, p.bad
	p.hole = 0
	for {
		b, _, err := p.lines.next()
		if errors.Is(err, io.EOF) && p.part+1 < len(p.r.parts) {
			p.part++
			p.dec, p.lost = newDecoder(), false
			p.lines = newLines(p.r.parts[p.part].file, 0, p.r.parts[p.part].size)
			continue
		}
		if err != nil {
			if p.lost {
				p.hole = p.Lost() - p.gap
			}
			if !errors.Is(err, io.EOF) {
				err = unreadable(p.r.parts[p.part].name, "cannot be read: "+err.Error(), "copy it from where it was made again")
			}
			return err
		}
		if p.lost && !bytes.HasPrefix(b, []byte(wordPoint)) {
			continue
		}
		p.lost = false
		done, t, err := p.dec.line(b)
		switch {
		case err != nil:
			p.lost = true
			p.bad++
			p.dec = &decoder{light: p.dec.light, whole: p.dec.whole, queues: map[int]*seen{}}
		case done && t >= p.read:
			if p.read = t; p.bad > bad && since > 0 {
				p.hole = time.Duration(t - since)
				p.gap += p.hole
			}
			return nil
		}
	}
}

// fine is how much before a moment is read tick by tick; before that charts
// have a mean a minute.
const fine = 5 * time.Minute

// pastReach is how far back charts go.
const pastReach = 24 * time.Hour

// Seek gives the event of a moment, the newest that is not after it, with the
// newest entries of the log up to there, and a player that goes on from it. When
// that event is a failure, the newest before it that has a snapshot comes first.
//
// Before that it gives what queues' numbers were: a mean a minute at first, then
// every tick of the last minutes. The readings it gives are valid during the
// call.
func (r *Recording) Seek(at time.Time, see func(*control.Reading)) (*Player, []control.Event, error) {
	t := at.UnixNano()
	points := r.index.points
	last := max(before(points, t+1)-1, 0)
	start := max(min(before(points, t-int64(fine)+1)-1, last), 0)
	r.past(points[before(points[:start+1], t-int64(pastReach)):start+1], see)

	p := r.from(points[start])
	p.dec.whole, p.dec.light = points[last].t, start < last
	var ev, shown, told *control.Event // the newest, the newest with a snapshot, and that when it was told
	var entries []control.LogEntry
	for {
		err := p.fetch()
		switch {
		case errors.Is(err, io.EOF) && ev != nil:
		case err != nil:
			return nil, nil, err
		case p.read > t && ev != nil:
			p.ahead = p.dec.take()
		case p.read < points[last].t: // whatever else it says is told again at the next point
			entries = append(entries, p.dec.entries...)
			p.dec.entries = nil
			p.dec.tell(see)
			continue
		default:
			if shown != told {
				tell(shown, see)
				told = shown
			}
			ev, p.t = p.dec.take(), p.read
			entries = append(entries, ev.Entries...)
			if ev.Entries = nil; ev.Snapshot != nil {
				shown = ev
			}
			continue
		}
		out := []control.Event{*ev}
		if shown != nil && shown != ev {
			out = []control.Event{*shown, *ev}
		}
		out[0].Entries = r.log(points[start].t, entries)
		return p, out, nil
	}
}

// tell gives the readings of an event that is not the newest.
func tell(ev *control.Event, see func(*control.Reading)) {
	for i := range ev.Snapshot.Readings {
		see(&ev.Snapshot.Readings[i])
	}
}

// past tells what queues' numbers were before each of some points.
func (r *Recording) past(points []place, see func(*control.Reading)) {
	if len(points) == 0 {
		return
	}
	book := r.spread(points[len(points)-1], nil).names() // it only grows: whose it is, it has all of them
	var s spread
	for _, at := range points {
		s = r.spread(at, s.buf)
		own := book
		if s.point.Book != book.Book {
			own = s.names()
		}
		if line := s.line(wordPast); line != nil {
			tellPast(line, own.List, moment(s.point.At), float64(s.point.T-s.point.From)/1e9, see)
		}
	}
}

// spread is a point with the lines that follow it.
type spread struct {
	part  *part
	point point
	at    int64 // offset of the next line
	buf   []byte
}

func (r *Recording) spread(at place, buf []byte) spread {
	s := spread{part: &r.parts[at.part], at: at.at, buf: buf}
	s.point, _ = pointOf(s.line(wordPoint))
	return s
}

// line is the next line if it begins so, nil otherwise.
func (s *spread) line(word string) []byte {
	s.buf = lineAt(s.part.file, s.at, s.part.size, s.buf[:cap(s.buf)])
	if !bytes.HasPrefix(s.buf, []byte(word)) {
		return nil
	}
	s.at += int64(len(s.buf)) + 1
	return s.buf
}

func (s spread) names() names {
	s.line(wordPast)
	var n struct{ Names names }
	if json.Unmarshal(s.line(wordNames), &n) != nil {
		return names{Book: -1}
	}
	return n.Names
}

// log is the newest entries before an event, followed by fresh ones.
func (r *Recording) log(t int64, fresh []control.LogEntry) []control.LogEntry {
	n := before(r.index.entries, t)
	old := r.entriesAt(r.index.entries[max(0, n-max(tail-len(fresh), 0)):n])
	if missing := tail - len(old) - len(fresh); missing > 0 {
		b := r.Before()
		old = append(b[max(0, len(b)-missing):], old...)
	}
	return append(old, fresh...)
}
