package tui

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"

	"shardpilot/control"
)

// nasty are names as they have been met in the field.
var nasty = []string{"キュー", "fam👨\u200d👩\u200d👧\u200d👦ily", "cafe\u0301", strings.Repeat("long", 50),
	"esc\x1b[31mred\x1b]0;title\a", "new\nline", "tab\there", "rtl\u202eevil", "\xff\xfe bad", "", "🇩🇪 flag", "a\u200bb", "csi\u009b31m", "nul\x00"}

func TestControlCharactersAreShownNotObeyed(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb":    "a␛[31mb",
		"a\nb\tc\x00":   "a␊b␉c␀",
		"a\x7fb":        "a␡b",
		"a\u009b31mb":   `a\x9b31mb`,
		"a\u202eb":      `a\u202eb`,
		"a\u2066b":      `a\u2066b`,
		"a\u200bb":      `a\u200bb`,
		"a\u2028b":      `a\u2028b`,
		"a\U000e0041b":  `a\U000e0041b`,
		"a\xffb":        `a\xffb`,
		"キュー":           "キュー",
		"cafe\u0301":    "cafe\u0301",
		"plain ascii-1": "plain ascii-1",
	} {
		if got := safe(in, false); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
	}
	if got := safe("a\x1bbキ", true); got != `a^[b\u30ad` {
		t.Errorf("in ASCII: %q", got)
	}
}

func TestSafeTextHasNothingToObey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.SampledFrom(nasty), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		for _, ascii := range []bool{false, true} {
			out := safe(in, ascii)
			if !utf8.ValidString(out) {
				t.Fatalf("%q is not UTF-8", out)
			}
			for _, r := range out {
				if r < 0x20 || r >= 0x7f && r < 0xa0 || invisible(r) || ascii && r > 0x7e {
					t.Fatalf("safe(%q) still has %U", in, r)
				}
			}
			if ansi.Strip(out) != out {
				t.Fatalf("safe(%q) has an escape sequence: %q", in, out)
			}
			if width("x"+out+"x") != width(out)+2 {
				t.Fatalf("safe(%q) = %q joins with its neighbours", in, out)
			}
			if safe(out, ascii) != out {
				t.Fatalf("safe is not done after once: %q", out)
			}
		}
	})
}

func TestCutNeverExceedsItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := safe(rapid.OneOf(rapid.String(), rapid.SampledFrom(nasty)).Draw(t, "in"), false)
		w := rapid.IntRange(-2, 60).Draw(t, "w")
		out := cut(in, w, "…")
		if width(out) > max(w, 0) {
			t.Fatalf("cut(%q, %d) has %d columns", in, w, width(out))
		}
		if width(in) <= w && out != in {
			t.Fatalf("cut(%q, %d) lost something: %q", in, w, out)
		}
		var l line
		l.cell(roleText, in, w, rapid.Bool().Draw(t, "right"), "…")
		if l.w != max(w, 0) || width(joined(l)) != l.w {
			t.Fatalf("a cell of %d has %d columns", w, l.w)
		}
	})
}

// What width counts without looking for graphemes is what looking would give,
// also where such characters stand beside one another.
func TestDrawingsAreAsWideAsTheirCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.OneOf(rapid.Rune(), rapid.Int32Range(0x2500, 0x25a0), rapid.Int32Range(0x27ff, 0x2900), rapid.Int32Range(0x20, 0x7f))
		s := string(rapid.SliceOfN(one, 0, 8).Draw(t, "s"))
		if n, ok := drawing(s); ok && (n != ansi.StringWidth(s) || n != len([]rune(s))) {
			t.Fatalf("%q is %d columns, not %d", s, ansi.StringWidth(s), n)
		}
	})
	for _, g := range []string{"braille", "block"} {
		if s := strings.Join(glyphSet(g).sparks, ""); width(s) != len([]rune(s)) {
			t.Errorf("%q is %d columns", s, width(s))
		}
	}
}

func TestWrapKeepsToItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := safe(rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,12} ){0,20}`)).Draw(t, "in"), false)
		w, n := rapid.IntRange(-1, 40).Draw(t, "w"), rapid.IntRange(-1, 6).Draw(t, "n")
		out := wrap(in, w, n, "…")
		if len(out) > max(n, 0) {
			t.Fatalf("%d lines of %d", len(out), n)
		}
		for _, l := range out {
			if width(l) > w {
				t.Fatalf("a line of %d columns in %d: %q", width(l), w, l)
			}
		}
	})
}

func joined(l line) string {
	var b strings.Builder
	for _, s := range l.segs {
		b.WriteString(s.s)
	}
	return b.String()
}

// The columns are looked up on an emulated terminal, which does to combining
// marks and emoji what it likes.
func TestColumnsAlignWhateverTheNames(t *testing.T) {
	for look, o := range looks {
		w := newWorld(t, o, nasty...)
		w.play(60)
		w.m.Resize(120, 30)
		term := vt.NewEmulator(120, 30)
		if _, err := term.WriteString(strings.ReplaceAll(w.m.View(), "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		column := -1
		lines := strings.Split(plainView(w.m), "\n")
		for y := 4; y < 4+len(nasty)+1; y++ {
			if strings.Contains(lines[y], " quiet ") {
				continue // the line above those rows
			}
			last := -1
			for x := range 60 {
				if c := term.CellAt(x, y); c != nil && c.Content == "%" {
					last = x
				}
			}
			if last < 0 {
				t.Fatalf("%s: no share on line %d", look, y)
			}
			if column >= 0 && last != column {
				t.Errorf("%s: the share on line %d ends in column %d, above in %d", look, y, last, column)
			}
			column = last
		}
	}
}

func TestTheSameTextInAHoldersName(t *testing.T) {
	for _, name := range nasty {
		w := newWorld(t, looks["none"])
		w.edit = withNames(name)
		w.play(30)
		w.keys("enter")
		for _, s := range sizes {
			w.m.Resize(s[0], s[1])
			fits(t, w.m.View(), s[0], s[1])
		}
		w.m.Resize(200, 60)
		obeysNothing(t, w.m, name)
	}
}

// setsColumn is the one escape sequence of a view without colours.
var setsColumn = regexp.MustCompile(`\x1b\[[0-9]+G`)

// obeysNothing asserts that a view without colours has no control characters
// but those of the frame.
func obeysNothing(t *testing.T, m *Model, what string) {
	t.Helper()
	for i, r := range setsColumn.ReplaceAllString(strings.ReplaceAll(m.View(), "\n", ""), "") {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			t.Errorf("%s: %q reached the terminal at byte %d", what, r, i)
			return
		}
	}
}

// poison appends what a terminal would obey to every text within v: to codes of
// closed lists too when asked.
func poison(v reflect.Value, codes bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem(), codes)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), codes)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), codes)
			}
		}
	case reflect.String:
		if s := v.String(); !strings.Contains(s, "\x1b") && (codes || v.Type() == reflect.TypeFor[string]()) {
			v.SetString(s + "\x1b]0;evil\a")
		}
	}
}

// Whatever text an event has, on whatever page it is shown: nothing of it is
// obeyed. A recording can have anything anywhere.
func TestNoTextOfAnEventIsObeyed(t *testing.T) {
	pages := [][]string{{}, {"enter"}, {"!"}, {"tab"}, {"tab", "enter"}, {"tab", "j", "enter"}, {"tab", "j", "j", "enter"}, {"tab", "tab"}, {"tab", "tab", "j", "j", "j"},
		{"?"}, {":"}, {"y"}, {"tab", "y"}, {"tab", "tab", "G", "y"}, {" "}, {"H", "H"}, {"H", "enter"}}
	for _, k := range actionKeys {
		pages = append(pages, []string{k})
	}
	for name, edit := range map[string]func(*control.Event){"step": withStep, "hands": withHands, "drain": withDrain, "log": withLog, "empty": withoutQueues} {
		for _, codes := range []bool{false, true} {
			w := newWorld(t, Options{Glyphs: "block", Color: "none", Do: nothing, Save: func(string, []byte) error { return nil }})
			w.edit = func(ev *control.Event) {
				withProblems(ev)
				edit(ev)
				memory := ev.Memory
				poison(reflect.ValueOf(ev), codes)
				ev.Memory = memory // else nothing can be asked
			}
			w.play(4)
			for _, keys := range pages {
				for _, width := range []int{200, 90} {
					w.m.Resize(width, 40)
					w.keys(keys...)
					obeysNothing(t, w.m, fmt.Sprintf("%s, codes %v, %v at %d", name, codes, keys, width))
					w.keys("esc", "esc", "esc", "end")
					w.m.screen, w.m.back, w.m.open = screenOverview, nil, "" // so that tab goes the same way
				}
			}
			ev := control.Event{At: w.now, Err: &control.Failure{What: "failed", Hint: "look"}, Memory: "elsewhere", Leader: "otto"}
			poison(reflect.ValueOf(&ev), codes)
			w.m.Apply(ev)
			obeysNothing(t, w.m, name+", failing")
		}
	}
}
