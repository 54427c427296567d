package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// played is every event of a recording.
func played(t testing.TB, p *Player) []control.Event {
	t.Helper()
	var out []control.Event
	for {
		ev, err := p.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
	}
}

// words takes away what a recording may tell up to refreshTicks late.
func words(ev control.Event) control.Event {
	ev.Decisions = append([]control.Decision(nil), ev.Decisions...)
	for i := range ev.Decisions {
		d := &ev.Decisions[i]
		d.Detail, d.Evidence, d.PredictedGain, d.Blockers = "", control.Evidence{}, control.None(), append([]control.Blocker(nil), d.Blockers...)
		for j := range d.Blockers {
			d.Blockers[j].Detail, d.Blockers[j].Until = "", time.Time{}
		}
	}
	if ev.Snapshot != nil {
		s := *ev.Snapshot
		s.Readings = append([]control.Reading(nil), s.Readings...)
		for i := range s.Readings {
			r := &s.Readings[i]
			r.ProducerList = append([]control.Producer(nil), r.ProducerList...)
			for j := range r.ProducerList {
				r.ProducerList[j].SeenAgoS, r.ProducerList[j].Waiting = control.None(), control.None()
			}
		}
		ev.Snapshot = &s
	}
	return ev
}

func same(t *testing.T, n int, got, want control.Event) {
	t.Helper()
	got, want = words(got), words(want)
	got.World, want.World = control.World{Now: got.World.Now}, control.World{Now: want.World.Now}
	if reflect.DeepEqual(got, want) {
		return
	}
	if got.Snapshot != nil && want.Snapshot != nil {
		for i := range want.Snapshot.Readings {
			if i < len(got.Snapshot.Readings) && !reflect.DeepEqual(got.Snapshot.Readings[i], want.Snapshot.Readings[i]) {
				t.Errorf("event %d, reading %d\n got %+v\nwant %+v", n, i, got.Snapshot.Readings[i], want.Snapshot.Readings[i])
			}
		}
	}
	for i := range want.Decisions {
		if i < len(got.Decisions) && !reflect.DeepEqual(got.Decisions[i], want.Decisions[i]) {
			t.Errorf("event %d, decision %d\n got %+v\nwant %+v", n, i, got.Decisions[i], want.Decisions[i])
		}
	}
	t.Fatalf("event %d\n got %+v\nwant %+v", n, got, want)
}

func TestWhatIsRecordedComesBack(t *testing.T) {
	t.Parallel()
	path, want := recorded(t, options(), newStage(6, 3), 400)
	r := opened(t, path)
	got := played(t, r.Play())
	if len(got) != len(want) {
		t.Fatalf("%d events came back of %d", len(got), len(want))
	}
	for i := range want {
		same(t, i, got[i], want[i])
	}
	if from, to := r.Span(); !from.Equal(want[0].At) || !to.Equal(want[len(want)-1].At) {
		t.Errorf("the recording spans %v to %v, want %v to %v", from, to, want[0].At, want[len(want)-1].At)
	}
	if n := len(r.Marks()); n < 15 || n > 20 {
		t.Errorf("%d marks, want one for each of the 20 changes but those of ticks that failed", n)
	}
}

// Right after a point nothing is late: figures and words are those of the tick.
func TestAtAPointEverythingIsFresh(t *testing.T) {
	t.Parallel()
	s := newStage(4, 4)
	e, d := newEncoder(), newDecoder()
	for n := range 50 {
		want := s.event()
		b := e.event(e.point(nil, &point{T: 1}), &want, want.At.UnixNano())
		done := false
		for line := range bytes.Lines(b) {
			var err error
			if done, _, err = d.line(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		if !done {
			t.Fatalf("no event came of %s", b)
		}
		got := d.take()
		got.Entries = want.Entries // lines of their own
		got.World, want.World = control.World{}, control.World{}
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("event %d\n got %+v\nwant %+v", n, *got, want)
		}
	}
}

func TestSeekingGivesTheTicksBeforeAMoment(t *testing.T) {
	t.Parallel()
	path, all := recorded(t, options(), newStage(3, 2), 1500)
	r := opened(t, path)
	for _, n := range []int{0, 1, 59, 60, 61, 300, 456, 777, 1498, 1499} {
		var means, ticks int
		var newest time.Time
		p, events, err := r.Seek(all[n].At, func(r *control.Reading) {
			if r.At.Before(newest) {
				t.Errorf("tick %d: %v came after %v", n, r.At, newest)
			}
			newest = r.At
			if r.Queue == "queue-0000" {
				if r.PeriodS > 2 {
					means++
				} else {
					ticks++
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		last, want := events[len(events)-1], all[n]
		if want.Snapshot == nil && n > 0 {
			same(t, n-1, strip(events[0]), strip(all[n-1]))
		}
		last.Entries, want.Entries = nil, nil
		same(t, n, last, want)
		if !p.At().Equal(want.At) {
			t.Errorf("seeking tick %d led to %v, want %v", n, p.At(), want.At)
		}
		if want := min(n, 300) * 9 / 10; ticks < want || ticks > n || n > 600 && means < 4 {
			t.Errorf("tick %d: %d ticks came before it, want %d at least; and %d means", n, ticks, want, means)
		}
		next, err := p.Next()
		if n+1 < len(all) {
			if err != nil {
				t.Fatal(err)
			}
			same(t, n+1, next, all[n+1])
		} else if !errors.Is(err, io.EOF) {
			t.Errorf("after the last tick: %v", err)
		}
	}
	if p, _, err := r.Seek(epoch.Add(-time.Hour), func(*control.Reading) { t.Error("something was before the start") }); err != nil || !p.At().Equal(all[0].At) {
		t.Errorf("seeking before the start failed: %v", err)
	}
}

func strip(ev control.Event) control.Event { ev.Entries = nil; return ev }

// The means that charts of hours are drawn from are those of the ticks.
func TestThePastIsTheMeanOfItsMinute(t *testing.T) {
	t.Parallel()
	path, all := recorded(t, options(), newStage(2, 2), 1500)
	r := opened(t, path)
	checked := 0
	_, _, err := r.Seek(all[1400].At, func(got *control.Reading) {
		if got.PeriodS < 2 || got.Queue != "queue-0001" {
			return
		}
		sum, n := 0.0, 0
		for _, ev := range all {
			if ev.Snapshot == nil || ev.Snapshot.At.After(got.At.Add(-time.Second/2)) || ev.Snapshot.At.Before(got.At.Add(time.Duration(-(got.PeriodS+0.5)*float64(time.Second)))) {
				continue
			}
			for _, r := range ev.Snapshot.Readings {
				if v, ok := r.EnqueueRate.Get(); ok && r.Queue == got.Queue {
					sum, n = sum+v, n+1
				}
			}
		}
		checked++
		if want := sum / float64(n); math.Abs(got.EnqueueRate.Or(0)-want) > 0.01 {
			t.Errorf("up to %v: %v jobs/s, want %v of %d ticks", got.At, got.EnqueueRate, want, n)
		}
	})
	if err != nil || checked < 10 {
		t.Errorf("%d means, %v", checked, err)
	}
}

// The entries of the log that a screen shows come with the moment.
func TestSeekingBringsTheLog(t *testing.T) {
	t.Parallel()
	path, all := recorded(t, options(), newStage(1, 1), 1200)
	r := opened(t, path)
	var got, want []int64
	for _, ev := range all[:1001] {
		for _, e := range ev.Entries {
			want = append(want, e.ID)
		}
	}
	_, events, err := r.Seek(all[1000].At, func(*control.Reading) {})
	for _, e := range events[0].Entries {
		got = append(got, e.ID)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("entries %v, want %v, %v", got, want, err)
	}
}

func TestTheLogFromBeforeARecordingIsInIt(t *testing.T) {
	t.Parallel()
	s := newStage(1, 1)
	rec := NewRecorder(options())
	for range 100 {
		if err := rec.Take(s.event()); err != nil {
			t.Fatal(err)
		}
	}
	path := t.TempDir() + "/late.rec"
	if err := rec.Start(path); err != nil {
		t.Fatal(err)
	}
	if err := rec.Take(s.event()); err != nil {
		t.Fatal(err)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	if b := opened(t, path).Before(); len(b) != 5 {
		t.Errorf("%d entries from before, want 5", len(b))
	}
}

// Every field of what is seen and decided comes back, those too that are added
// later; the ones that need not are named here.
func TestEveryFieldIsRecorded(t *testing.T) {
	t.Parallel()
	needless := []string{
		"Decision.Undo", // of dialogs, which a recording has none of
	}
	n := 0
	var want control.Event
	fillNumbers(reflect.ValueOf(&want).Elem(), "", needless, &n)
	at := epoch
	want.At, want.Err, want.Entries = at, nil, nil // of these others tell
	s := want.Snapshot
	s.At, want.World.Now = at, at
	r := &s.Readings[0]
	r.At, r.HighestShard, r.ProducerList[0].Queue = at, len(r.Drained), r.Queue
	r.Lanes[0].Holder.Priority, r.Lanes[0].Holder.Shard = r.Lanes[0].Priority, r.Lanes[0].Shard
	d := &want.Decisions[0]
	d.At, d.Queue, d.Policy.Queue = at, r.Queue, r.Queue
	e, dec := newEncoder(), newDecoder()
	for line := range bytes.Lines(e.event(e.point(nil, &point{T: 1}), &want, 5)) {
		if _, _, err := dec.line(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	got := *dec.take()
	got.World, want.World = control.World{}, control.World{}
	same(t, 0, got, want)
	if a, b := got.Decisions[0], want.Decisions[0]; !reflect.DeepEqual(a, b) {
		t.Errorf("decision\n got %+v\nwant %+v", a, b)
	}
}

// fillNumbers puts something else into every field.
func fillNumbers(v reflect.Value, path string, needless []string, n *int) {
	*n++
	if i := slices.IndexFunc(needless, func(s string) bool { return strings.HasSuffix(path, s) }); i >= 0 {
		return
	}
	switch v.Type() {
	case reflect.TypeFor[control.Value]():
		v.Set(reflect.ValueOf(control.Some(float64(*n) + 0.5)))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(epoch.Add(time.Duration(*n) * time.Second)))
		return
	case reflect.TypeFor[control.Bottleneck]():
		v.SetString(string(control.BottleneckLane))
		return
	case reflect.TypeFor[[]bool]():
		v.Set(reflect.ValueOf([]bool{false, true}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillNumbers(v.Elem(), path, needless, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillNumbers(v.Index(0), path, needless, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fillNumbers(v.Field(i), v.Type().Name()+"."+f.Name, needless, n)
			}
		}
	}
}
