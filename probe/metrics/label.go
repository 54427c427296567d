package metrics

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// Others is the queue label under which queues without series of their own
// are summed. No queue has it as its own label.
const Others = "__other__"

const (
	longestLabel = 100 // bytes of a label value
	hashedLabel  = 17  // of them for "~" and the hash of what was cut
)

// queueLabel is the label value of a queue: its physical name, where that is
// valid UTF-8 of ordinary length. Other names are written so that two queues
// do not get one label: an invalid byte as \xNN, then a backslash as \\; the
// empty name, which Prometheus takes for no label at all, as \x; a name that
// reads like Others with one more underscore in front.
func queueLabel(name string) string {
	s := name
	switch {
	case s == "":
		return `\x`
	case !utf8.ValidString(s) || strings.Contains(s, `\x`):
		s = escape(s)
	case strings.HasSuffix(s, Others) && strings.Trim(s, "_") == strings.Trim(Others, "_"):
		s = "_" + s
	}
	return short(s)
}

// text is a label value that is not a queue: what it says matters more than
// that two never meet.
func text(s string) string { return short(strings.ToValidUTF8(s, "\uFFFD")) }

func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// short bounds the length of a label; what is cut stands as its hash.
func short(s string) string {
	if len(s) <= longestLabel {
		return s
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash cannot fail
	cut := longestLabel - hashedLabel
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s~%016x", s[:cut], h.Sum64())
}
