package tui

import (
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// role is what a piece of text is for; the theme says how that looks.
type role uint8

const (
	roleText   role = iota // what is read
	roleStrong             // the one number of a row, names
	roleDim                // labels, units, what is quiet
	roleFaint              // rules, axes, zeros
	roleTitle              // headings of panes
	roleAccent             // charts, the cursor, keys
	roleBand               // the interval around a line
	roleGood
	roleWarn
	roleBad
	roleNotify  // waits that more lanes would not mend
	roleBadge   // a name on a coloured ground
	roleLabel   // the environment's, in its own colour
	roleShadow  // the badge of a process that writes nothing by itself
	roleEnforce // the badge of one that does
	roleBanner  // a failure across the screen
	roleCount
)

// theme holds the escape sequences of every role, made once.
type theme struct {
	colored  bool
	on       [roleCount]string // normal
	selected [roleCount]string // the same on the cursor's ground
	grey     string            // everything, when the picture is old
	off      string
}

// pickProfile chooses how many colours to use: what was asked for, NO_COLOR,
// then TERM and COLORTERM. The terminal itself is never asked.
func pickProfile(asked string, env func(string) string) termenv.Profile {
	switch asked {
	case "truecolor":
		return termenv.TrueColor
	case "256":
		return termenv.ANSI256
	case "16":
		return termenv.ANSI
	case "none":
		return termenv.Ascii
	}
	term := env("TERM")
	switch {
	case env("NO_COLOR") != "", term == "dumb", strings.HasPrefix(term, "vt"):
		return termenv.Ascii
	case env("COLORTERM") == "truecolor", env("COLORTERM") == "24bit":
		return termenv.TrueColor
	case strings.Contains(term, "256color"), strings.Contains(term, "kitty"),
		strings.Contains(term, "ghostty"), strings.Contains(term, "alacritty"):
		return termenv.ANSI256
	}
	return termenv.ANSI
}

// hue is one colour for each number of colours.
func hue(rgb, c256, c16 string) lipgloss.CompleteColor {
	return lipgloss.CompleteColor{TrueColor: rgb, ANSI256: c256, ANSI: c16}
}

// palette is a theme: how each role looks.
type palette struct {
	roles  func(*lipgloss.Renderer) [roleCount]lipgloss.Style
	ground lipgloss.CompleteColor // of the cursor's line
	bright lipgloss.CompleteColor // text there that has no colour of its own
	quiet  lipgloss.CompleteColor // the same of what is dim
	grey   lipgloss.CompleteColor // of an old picture
}

// paletteOf is a theme by its name. The middle tones of "auto" are chosen to be
// legible on black and on white, since nobody tells us which it is.
func paletteOf(name string) palette {
	auto := palette{roles: tones(hues{
		dim: hue("#8a8f98", "245", "8"), faint: hue("#5f6670", "241", "8"), title: hue("#7aa2d8", "110", "6"), accent: hue("#4fa3d9", "74", "6"),
		band: hue("#3f6f94", "60", "4"), good: hue("#4fae6a", "71", "2"), warn: hue("#d79921", "172", "3"), bad: hue("#e0564f", "167", "1"), notify: hue("#b48ead", "139", "5")}),
		ground: hue("#2c3a50", "237", "0"), bright: hue("#f0f0f0", "255", "15"), quiet: hue("#b4bac4", "249", "7"), grey: hue("#8a8a8a", "245", "8")}
	switch name {
	case "dark":
		auto.roles = tones(hues{
			dim: hue("#a4aab4", "248", "7"), faint: hue("#6c737d", "243", "8"), title: hue("#8ab4e8", "111", "14"), accent: hue("#5fb8f0", "75", "14"),
			band: hue("#41749c", "67", "4"), good: hue("#62c884", "78", "10"), warn: hue("#f0b429", "214", "11"), bad: hue("#ff6b61", "203", "9"), notify: hue("#c9a0dc", "176", "13")})
	case "light":
		auto.roles = tones(hues{
			dim: hue("#5a6069", "241", "8"), faint: hue("#8c929b", "246", "7"), title: hue("#1f4f8f", "25", "4"), accent: hue("#0b6aa8", "25", "4"),
			band: hue("#9cc3e0", "153", "6"), good: hue("#1f7a3d", "28", "2"), warn: hue("#9a5b00", "130", "3"), bad: hue("#b3231b", "124", "1"), notify: hue("#7a3e96", "91", "5")})
		auto.ground, auto.bright, auto.quiet = hue("#d3e1f2", "153", "7"), hue("#101418", "16", "0"), hue("#3a4048", "238", "0")
	case "contrast":
		auto.roles = tones(hues{
			dim: hue("#e0e0e0", "254", "7"), faint: hue("#b0b0b0", "249", "7"), title: hue("#ffffff", "231", "15"), accent: hue("#00d7ff", "45", "14"),
			band: hue("#5f87af", "67", "6"), good: hue("#00ff5f", "47", "10"), warn: hue("#ffd700", "220", "11"), bad: hue("#ff5f5f", "203", "9"), notify: hue("#ff87ff", "213", "13")})
		auto.ground, auto.bright, auto.quiet = hue("#00408f", "25", "4"), hue("#ffffff", "231", "15"), hue("#ffffff", "231", "15")
	case "mono":
		auto.roles = monoRoles
	}
	return auto
}

func newTheme(p termenv.Profile, name, label string) *theme {
	t := &theme{colored: p != termenv.Ascii}
	if !t.colored {
		return t
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	// Said, so that it is not asked of the terminal.
	r.SetHasDarkBackground(true)
	look := paletteOf(name)
	styles := look.roles(r)
	if c, ok := labelColor(label); ok && label != "" && name != "mono" {
		styles[roleLabel] = r.NewStyle().Foreground(c.text).Background(c.ground).Bold(true)
	}
	for i, s := range styles {
		t.on[i] = opening(s)
		t.selected[i] = opening(look.onGround(s, role(i), p, name))
	}
	t.grey = opening(r.NewStyle().Foreground(look.grey))
	if name == "mono" {
		t.grey = opening(r.NewStyle().Faint(true))
	}
	t.off = "\x1b[0m"
	return t
}

// onGround is a style on the cursor's line, where what has no colour of its own
// gets one that suits the ground.
func (p palette) onGround(s lipgloss.Style, r role, profile termenv.Profile, name string) lipgloss.Style {
	if profile == termenv.ANSI || name == "mono" {
		return s.Reverse(true) // sixteen colours have no ground that suits them all
	}
	switch r {
	case roleText, roleStrong:
		s = s.Foreground(p.bright)
	case roleDim, roleFaint:
		s = s.Foreground(p.quiet)
	}
	return s.Background(p.ground)
}

// hues are the colours in which themes differ.
type hues struct {
	dim, faint, title, accent, band, good, warn, bad, notify lipgloss.CompleteColor
}

func tones(h hues) func(*lipgloss.Renderer) [roleCount]lipgloss.Style {
	return func(r *lipgloss.Renderer) [roleCount]lipgloss.Style {
		fg := func(c lipgloss.CompleteColor) lipgloss.Style { return r.NewStyle().Foreground(c) }
		badge := func(rgb, c256, c16 string) lipgloss.Style {
			return fg(hue("#ffffff", "231", "15")).Background(hue(rgb, c256, c16)).Bold(true)
		}
		return [roleCount]lipgloss.Style{
			roleText:    r.NewStyle(),
			roleStrong:  r.NewStyle().Bold(true),
			roleDim:     fg(h.dim),
			roleFaint:   fg(h.faint),
			roleTitle:   fg(h.title).Bold(true),
			roleAccent:  fg(h.accent),
			roleBand:    fg(h.band),
			roleGood:    fg(h.good),
			roleWarn:    fg(h.warn),
			roleBad:     fg(h.bad).Bold(true),
			roleNotify:  fg(h.notify),
			roleBadge:   badge("#4a5568", "240", "4"),
			roleLabel:   badge("#4a5568", "240", "4"),
			roleShadow:  badge("#2f6f9f", "25", "4"),
			roleEnforce: badge("#a34a00", "130", "1"),
			roleBanner:  badge("#a02c2c", "124", "1"),
		}
	}
}

// monoRoles tells roles apart without colours.
func monoRoles(r *lipgloss.Renderer) [roleCount]lipgloss.Style {
	plain, bold := r.NewStyle(), r.NewStyle().Bold(true)
	faint, badge := r.NewStyle().Faint(true), r.NewStyle().Reverse(true).Bold(true)
	return [roleCount]lipgloss.Style{
		roleText: plain, roleStrong: bold, roleDim: plain, roleFaint: faint, roleTitle: bold, roleAccent: plain, roleBand: faint,
		roleGood: plain, roleWarn: bold, roleBad: bold.Underline(true), roleNotify: plain,
		roleBadge: badge, roleLabel: badge, roleShadow: badge, roleEnforce: badge.Underline(true), roleBanner: badge,
	}
}

// ink is a ground with the text that can be read on it.
type ink struct {
	ground, text lipgloss.CompleteColor
}

func labelInk(name string) (ink, bool) {
	white, black := hue("#ffffff", "231", "15"), hue("#101010", "16", "0")
	switch name {
	case "red":
		return ink{hue("#b3231b", "124", "1"), white}, true
	case "orange":
		return ink{hue("#c25700", "130", "3"), white}, true
	case "yellow":
		return ink{hue("#e5c000", "178", "3"), black}, true
	case "green":
		return ink{hue("#1f7a3d", "28", "2"), white}, true
	case "blue":
		return ink{hue("#1f5fa8", "25", "4"), white}, true
	case "magenta":
		return ink{hue("#8a2f8f", "90", "5"), white}, true
	case "cyan":
		return ink{hue("#00808a", "30", "6"), white}, true
	case "grey", "":
		return ink{hue("#4a5568", "240", "4"), white}, true
	}
	return ink{}, false
}

func labelColorNames() []string {
	return []string{"red", "orange", "yellow", "green", "blue", "magenta", "cyan", "grey"}
}

// labelColor is the ground of a name or of #rrggbb, with light or dark text by
// how bright it is. Fewer colours get the nearest ones.
func labelColor(s string) (ink, bool) {
	if c, ok := labelInk(s); ok {
		return c, true
	}
	if len(s) != 7 || s[0] != '#' {
		return ink{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return ink{}, false
	}
	text := hue("#ffffff", "231", "15")
	if 299*(n>>16)+587*(n>>8&0xff)+114*(n&0xff) > 140_000 {
		text = hue("#101010", "16", "0")
	}
	nearest := func(p termenv.Profile) string {
		switch c := p.Color(s).(type) {
		case termenv.ANSI256Color:
			return strconv.Itoa(int(c))
		case termenv.ANSIColor:
			return strconv.Itoa(int(c))
		}
		return "4"
	}
	return ink{hue(s, nearest(termenv.ANSI256), nearest(termenv.ANSI)), text}, true
}

// opening is the escape sequence a style puts before its text.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}
