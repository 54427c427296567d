package tui

import (
	"io"
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

// hue is one colour in the three palettes. The middle tones are chosen to be
// legible on black and on white, since nobody tells us which it is.
func hue(rgb, c256, c16 string) lipgloss.CompleteColor {
	return lipgloss.CompleteColor{TrueColor: rgb, ANSI256: c256, ANSI: c16}
}

func newTheme(p termenv.Profile) *theme {
	t := &theme{colored: p != termenv.Ascii}
	if !t.colored {
		return t
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	// Said, so that it is not asked of the terminal.
	r.SetHasDarkBackground(true)
	for i, s := range roleStyles(r) {
		t.on[i] = opening(s)
		t.selected[i] = opening(onGround(s, role(i), p))
	}
	t.grey = opening(r.NewStyle().Foreground(hue("#8a8a8a", "245", "8")))
	t.off = "\x1b[0m"
	return t
}

// onGround is a style on the cursor's line. The ground is dark on every
// terminal, so what has no colour of its own gets a light one there.
func onGround(s lipgloss.Style, r role, p termenv.Profile) lipgloss.Style {
	if p == termenv.ANSI {
		return s.Reverse(true) // sixteen colours have no ground that suits them all
	}
	switch r {
	case roleText, roleStrong:
		s = s.Foreground(hue("#f0f0f0", "255", "15"))
	case roleDim, roleFaint:
		s = s.Foreground(hue("#b4bac4", "249", "7"))
	}
	return s.Background(hue("#2c3a50", "237", "0"))
}

func roleStyles(r *lipgloss.Renderer) [roleCount]lipgloss.Style {
	fg := func(rgb, c256, c16 string) lipgloss.Style { return r.NewStyle().Foreground(hue(rgb, c256, c16)) }
	badge := func(rgb, c256, c16 string) lipgloss.Style {
		return fg("#ffffff", "231", "15").Background(hue(rgb, c256, c16)).Bold(true)
	}
	return [roleCount]lipgloss.Style{
		roleText:    r.NewStyle(),
		roleStrong:  r.NewStyle().Bold(true),
		roleDim:     fg("#8a8f98", "245", "8"),
		roleFaint:   fg("#5f6670", "241", "8"),
		roleTitle:   fg("#7aa2d8", "110", "6").Bold(true),
		roleAccent:  fg("#4fa3d9", "74", "6"),
		roleBand:    fg("#3f6f94", "60", "4"),
		roleGood:    fg("#4fae6a", "71", "2"),
		roleWarn:    fg("#d79921", "172", "3"),
		roleBad:     fg("#e0564f", "167", "1").Bold(true),
		roleNotify:  fg("#b48ead", "139", "5"),
		roleBadge:   badge("#4a5568", "240", "4"),
		roleShadow:  badge("#2f6f9f", "25", "4"),
		roleEnforce: badge("#a34a00", "130", "1"),
		roleBanner:  badge("#a02c2c", "124", "1"),
	}
}

// opening is the escape sequence a style puts before its text.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}
