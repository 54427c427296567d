package pty

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// What a screen looks like as SVG: text is set into its cells by length, and
// what charts and frames are made of is drawn, so that a picture looks the same
// whatever fonts there are.
const (
	cellW, cellH  = 8.4, 18.0
	margin, title = 14.0, 26.0
	paper, ink    = "#14181f", "#d6dae0"
)

// svg draws the cells of an emulator under a title line.
func svg(cell func(x, y int) *uv.Cell, w, h int, caption string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`,
		float64(w)*cellW+2*margin, float64(h)*cellH+margin+title)
	fmt.Fprintf(&b, "\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=%q/>\n", paper)
	fmt.Fprintf(&b, `<text x="%.0f" y="18" fill="#7c8592" font-size="12">%s</text>`+"\n", margin, escaped(caption))
	for y := range h {
		drawRow(&b, cell, w, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// cellLook is how a cell is drawn.
type cellLook struct {
	fg, bg           string // bg "" for the paper's
	bold, faint, und bool
}

func lookOf(s uv.Style) cellLook {
	fg, bg := hex(s.Fg, ink), hex(s.Bg, "")
	if s.Attrs&uv.AttrReverse != 0 {
		if bg == "" {
			bg = paper
		}
		fg, bg = bg, fg
	}
	return cellLook{fg, bg, s.Attrs&uv.AttrBold != 0, s.Attrs&uv.AttrFaint != 0, s.Underline != 0}
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func drawRow(b *strings.Builder, cell func(x, y int) *uv.Cell, w, y int) {
	at := func(x int) (string, cellLook, int) {
		c := cell(x, y)
		if c == nil || c.Content == "" {
			return " ", cellLook{fg: ink}, 1
		}
		return c.Content, lookOf(c.Style), max(c.Width, 1)
	}
	top := title + float64(y)*cellH
	for x := 0; x < w; { // grounds first, text may reach over its cell
		_, l, n := at(x)
		end := x + n
		for end < w {
			_, next, more := at(end)
			if next.bg != l.bg {
				break
			}
			end += more
		}
		if l.bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill=%q/>`+"\n", left(x), top, float64(end-x)*cellW, cellH, l.bg)
		}
		x = end
	}
	for x := 0; x < w; {
		s, l, n := at(x)
		kind := kindOfGlyph(s)
		end, run := x+n, s
		for end < w && kind != glyphAlone {
			next, nl, more := at(end)
			if k := kindOfGlyph(next); nl.fg != l.fg || nl.bold != l.bold || nl.faint != l.faint || nl.und != l.und || k != kind {
				break
			}
			run, end = run+next, end+more
		}
		drawRun(b, run, kind, l, x, end, top)
		x = end
	}
}

func left(x int) float64 { return margin + float64(x)*cellW }

type glyphKind int

const (
	glyphText  glyphKind = iota
	glyphAlone           // text of a font that may have another width
	glyphDrawn
	glyphDots // braille
)

func kindOfGlyph(s string) glyphKind {
	r := []rune(s)
	switch {
	case len(r) == 1 && r[0] > 0x2800 && r[0] <= 0x28ff:
		return glyphDots
	case len(r) == 1 && shape(r[0], 0, 0) != "":
		return glyphDrawn
	case len(r) == 1 && r[0] < 0x250:
		return glyphText
	}
	return glyphAlone
}

func drawRun(b *strings.Builder, run string, kind glyphKind, l cellLook, x, end int, top float64) {
	if strings.TrimSpace(run) == "" && !l.und {
		return
	}
	style := ""
	if l.faint {
		style = ` opacity="0.6"`
	}
	switch kind {
	case glyphDots:
		var d strings.Builder
		for i, r := range []rune(run) {
			d.WriteString(braille(uint8(r-0x2800), left(x+i), top))
		}
		fmt.Fprintf(b, `<path stroke=%q stroke-width="%.1f"%s d="%s"/>`+"\n", l.fg, dot, style, d.String())
		return
	case glyphDrawn:
		var d, shades strings.Builder
		for i, r := range []rune(run) {
			if opacity, ok := shadeOf[r]; ok {
				fmt.Fprintf(&shades, `<path fill=%q opacity="%s" d="%s"/>`+"\n", l.fg, opacity, shape(r, left(x+i), top))
				continue
			}
			d.WriteString(shape(r, left(x+i), top))
		}
		b.WriteString(shades.String())
		if d.Len() > 0 {
			fmt.Fprintf(b, `<path fill=%q%s shape-rendering="crispEdges" d="%s"/>`+"\n", l.fg, style, d.String())
		}
		return
	}
	if l.bold {
		style += ` font-weight="700"`
	}
	if l.und {
		style += ` text-decoration="underline"`
	}
	if kind == glyphAlone {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill=%q%s>%s</text>`+"\n", (left(x)+left(end))/2, top+13.5, l.fg, style, escaped(run))
		return
	}
	lead := len(run) - len(strings.TrimLeft(run, " ")) // ASCII up to here
	text := strings.TrimRight(run[lead:], " ")
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill=%q%s>%s</text>`+"\n",
		left(x+lead), top+13.5, float64(len([]rune(text)))*cellW, l.fg, style, escaped(text))
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

var shadeOf = map[rune]string{'░': "0.25", '▒': "0.5", '▓': "0.75"}

// boxArms says to which sides a box character reaches: left, right, up, down.
var boxArms = map[rune]string{'─': "lr", '│': "ud", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '├': "udr", '┤': "udl", '┬': "lrd", '┴': "lru", '┼': "lrud",
	'╭': "rd", '╮': "ld", '╰': "ru", '╯': "lu"}

// shape is the outline of a character that is drawn, "" for one that is text.
func shape(r rune, x, y float64) string {
	box := func(x, y, w, h float64) string { return fmt.Sprintf("M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w) }
	switch {
	case r >= 0x2581 && r <= 0x2588:
		h := cellH * float64(r-0x2580) / 8
		return box(x, y+cellH-h, cellW, h)
	case r == '▌':
		return box(x, y, cellW/2, cellH)
	case r == '▐':
		return box(x+cellW/2, y, cellW/2, cellH)
	case r == '▀':
		return box(x, y, cellW, cellH/2)
	case shadeOf[r] != "":
		return box(x, y, cellW, cellH)
	}
	var d string
	const thin = 1.2
	cx, cy := x+cellW/2, y+cellH/2
	for _, arm := range boxArms[r] {
		switch arm {
		case 'l':
			d += box(x, cy-thin/2, cellW/2+thin/2, thin)
		case 'r':
			d += box(cx-thin/2, cy-thin/2, cellW/2+thin/2, thin)
		case 'u':
			d += box(cx-thin/2, y, thin, cellH/2+thin/2)
		case 'd':
			d += box(cx-thin/2, cy-thin/2, thin, cellH/2+thin/2)
		}
	}
	return d
}

// dot is the side of a dot of braille.
const dot = 2.6

// braille is up to eight dots, for a stroke of their width: bits 0-2 and 6 are the left column from the top,
// 3-5 and 7 the right one.
func braille(dots uint8, x, y float64) string {
	var d strings.Builder
	for i, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if dots&(1<<i) != 0 {
			fmt.Fprintf(&d, "M%.1f %.1fh%.1f", x+cellW*(0.25+0.5*float64(at[0]))-dot/2, y+cellH*(0.125+0.25*float64(at[1])), dot)
		}
	}
	return d.String()
}

func TestPicturesHaveEveryCell(t *testing.T) {
	emu := vt.NewEmulator(12, 3)
	defer func() { _ = emu.Close() }()
	_, _ = emu.WriteString("a<b&\x1b[1;31mred\x1b[0m é\r\n\x1b[44m \u2588\u2807\x1b[0m\u2500\u2514\x1b[7mx\x1b[0m\r\n\x1b[38;2;1;2;3m\u25c6キ")
	s := svg(emu.CellAt, 12, 3, "a <title>")
	if err := xml.Unmarshal([]byte(s), new(struct{ XMLName xml.Name })); err != nil {
		t.Fatalf("%v:\n%s", err, s)
	}
	for _, want := range []string{"a &lt;title&gt;", ">a&lt;b&amp;</text>", `font-weight="700">red</text>`, "◆</text>", "#010203", "キ</text>", `text-anchor="middle"`} {
		if !strings.Contains(s, want) {
			t.Errorf("%s is not in\n%s", want, s)
		}
	}
	if strings.ContainsAny(s, "█⠇─└") {
		t.Errorf("what is to be drawn is text:\n%s", s)
	}
	for _, dots := range []uint8{0x07, 0xff, 0x80} {
		if n := strings.Count(braille(dots, 0, 0), "M"); n != bits.OnesCount8(dots) {
			t.Errorf("%08b has %d dots", dots, n)
		}
	}
}

// The pictures that the pages show are there, and were made of a whole screen.
func TestThePicturesOfThePagesAreThere(t *testing.T) {
	shown := 0
	for _, page := range []string{"README.md", "docs/screens.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(((?:docs/)?screens/[^)]+\.svg)\)`).FindAllStringSubmatch(string(text), -1) {
			picture, err := os.ReadFile(filepath.Join(root(t), filepath.Dir(page), m[1]))
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			shown++
			if err := xml.Unmarshal(picture, new(struct{ XMLName xml.Name })); err != nil || !strings.Contains(string(picture), "rehearsal") {
				t.Errorf("%s: %s is no picture of a screen (%v)", page, m[1], err)
			}
		}
	}
	if shown < 8 {
		t.Errorf("the pages show %d pictures", shown)
	}
}
