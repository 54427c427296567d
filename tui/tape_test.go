package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"shardpilot/control"
)

// film is a recording of a made-up world, a tick a second.
type film struct {
	events []control.Event
	at     int // of the next
	marks  []time.Time
	hole   [2]int // the first event that cannot be read, and the next that can; equal for none
	gap    time.Duration
}

func newFilm(t *testing.T, seconds int) *film {
	t.Helper()
	w := newWorld(t, Options{})
	f := &film{}
	for range seconds {
		w.sec++
		w.now = w.now.Add(time.Second)
		ev := w.event()
		if w.sec == 1 || w.sec == 200 { // the log comes with the events
			ev.Entries = []control.LogEntry{{ID: int64(w.sec), At: ev.Snapshot.At, Kind: control.LogChange, Queue: w.names[0], From: 2, To: 4,
				Actor: "erika@bastion", Outcome: control.OutcomeApplied, Detail: "approved by hand"}}
		}
		if w.sec == 200 {
			f.marks = append(f.marks, ev.At)
		}
		if w.sec == 450 {
			f.marks = append(f.marks, ev.At)
			ev = control.Event{At: ev.At, Err: &control.Failure{What: "the connection failed", Hint: "is it there?"}}
		}
		f.events = append(f.events, ev)
	}
	return f
}

func (f *film) Span() (from, to time.Time) { return f.events[0].At, f.events[len(f.events)-1].At }
func (f *film) Marks() []time.Time         { return f.marks }
func (f *film) Note() string               { return "" }
func (f *film) Gap() time.Duration         { return f.gap }

func (f *film) Next() (control.Event, time.Time, error) {
	f.gap = 0
	if f.at >= len(f.events) {
		return control.Event{}, time.Time{}, io.EOF
	}
	if f.at == f.hole[0] && f.hole[0] < f.hole[1] {
		f.gap = f.events[f.hole[1]].At.Sub(f.events[f.hole[0]-1].At)
		f.at = f.hole[1]
	}
	f.at++
	return f.events[f.at-1], f.events[f.at-1].At, nil
}

func (f *film) Seek(at time.Time, see func(*control.Reading)) ([]control.Event, time.Time, error) {
	n := slices.IndexFunc(f.events, func(ev control.Event) bool { return ev.At.After(at) })
	if n < 0 {
		n = len(f.events)
	}
	n, f.gap = max(n, 1), 0
	if n > f.hole[0] && n <= f.hole[1] && f.hole[0] < f.hole[1] {
		n = f.hole[0]
	}
	for i := 0; i < n-1; i++ {
		if s := f.events[i].Snapshot; s != nil {
			for k := range s.Readings {
				see(&s.Readings[k])
			}
		}
	}
	f.at = n
	out := []control.Event{f.events[n-1]}
	if out[0].Snapshot == nil {
		out = []control.Event{f.events[n-2], out[0]}
	}
	out[0].Entries = nil
	for _, ev := range f.events[:n] {
		out[0].Entries = append(out[0].Entries, ev.Entries...)
	}
	return out, f.events[n-1].At, nil
}

// theatre is a model with a deck, played by hand: keys go to the model, what the
// deck sends comes back.
type theatre struct {
	t    *testing.T
	m    *Model
	d    *deck
	wall time.Time
}

func newTheatre(t *testing.T, f *film) *theatre {
	th := &theatre{t: t, wall: start.Add(1000 * time.Hour)}
	th.m = New(Options{Tape: f, Now: func() time.Time { return th.wall }, Getenv: calm("LC_ALL=C.UTF-8", "TERM=xterm-256color"), Color: "none",
		Do: func(context.Context, control.Command) (control.Result, error) {
			t.Error("something was done")
			return control.Result{}, nil
		}})
	th.m.Resize(140, 45)
	th.d = newDeck(f, th.m.g)
	th.d.send = func(m tea.Msg) { th.m.played(m.(tapeMsg)) }
	from, _ := f.Span()
	th.d.seek(from)
	return th
}

func (th *theatre) keys(keys ...string) *theatre {
	th.t.Helper()
	for _, k := range keys {
		if e := th.m.Key(k); e.tape != nil {
			th.d.take(*e.tape)
		}
	}
	return th
}

func (th *theatre) shows(want string) {
	th.t.Helper()
	if !strings.Contains(th.m.View(), want) {
		th.t.Errorf("the screen does not show %q:\n%s", want, th.m.View())
	}
}

func TestAReplayGoesWhereItIsTold(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 900))
	th.shows("REPLAY 2026-03-14 09:26:54")
	th.shows("playing ×1")
	for _, step := range []struct{ keys, shows string }{
		{"l", "09:26:55"}, {"l", "09:26:56"}, {"h", "09:26:55"}, {"L", "09:27:55"}, {"H", "09:26:55"}, {">", "09:36:55"}, {"<", "09:26:55"},
		{"n", "09:30:13"}, {"n", "09:34:22"}, {"N", "09:30:13"}, {"N", "nothing happened before"}, {"$", "09:41:53"}, {"end", "at the end"}, {"0", "09:26:54"},
		{">", "09:36:54"}, {">", "09:41:53"}, {"H", "09:40:53"}, {"<", "09:30:53"}, {"<", "09:26:54"},
	} {
		th.keys(step.keys)
		th.shows(step.shows)
	}
	th.keys("l")
	th.shows("paused")
	th.keys(" ")
	th.shows("playing ×1")
	th.keys("+", "+", "+", "+", "+", "+", "+")
	th.shows("playing ×64")
	th.keys("-")
	th.shows("playing ×32")
	if th.d.gap() != time.Second/32 {
		t.Errorf("at 32 times a second takes %v", th.d.gap())
	}
	th.keys("$", " ")
	th.shows("this is the end of the recording")
}

// A jump shows what playing up to there would have shown.
func TestAJumpShowsWhatPlayingWould(t *testing.T) {
	t.Parallel()
	jumped := newTheatre(t, newFilm(t, 500)).keys("L", "L", "L", "L", "L", "h")
	played := newTheatre(t, newFilm(t, 500))
	for played.m.tape.at.Before(jumped.m.tape.at) {
		played.d.forth()
	}
	played.m.Advance() // not every tick is drawn
	for _, keys := range [][]string{{}, {"enter"}, {"]"}, {"esc", "tab", "tab"}} {
		for _, k := range keys {
			jumped.m.Key(k)
			played.m.Key(k)
		}
		strip := func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "playing ×1", ""), "paused", "")
		}
		a, b := strings.Fields(strip(jumped.m.View())), strings.Fields(strip(played.m.View()))
		if !slices.Equal(a, b) {
			t.Errorf("after %v\n%s\nplayed\n%s", keys, jumped.m.View(), played.m.View())
		}
	}
}

func TestAReplayOfAFailureShowsItOnWhatWasSeenLast(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 500)).keys("n", "n")
	th.shows("the connection failed")
	th.shows("orders")
	th.keys("l")
	if strings.Contains(th.m.View(), "the connection failed") {
		t.Error("the failure is over, and still shown")
	}
}

// Nothing can be done from a recording, whatever key is pressed.
func TestNothingCanBeDoneFromARecording(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 30))
	seen := map[string]bool{}
	for _, b := range th.m.bindings() {
		if b.group == actionGroup {
			t.Errorf("%v is offered", b.keys)
		}
		for _, k := range b.keys {
			if b.on == nil && seen[k] {
				t.Errorf("%s is bound twice", k)
			}
			seen[k] = seen[k] || b.on == nil
		}
	}
	for _, screen := range []string{"", "enter", "tab", "tab", "tab"} {
		for c := rune('!'); c <= '~'; c++ {
			if e := th.m.Key(string(c)); e.Do != nil {
				t.Errorf("%q on %q does %+v", c, screen, e.Do)
			}
			if th.m.dialog != nil {
				t.Fatalf("%q asks something", c)
			}
			th.m.Key("esc")
			th.m.menu = nil
		}
		th.m.Key(screen)
	}
}

// A recording is drawn within its cells at any size.
func TestAReplayIsDrawnAtAnySize(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 300)).keys("$")
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {40, 10}, {20, 5}, {1, 1}, {0, 0}} {
		th.m.Resize(size[0], size[1])
		if err := measured(th.m.View(), size[0], size[1]); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func measured(view string, w, h int) error {
	lines := strings.Split(view, "\n")
	if w == 0 || h == 0 {
		return nil
	}
	if len(lines) != h {
		return fmt.Errorf("%d lines", len(lines))
	}
	for i, l := range lines {
		if n := width(l); n != w {
			return fmt.Errorf("line %d has %d columns", i, n)
		}
	}
	return nil
}

// The deck plays by itself, at the pace it was recorded at times the speed, and
// stops at the end.
func TestTheDeckPlaysToTheEnd(t *testing.T) {
	t.Parallel()
	f := newFilm(t, 20)
	d := newDeck(f, New(Options{Now: time.Now}).g)
	d.speed = 64
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var at []time.Time
	var wg sync.WaitGroup
	wg.Go(func() {
		d.run(ctx, func(m tea.Msg) {
			at = append(at, m.(tapeMsg).at)
			if m.(tapeMsg).over {
				cancel()
			}
		})
	})
	wg.Wait()
	if len(at) != 20 || !at[19].Equal(f.events[19].At) {
		t.Errorf("%d events were shown, the last at %v", len(at), at)
	}
}

// Keys that act are answered, and so is a speed that does not show yet.
func TestARecordingSaysWhatItsKeysDoNotDo(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 60))
	for _, k := range actionKeys {
		th.keys(k)
		th.shows("nothing can be done from it")
	}
	th.keys("l", "+", "+")
	th.shows("×4 when it plays")
}

// Where a recording is damaged keys go on: past what cannot be read, which is said.
func TestADamagedPartIsPassedOver(t *testing.T) {
	t.Parallel()
	f := newFilm(t, 900)
	f.hole = [2]int{150, 300} // the first change is in it
	th := newTheatre(t, f)
	before, after := f.events[149].At.Format("15:04:05"), f.events[300].At.Format("15:04:05")
	th.keys("n")
	th.shows(before)
	th.shows("from here on 2m31 of the recording cannot be read")
	th.keys("n")
	th.shows(after)
	th.shows("before this 2m31 of the recording cannot be read")
	th.shows("damaged")
	th.keys("n")
	th.shows(f.marks[1].Format("15:04:05"))
	th.keys("0", "L", "L", "L") // minutes, the third of them into it
	th.shows(before)
	th.keys("L")
	th.shows(after)
	th.keys("0", ">")
	th.shows(f.events[600].At.Format("15:04:05"))
	th.keys("<", "L", "L", "H")
	th.shows(f.events[60].At.Format("15:04:05"))
}

// A key that is held while the tape is being sought loses nothing but the steps
// in between: the last speed, the last jump, and whether it plays.
func TestKeysThatCannotBeTakenYetAreTakenTogether(t *testing.T) {
	t.Parallel()
	th := newTheatre(t, newFilm(t, 900))
	for range 40 { // nobody takes them
		for _, k := range []string{" ", "L", "+", "H", ">"} {
			if e := th.m.Key(k); e.tape != nil {
				th.d.ask(*e.tape)
			}
		}
	}
	th.d.take(<-th.d.moves)
	if len(th.d.moves) > 0 {
		t.Errorf("%d moves are left", len(th.d.moves))
	}
	if th.d.speed != th.m.tape.speed || th.d.speed != fastest || th.d.on != th.m.tape.on {
		t.Errorf("the deck goes at %d, on %v; the screen says %d, on %v", th.d.speed, th.d.on, th.m.tape.speed, th.m.tape.on)
	}
	th.shows("09:41:53")
}
