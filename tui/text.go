package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// safe makes text from outside fit for one cell of a terminal: control
// characters, line ends, invalid bytes and everything invisible that reorders
// or hides text become visible signs. With asciiOnly every character above
// 0x7E is spelled out too. Already safe text comes back as it is.
func safe(s string, asciiOnly bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x20 && asciiOnly:
			b.WriteByte('^')
			b.WriteByte(byte(r) + '@')
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the control pictures: U+241B is the sign for ESC
		case r == 0x7f && asciiOnly:
			b.WriteString("^?")
		case r == 0x7f:
			b.WriteRune(0x2421)
		case r < 0x7f:
			b.WriteRune(r)
		case r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case asciiOnly || invisible(r):
			spell(&b, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return loneEdges(b.String())
}

// loneEdges spells out what would join with text before or after s: a mark
// without its letter, a joiner with nothing to join. After it, widths add up.
func loneEdges(s string) string {
	for range len(s) {
		first, n := utf8.DecodeRuneInString(s)
		mark := unicode.In(first, unicode.Mn, unicode.Me, unicode.Mc)
		if plain(s) || !mark && width("x"+s+"x") == width(s)+2 {
			return s
		}
		last, k := utf8.DecodeLastRuneInString(s)
		var b strings.Builder
		if mark || first > 0x7e && (width("x"+s) != width(s)+1 || last <= 0x7e) {
			spell(&b, first)
			s = b.String() + s[n:]
			continue
		}
		spell(&b, last)
		s = s[:len(s)-k] + b.String()
	}
	return s
}

func spell(b *strings.Builder, r rune) {
	if r > 0xffff {
		fmt.Fprintf(b, `\U%08x`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// plain says whether s is printable ASCII, which nearly all text is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// invisible are the characters that a reader cannot see and that change what
// he sees: direction marks and overrides, zero-width spaces, other line ends,
// tags. The zero-width joiner stays when it can join an emoji.
func invisible(r rune) bool {
	switch {
	case r == 0x200d, r == 0xfe0e, r == 0xfe0f: // joiner and presentation selectors
		return false
	case r == 0x2028, r == 0x2029, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfff0 && r <= 0xfffb, r == 0xfeff, r >= 0xe0000:
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r)
}

// width is the number of terminal columns of s, grapheme by grapheme.
func width(s string) int {
	if n, ok := drawing(s); ok {
		return n
	}
	return ansi.StringWidth(s)
}

// drawing says whether s is printable ASCII and what charts are drawn with, of
// which each character is a column for itself, and how many they are.
func drawing(s string) (columns int, ok bool) {
	for _, r := range s {
		switch {
		case r >= 0x20 && r <= 0x7e, r >= 0x2500 && r <= 0x259f, r >= 0x2800 && r <= 0x28ff:
			columns++
		default:
			return 0, false
		}
	}
	return columns, true
}

// cut shortens s to w columns and ends it with tail when something was lost.
// A wide character that would stand across the edge is left out whole.
func cut(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && plain(s) {
		return s
	}
	if width(s) <= w {
		return s
	}
	if width(tail) > w {
		tail = ""
	}
	return ansi.Truncate(s, w, tail)
}

// unstable says whether terminals disagree about the width of s: joined and
// selected emoji, flags, combining marks. After such text the frame sets the
// column itself, so that the rest of the line stands where it should.
func unstable(s string) bool {
	if _, ok := drawing(s); ok {
		return false
	}
	for _, r := range s {
		switch {
		case r == 0x200d, r == 0xfe0e, r == 0xfe0f, r >= 0x1f000 && r < 0x20000:
			return true
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc):
			return true
		}
	}
	return false
}

// wrap breaks s into at most n lines of at most w columns at spaces, and ends
// the last with tail when something was lost.
func wrap(s string, w, n int, tail string) []string {
	if w <= 0 || n <= 0 {
		return nil
	}
	var out []string
	for s = strings.TrimSpace(s); s != ""; {
		if len(out) == n-1 || width(s) <= w {
			return append(out, cut(s, w, tail))
		}
		head := ansi.Truncate(s, w, "")
		if i := strings.LastIndexByte(head, ' '); i > 0 && !strings.HasPrefix(s[len(head):], " ") {
			head = head[:i]
		}
		if head == "" { // a character wider than the line
			return append(out, cut(s, w, tail))
		}
		out = append(out, strings.TrimRight(head, " "))
		s = strings.TrimLeft(s[len(head):], " ")
	}
	return out
}
