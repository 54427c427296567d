package tui

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardpilot/control"
)

// withNames puts one text wherever the database can put one.
func withNames(s string) func(*control.Event) {
	return func(ev *control.Event) {
		snap := ev.Snapshot
		snap.Database = control.Database{Host: s, Name: s, User: s, Version: s, Label: s}
		snap.Awa.Sentence, snap.Awa.Hint = s, s
		snap.Problems = []control.Problem{{Part: s, Detail: s, Hint: s}}
		ev.Leader, ev.Memory = s, s
		for i := range snap.Readings {
			r := &snap.Readings[i]
			if r.Holder != nil {
				h := *r.Holder
				h.Application, h.User, h.Client, h.State, h.WaitEvent = s, s, s, s, s
				r.Holder = &h
			}
			for k := range r.ProducerList {
				p := &r.ProducerList[k]
				p.ID, p.How, p.Detail = s, s, s
			}
		}
		for i := range snap.Instances {
			in := &snap.Instances[i]
			in.ID, in.Hostname, in.Version, in.Queues = s, s, s, []string{s}
		}
		for i := range ev.Decisions {
			d := &ev.Decisions[i]
			d.Detail, d.Reason = s, control.Reason(s)
			d.Blockers = []control.Blocker{{Rule: control.Reason(s), Detail: s}}
		}
		ev.Changes = append(ev.Changes, control.Change{At: snap.At, Queue: s, Actor: s, Detail: s, Outcome: control.Outcome(s)})
	}
}

// anyNumber is what a measurement can be at its worst.
func anyNumber(t *rapid.T, name string) control.Value {
	return control.Some(rapid.SampledFrom([]float64{0, 1, -1, 0.5, 1e-9, 1e9, 1e300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.NaN(), math.Inf(1), math.Inf(-1), 9.95, 99.95, 999.5, 1e15}).Draw(t, name))
}

func wildReading(t *rapid.T, name string, at time.Time) control.Reading {
	v := func(n string) control.Value { return anyNumber(t, n) }
	r := control.Reading{At: at, Queue: name, Shards: rapid.IntRange(-3, 300).Draw(t, "shards"),
		PeriodS: rapid.SampledFrom([]float64{1, 0, -5, math.NaN(), math.Inf(1), 1e9, 0.01}).Draw(t, "period"),
		Waiters: v("w"), Holders: v("h"), Share: v("s"), ShareLow: v("lo"), ShareHigh: v("hi"), Inside: v("n"),
		Bottleneck:  control.Bottleneck(rapid.SampledFrom([]string{"", "none", "lane", "notify", "stuck", "unknown", "new\x1b"}).Draw(t, "b")),
		EnqueueRate: v("rate"), WaitPerEnqueueS: v("wpe"), Depth: v("depth"), LagS: v("lag"), Applied: v("a"), Producers: v("p"), WindowS: 30,
		Causes: control.Causes{Lane: v("c1"), Notify: v("c2")}}
	for i := range rapid.IntRange(0, 40).Draw(t, "lanes") {
		r.Lanes = append(r.Lanes, control.LaneReading{Priority: i - 3, Shard: i * 7, Waiters: v("lw"), Busy: v("lb"), Depth: v("ld"), LagS: v("ll"), Rate: v("lr")})
	}
	for range rapid.IntRange(0, 5).Draw(t, "producers") {
		r.ProducerList = append(r.ProducerList, control.Producer{ID: name, Queue: name, Shards: v("ps"), SeenAgoS: v("pa"), Waiting: v("pw")})
	}
	if rapid.Bool().Draw(t, "held") {
		r.Holder = &control.Holder{XactAgeS: v("xact"), Application: name, Hidden: rapid.Bool().Draw(t, "hidden")}
	}
	return r
}

// Whatever arrives, whatever is pressed and whatever the size: w × h, no panic.
func TestEveryPaneFitsWhateverComes(t *testing.T) {
	keyNames := append(allKeys(), "a", "x", "o", "p", "m", "u", "b", "1", "tab", ":", "y", "/", "end", "ctrl+s", "[", "]", "enter", "enter", " ", "left", "right")
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rapid.SampledFrom([]Options{looks["colour"], looks["none"], looks["ascii"], {Glyphs: "block", Color: "16"}}).Draw(rt, "look"),
			append([]string{"x"}, rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.String()), 0, 12).Draw(rt, "names")...)...)
		w.m.opt.Do = func(context.Context, control.Command) (control.Result, error) { return control.Result{}, nil }
		w.edit = func(ev *control.Event) {
			for i := range ev.Snapshot.Readings {
				ev.Decisions[i].Step = rapid.SampledFrom([]*control.Pending{nil, {From: 1, To: 2, Detail: w.names[i]}, {From: -9, To: 1 << 40}}).Draw(rt, "step")
				at := ev.Snapshot.At.Add(time.Duration(rapid.SampledFrom([]int64{0, 0, 0, -1e9, 6e11, -6e11, -2e18}).Draw(rt, "jump")))
				ev.Snapshot.Readings[i] = wildReading(rt, w.names[i], at)
				ev.Decisions[i].PredictedGain = anyNumber(rt, "gain")
			}
		}
		w.play(rapid.IntRange(0, 3).Draw(rt, "seconds"))
		for range rapid.IntRange(1, 12).Draw(rt, "acts") {
			switch rapid.IntRange(0, 5).Draw(rt, "act") {
			case 0:
				w.play(1)
			case 1:
				w.fail(rapid.String().Draw(rt, "what"), time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(rt, "later")))
			case 2:
				w.m.Paste(rapid.String().Draw(rt, "pasted"))
			default:
				if e := w.keys(rapid.SampledFrom(keyNames).Draw(rt, "key")); e.Do != nil && rapid.Bool().Draw(rt, "done") {
					w.m.Done(*e.Do, control.Result{Detail: w.names[0]}, nil)
				}
			}
			width, height := rapid.IntRange(-3, 260).Draw(rt, "w"), rapid.IntRange(-3, 70).Draw(rt, "h")
			w.m.Resize(width, height)
			fits(rt, w.m.View(), max(width, 0), max(height, 0))
		}
	})
}

func allKeys() []string {
	var out []string
	for _, b := range lookBindings() {
		out = append(out, b.keys...)
	}
	return append(out, "x", "é", "f12", "")
}

// Every screen, through every size of a shrinking window and back.
func TestShrinkingToNothingAndBack(t *testing.T) {
	for stage, play := range stages {
		w := newWorld(t, looks["colour"])
		play(w)
		w.m.Resize(200, 60)
		before := w.m.View()
		for _, s := range [][2]int{{120, 40}, {80, 24}, {41, 11}, {40, 10}, {39, 10}, {40, 9}, {20, 5}, {7, 3}, {1, 1}, {1, 0}, {0, 1}, {0, 0}, {200, 60}} {
			w.m.Resize(s[0], s[1])
			fits(t, w.m.View(), s[0], s[1])
		}
		if w.m.View() != before {
			t.Errorf("%s: the picture is another after shrinking and growing", stage)
		}
	}
}

func TestTooSmallSaysWhatItNeeds(t *testing.T) {
	w := newWorld(t, looks["none"]).play(3)
	for _, c := range []struct {
		w, h int
		want string
	}{{39, 24, "window too small: needs 40x10"}, {20, 5, "needs 40x10"}, {6, 3, "40x10"}, {1, 1, "!"}} {
		w.m.Resize(c.w, c.h)
		has(t, w.m, c.want)
	}
}

func TestChartsTakeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0}))
		g := glyphSet(rapid.SampledFrom([]string{"braille", "block", "ascii"}).Draw(t, "set"))
		p := plot{w: rapid.IntRange(-5, 90).Draw(t, "w"), h: rapid.IntRange(-5, 20).Draw(t, "h"), top: f.Draw(t, "top"),
			data: rapid.SliceOf(f).Draw(t, "data"), low: rapid.SliceOf(f).Draw(t, "low"), high: rapid.SliceOf(f).Draw(t, "high"),
			area: rapid.Bool().Draw(t, "area"), label: scaleLabel}
		lines := p.draw(g)
		if len(lines) != max(p.h, 0) {
			t.Fatalf("%d lines of %d", len(lines), p.h)
		}
		for _, l := range lines {
			if p.w > axisWidth && (l.w != p.w || width(joined(l)) != p.w) {
				t.Fatalf("a line of %d columns in %d: %q", l.w, p.w, joined(l))
			}
		}
		if s := sparkline(p.data, p.top, g); width(s) != len(p.data) {
			t.Fatalf("a sparkline of %d values has %d columns", len(p.data), width(s))
		}
	})
}
