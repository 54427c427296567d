package tui

import "strings"

// glyphs is one set of signs: everything drawn that is not text.
type glyphs struct {
	name    string
	ascii   bool
	braille bool

	sparks   []string // by height, the first is zero
	fill     []string // a chart cell filled from below, by eighths; the first is empty
	point    string   // a line through a cell of a chart without braille
	band     string   // the band around a line
	rule     string   // horizontal
	axis     string   // vertical, left of a chart
	axisTick string   // the same where a label stands
	corner   string   // where both meet
	cursor   string   // the selected row
	pending  string   // a step waits for a hand
	crowd    string   // producers stand in line
	bad      string   // stuck, failed, standby
	warn     string
	grow     string
	shrink   string
	arrow    string // from → to
	times    string // a ratio
	dots     string // something was cut off
	sep      string // between facts on a line
	up, down string // sort direction, more above or below
	step     string // a horizontal stretch of the shards strip
	change   string // a change on it
	down2    string // a change to less
	wish     string // what shadow mode would have done
	pin      string // an operator pinned the count
	act      string // another act of an operator
	kept     string // a change that held what it promised
	causes   map[byte]string
	stack    map[byte]string // the same as a ground, for the stacked strip
}

func glyphSet(name string) *glyphs {
	g := &glyphs{
		name: name, braille: name == "braille",
		sparks: []string{"▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇"},
		fill:   []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		point:  "•", band: "░", rule: "─", axis: "│", axisTick: "┤", corner: "└",
		cursor: "▌", pending: "◆", crowd: "▲", bad: "✖", warn: "!",
		grow: "↑", shrink: "↓", arrow: "→", times: "×", dots: "…", sep: "·",
		up: "↑", down: "↓", step: "─", change: "▲", down2: "▼", wish: "△", pin: "●", act: "○", kept: "√",
		causes: map[byte]string{causeNone: "·", causeLane: "■", causeNotify: "◇", causeStuck: "✖", causeUnknown: "?"},
		stack:  map[byte]string{causeLane: "█", causeNotify: "▒", causeStuck: "╳", causeUnknown: "░"},
	}
	if name != "ascii" {
		return g
	}
	return &glyphs{
		name: name, ascii: true,
		sparks: []string{"_", ".", ":", "-", "=", "+", "*", "#"},
		fill:   []string{" ", ".", ".", ":", ":", "|", "|", "#", "#"},
		point:  "*", band: ":", rule: "-", axis: "|", axisTick: "+", corner: "+",
		cursor: ">", pending: "*", crowd: "^", bad: "x", warn: "!",
		grow: "+", shrink: "-", arrow: "->", times: "x", dots: "~", sep: "|",
		up: "^", down: "v", step: "-", change: "^", down2: "v", wish: "@", pin: "P", act: "o", kept: "+",
		causes: map[byte]string{causeNone: ".", causeLane: "#", causeNotify: "n", causeStuck: "x", causeUnknown: "?"},
		stack:  map[byte]string{causeLane: "#", causeNotify: "n", causeStuck: "x", causeUnknown: "?"},
	}
}

// ownSigns are the signs in the sentences of the controller, in ASCII.
var ownSigns = strings.NewReplacer("→", "->", "×", "x", "÷", "/")

// told is a sentence of the controller made safe. Names are not for it: two
// that differ in such a sign would become one.
func (g *glyphs) told(s string) string { return safe(g.own(s), g.ascii) }

// own is a sentence of the controller with its signs as g has them, still raw.
func (g *glyphs) own(s string) string {
	if g.ascii {
		return ownSigns.Replace(s)
	}
	return s
}

// pickGlyphs chooses the set: what the operator asked for, otherwise what the
// locale and the terminal can show. The kernel's console knows UTF-8 but has
// no braille in its fonts.
func pickGlyphs(asked string, env func(string) string) *glyphs {
	switch asked {
	case "braille", "block", "ascii":
		return glyphSet(asked)
	}
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = env(name); locale != "" {
			break
		}
	}
	term := env("TERM")
	utf8 := strings.Contains(strings.ReplaceAll(strings.ToLower(locale), "-", ""), "utf8")
	switch {
	case !utf8 || term == "dumb" || strings.HasPrefix(term, "vt"):
		return glyphSet("ascii")
	case term == "linux":
		return glyphSet("block")
	}
	return glyphSet("braille")
}
