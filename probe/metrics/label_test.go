package metrics

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOrdinaryNamesAreTheirOwnLabel(t *testing.T) {
	for _, name := range []string{"orders", "awa_orders", "Aufträge für Müller", "日本", "a b\tc\nd", `c:\dir`, "__other", "other__", "x__other__"} {
		if got := queueLabel(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestNoTwoQueuesGetOneLabelAndNoneGetsThatOfTheRest(t *testing.T) {
	odd := rapid.SampledFrom([]string{"", "_", "__", Others, "_" + Others, "__" + Others, "\xff", "\xc3", `\xff`, `\\xff`, `\`, `\x`,
		"é", "\uFFFD", "~0123456789abcdef", strings.Repeat("n", 83), strings.Repeat("é", 60), "a", "\x00", "\n"})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(odd, 0, 4).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		la, lb := queueLabel(a), queueLabel(b)
		if a != b && la == lb {
			t.Fatalf("%q and %q are both %q", a, b, la)
		}
		if la == Others || la == "" || !utf8.ValidString(la) || len(la) > longestLabel {
			t.Fatalf("%q became %q", a, la)
		}
	})
}

// A name that reads like a cut one can be made; then one of the two is summed
// with the rest, and the scrape goes on.
func TestAForgedNameDoesNotBreakTheScrape(t *testing.T) {
	long := strings.Repeat("x", 500)
	forged := queueLabel(long)
	c := newClock()
	m := made(c, 10)
	m.Observe(c.tick(seen(time.Time{}, long, 3), seen(time.Time{}, forged, 2), seen(time.Time{}, "__other__", 1)))
	got := scraped(t, m)
	if n := len(got.named(laneWaiters)); n != 3 { // one of the two, the odd one, the rest
		t.Errorf("%d series: %v", n, got.named(laneWaiters))
	}
	got.want(t, `awa_enqueue_lane_waiters{queue="___other__"}`, 1)
	got.want(t, `shardpilot_queues_summed`, 1)
}

func TestLabelsThatAreNotQueuesAreValidAndShort(t *testing.T) {
	for _, s := range []string{"", "a\xffb", strings.Repeat("é", 400)} {
		if got := text(s); !utf8.ValidString(got) || len(got) > longestLabel {
			t.Errorf("%q became %q", s, got)
		}
	}
}
