package tui

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardpilot/control"
)

func TestNumbersReadAsTheyShould(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{countOf(0), "0"}, {countOf(0.01), "<0.1"}, {countOf(6.14), "6.1"}, {countOf(9.96), "10"}, {countOf(128.4), "128"},
		{countOf(999.6), "1.0k"}, {countOf(12400), "12.4k"}, {countOf(124000), "124k"}, {countOf(3.2e6), "3.2M"}, {countOf(-6.1), "-6.1"},
		{countOf(math.Inf(1)), "n/a"}, {countOf(math.NaN()), "n/a"}, {count(control.None()), "n/a"},
		{whole(control.Some(3)), "3"}, {whole(control.Some(1234)), "1.2k"}, {whole(control.Some(-0.2)), "0"},
		{percent(control.Some(0.756)), "76%"}, {percent(control.Some(0.001)), "<1%"}, {percent(control.Some(0)), "0%"}, {percent(control.Some(1)), "100%"},
		{seconds(control.Some(0)), "0s"}, {seconds(control.Some(-5)), "0s"}, {seconds(control.Some(0.018)), "18ms"}, {seconds(control.Some(0.0002)), "<1ms"},
		{seconds(control.Some(0.4)), "0.4s"}, {seconds(control.Some(12)), "12s"}, {seconds(control.Some(200)), "3m20"}, {seconds(control.Some(18120)), "5h02"},
		{seconds(control.Some(183600)), "2d03"}, {seconds(control.None()), "n/a"},
		{age(-time.Hour), "0s"}, {age(1900 * time.Millisecond), "1s"}, {age(2 * time.Hour), "2h00"},
		{ofTotal(control.Some(14), control.Some(16)), "14/16"}, {ofTotal(control.None(), control.Some(2)), "?/2"}, {ofTotal(control.None(), control.None()), "n/a"},
		{gain(control.Some(1.93), "x"), "x1.9"}, {gain(control.None(), "x"), "n/a"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestNumbersKeepToTheirColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyNumber(t, "v")
		if rapid.Bool().Draw(t, "any") {
			v = control.Some(rapid.Float64().Draw(t, "f"))
		}
		f, _ := v.Get()
		sign := 0
		if f < 0 {
			sign = 1
		}
		for _, c := range []struct {
			s string
			w int
		}{{count(v), 5 + sign}, {whole(v), 5 + sign}, {percent(v), 6 + sign}, {seconds(v), 6}} {
			if len(c.s) > c.w || c.s == "" {
				t.Fatalf("%v prints as %q, wider than %d", f, c.s, c.w)
			}
		}
	})
}

// The scale holds what it is made for, is round, and does not waste the chart.
func TestScalesAreRoundAndHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(0, 1e12).Draw(t, "v")
		top := niceTop(v, 1)
		if top < v*(1-1e-6) || top < 1 || top > 1 && top > 2.01*v {
			t.Fatalf("the scale of %v ends at %v", v, top)
		}
	})
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -4} {
		if got := niceTop(v, 1); got != 1 {
			t.Errorf("the scale of %v ends at %v", v, got)
		}
	}
}

// The ring against a map that remembers everything.
func TestHistoryIsWhatWasPutIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tier{step: rapid.SampledFrom([]int64{1, 5, 60}).Draw(t, "step"), slots: 20}
		type slotSum struct{ sum, n float64 }
		h, twin := newRing(tr), map[int64]slotSum{}
		at, newest := int64(1_000_000), int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			at += rapid.SampledFrom([]int64{0, 1, 1, 1, 2, 7, 100, -3, -500}).Draw(t, "go") * tr.step
			v := 0.0
			if rapid.Bool().Draw(t, "anybody") { // peak passes by a ring in which nobody waited
				v = rapid.Float64Range(0, 100).Draw(t, "v")
			}
			h.put(&control.Reading{At: time.Unix(at, 0), Waiters: control.Some(v)})
			slot := at / tr.step
			for s := range twin {
				if s > slot || s <= slot-int64(tr.slots) {
					delete(twin, s)
				}
			}
			if tr.step == 1 { // of a second the newest reading counts, of a longer slot the mean
				delete(twin, slot)
			}
			if slot != newest {
				delete(twin, slot)
			}
			newest = slot
			twin[slot] = slotSum{twin[slot].sum + v, twin[slot].n + 1}
		}
		end := at / tr.step
		wide := span{end: end, per: rapid.Int64Range(1, 9).Draw(t, "per"), wide: 1, cols: rapid.IntRange(0, 30).Draw(t, "cols")}
		highest := 0.0
		for _, f := range h.means(seriesWaiters, wide) {
			if f > highest {
				highest = f
			}
		}
		if peak := h.peak(wide); math.Abs(peak-highest) > 1e-4*math.Max(1, highest) {
			t.Fatalf("the highest column is %v, peak says %v", highest, peak)
		}
		got := h.means(seriesWaiters, span{end: end, per: 1, wide: 1, cols: 30})
		for c, f := range got {
			in, ok := twin[end-29+int64(c)]
			want := in.sum / in.n
			if ok != (f == f) || ok && math.Abs(want-f) > 1e-3*math.Max(1, want) {
				t.Fatalf("slot %d back holds %v, want %v, %v", 29-c, f, want, ok)
			}
		}
	})
}

func TestUnevenPeriodsLeaveNoFalseGap(t *testing.T) {
	h := newHistory()
	at := start
	for range 300 {
		at = at.Add(1040 * time.Millisecond)
		h.put(&control.Reading{At: at, PeriodS: 1.04, Waiters: control.Some(1)})
	}
	for i, f := range h.means(seriesWaiters, newSpan(at.Unix(), 300, 300)) {
		if f != 1 {
			t.Fatalf("column %d holds %v", i, f)
		}
	}
}

// A chart moves when a column is full, not with every reading: what was drawn
// stays where it is.
func TestColumnsStandStillUntilTheNextIsDue(t *testing.T) {
	h := newHistory()
	put := func(sec int64) {
		h.put(&control.Reading{At: time.Unix(1_000_000+sec, 0), Waiters: control.Some(float64(sec % 13))})
	}
	for sec := range int64(600) {
		put(sec)
	}
	moved := 0
	for sec := int64(600); sec < 660; sec++ {
		before := h.means(seriesWaiters, newSpan(1_000_000+sec-1, 300, 60))
		put(sec)
		after := h.means(seriesWaiters, newSpan(1_000_000+sec, 300, 60))
		for c := 1; c < 59; c++ {
			if before[c] != after[c] {
				moved++
				break
			}
		}
	}
	if moved != 12 {
		t.Errorf("the picture moved %d times in 60 s, columns are 5 s", moved)
	}
}
