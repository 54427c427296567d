package pty

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/vt"
)

var picturesTo = flag.String("pictures", "", "write the pictures and the tour of the documentation into this directory")

// tourW and tourH are the window of the pictures.
const tourW, tourH = 120, 36

// TestMakePictures is `make screenshots`: it drives the real program, and what
// the terminal shows is what is written.
func TestMakePictures(t *testing.T) {
	if *picturesTo == "" {
		t.Skip("make screenshots writes the pictures of the documentation")
	}
	if err := os.MkdirAll(*picturesTo, 0o755); err != nil {
		t.Fatal(err)
	}
	g := &gallery{dir: *picturesTo}
	t.Run("a contended queue", g.contended)
	t.Run("an incident", g.incident)
}

type gallery struct {
	dir     string
	caption string // of the pictures: how the program was started
}

var inColour = []string{"COLORTERM=truecolor"}

// shoot writes the screen as a picture when it has come to rest.
func (g *gallery) shoot(tm *terminal, name string) {
	tm.t.Helper()
	still := func() string { return tm.emu.Render() }
	for was := ""; was != still(); time.Sleep(120 * time.Millisecond) {
		was = still()
	}
	picture := svg(tm.emu.CellAt, tourW, tourH, g.caption)
	if err := os.WriteFile(filepath.Join(g.dir, name+".svg"), []byte(picture), 0o600); err != nil {
		tm.t.Fatal(err)
	}
}

func (g *gallery) demo(t *testing.T, args ...string) *terminal {
	args = append([]string{"demo", "--label", "rehearsal", "--label-color", "green", "--theme", "dark"}, args...)
	g.caption = "shardpilot " + strings.Join(args, " ")
	tm := open(t, tourW, tourH, inColour, args...)
	tm.see(`\[Overview\][^§]*orders`, 2*patience)
	return tm
}

// contended is a queue whose producers stand in line, and the step that helps.
func (g *gallery) contended(t *testing.T) {
	tm := g.demo(t, "--pace", "20")
	tm.keys("[") // over a minute
	tm.see(`pending`, 3*patience)
	time.Sleep(50 * time.Second) // until the charts are full
	tm.see(`orders.*pending`, 3*patience)
	rec := film(tm)
	g.shoot(tm, "overview")
	pause := func() { time.Sleep(1500 * time.Millisecond) }
	pause()
	tm.keys("\r")
	tm.see(`\[Queue\]`, patience)
	pause()
	g.shoot(tm, "queue")
	tm.keys("a")
	tm.see(`Approve the pending step`, patience)
	pause()
	tm.fill("reason", "the nightly import is over")
	pause()
	g.shoot(tm, "question")
	tm.press(keyTab, `\[Approve\]`)
	pause()
	tm.keys(keyEnter)
	tm.see(`applied: orders`, patience)
	pause()
	tm.keys(keyEnter)
	tm.see(`After 1→2[^§]*jobs/s [^§]*(kept|ineffective|inconclusive|harmful): jobs/s`, 5*patience)
	pause()
	g.shoot(tm, "after")
	tm.toScreen("Decisions")
	pause()
	g.shoot(tm, "decisions")
	tm.keys(keyEnter)
	tm.see(`Decisions`, patience)
	pause()
	g.shoot(tm, "entry")
	tm.toScreen("Producers")
	pause()
	g.shoot(tm, "producers")
	tm.toScreen("Help")
	pause()
	g.shoot(tm, "help")
	tm.toScreen("Overview")
	pause()
	rec.save(filepath.Join(g.dir, "tour.cast"), g.caption)
	tm.keys("q")
	tm.ended(patience)
}

// incident is one transaction that keeps the lane of a queue.
func (g *gallery) incident(t *testing.T) {
	tm := g.demo(t, "--shape", "stuck")
	tm.keys("[")
	tm.see(`behind pid`, 3*patience)
	time.Sleep(50 * time.Second)
	tm.see(`behind pid`, 3*patience)
	tm.keys("\r")
	tm.see(`\[Queue\][^§]*behind pid`, patience)
	g.shoot(tm, "incident")
	tm.keys("q")
	tm.ended(patience)
}

// recording is what a program sends to its terminal, with the times.
type recording struct {
	tm    *terminal
	begin time.Time
	parts []part
	from  int // of what was written, where the next part begins
	stop  chan struct{}
	done  chan struct{}
}

type part struct {
	at   time.Duration
	text string
}

// film begins with a whole picture.
func film(tm *terminal) *recording {
	r := &recording{tm: tm, begin: time.Now(), from: len(tm.written()), stop: make(chan struct{}), done: make(chan struct{})}
	tm.keys("\x0c")
	go r.follow()
	return r
}

func (r *recording) follow() {
	defer close(r.done)
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			all := r.tm.written()
			if len(all) > r.from {
				r.parts = append(r.parts, part{time.Since(r.begin), all[r.from:]})
				r.from = len(all)
			}
		case <-r.stop:
			return
		}
	}
}

// longest is how long nothing happens in a recording that is played.
const longest = 2500 * time.Millisecond

// save writes the recording in the format of asciinema, version 2.
func (r *recording) save(path, caption string) {
	close(r.stop)
	<-r.done
	var b strings.Builder
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			r.tm.t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	line(map[string]any{"version": 2, "width": tourW, "height": tourH, "title": caption, "env": map[string]string{"TERM": "xterm-256color"}})
	rest, last, now := "\x1b[?1049h\x1b[?25l", time.Duration(0), 0.0
	for _, p := range r.parts {
		now += min(p.at-last, longest).Seconds()
		last = p.at
		text := rest + strings.ReplaceAll(p.text, "\x1b[2J\x1b[H", "\x1b[H") // keys are taken by clearing (see taken); nobody wants to see it flicker
		whole := len(text)
		for whole > 0 && whole > len(text)-utf8.UTFMax && !utf8.ValidString(text[:whole]) {
			whole-- // a character was cut in two
		}
		rest = text[whole:]
		line([]any{float64(int(now*1000)) / 1000, "o", text[:whole]})
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		r.tm.t.Fatal(err)
	}
}

// The recorded tour can be played, and passes by the screens it is to show.
func TestTheTourCanBePlayed(t *testing.T) {
	f, err := os.Open(filepath.Join(root(t), "docs", "screens", "tour.cast"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatal("it is empty")
	}
	var head struct{ Version, Width, Height int }
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.Version != 2 {
		t.Fatalf("it begins with %s (%v)", lines.Bytes(), err)
	}
	emu := vt.NewEmulator(head.Width, head.Height)
	defer func() { _ = emu.Close() }()
	seen, before := map[string]bool{}, 0.0
	for lines.Scan() {
		var at float64
		var kind, text string
		if err := json.Unmarshal(lines.Bytes(), &[]any{&at, &kind, &text}); err != nil || kind != "o" || at < before {
			t.Fatalf("%s after %v (%v)", lines.Bytes(), before, err)
		}
		before = at
		if _, err := emu.WriteString(text); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"[Overview]", "[Queue]", "Approve the pending step", "applied: orders", "[Decisions]", "[Producers]", "[Help]"} {
			seen[s] = seen[s] || strings.Contains(emu.String(), s)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for s, was := range seen {
		if !was {
			t.Errorf("it never shows %s", s)
		}
	}
	if len(seen) == 0 || before < 10 || before > 180 {
		t.Errorf("%s: it takes %v s", fmt.Sprint(seen), before)
	}
}
