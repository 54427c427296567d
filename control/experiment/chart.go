package experiment

import (
	"fmt"
	"math"
	"strings"
)

// A chart is an SVG of its own: throughput over time above, the count below.
const (
	chartW, chartH = 720, 340
	plotLeft       = 64
	plotRight      = 704
	rateTop        = 34
	rateBottom     = 214
	countTop       = 246
	countBottom    = 306
)

// colours of static settings by rank; the controller has its own.
var chartColours = [...]string{"#8fa8c8", "#6fae9b", "#c2a267", "#b48ab0", "#8c8c8c", "#a3b86c"}

const controllerColour = "#c0392b"

// Chart draws the runs of one shape with the first seed, as an SVG document.
func Chart(shape string, results []Result) []byte {
	own, static := pools(shape, results)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", chartW, chartH, chartW, chartH)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", chartW, chartH)
	var lines []chartLine
	for i, n := range keys(static) {
		lines = append(lines, chartLine{fmt.Sprintf("S = %d", n), chartColours[i%len(chartColours)], 1.2, static[n][0]})
	}
	if len(own) > 0 {
		lines = append(lines, chartLine{"controller", controllerColour, 2.2, own[0]})
	}
	top, length, most := 0.0, 1.0, 1.0
	for _, l := range lines {
		length = max(length, float64(l.run.Seconds))
		for _, bin := range l.run.Bins {
			top = max(top, bin.rate())
			most = max(most, bin.count())
		}
	}
	top = roundUp(top)
	x := func(s float64) float64 { return plotLeft + (plotRight-plotLeft)*s/length }
	rateY := func(v float64) float64 { return rateBottom - (rateBottom-rateTop)*v/top }
	countY := func(v float64) float64 { return countBottom - (countBottom-countTop)*v/most }
	axes(&b, top, most, length, x, rateY, countY)
	for i, l := range lines {
		l.draw(&b, x, rateY, countY)
		at := plotLeft + 100*i
		fmt.Fprintf(&b, `<rect x="%d" y="12" width="14" height="4" fill="%s"/><text x="%d" y="18" fill="#333333">%s</text>`+"\n", at, l.colour, at+18, l.name)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

type chartLine struct {
	name, colour string
	width        float64
	run          *Result
}

func (b Bin) rate() float64 {
	if b.Seconds == 0 {
		return 0
	}
	return float64(b.Jobs) / b.Seconds
}

func (b Bin) count() float64 {
	if b.Seconds == 0 {
		return 0
	}
	return b.ShardS / b.Seconds
}

func (l chartLine) draw(b *strings.Builder, x, rateY, countY func(float64) float64) {
	var rate, count strings.Builder
	for _, bin := range l.run.Bins {
		fmt.Fprintf(&rate, "%.1f,%.1f ", x(bin.AtS+bin.Seconds/2), rateY(bin.rate()))
	}
	at, n := 0.0, float64(l.run.Start)
	step := func(to float64) { fmt.Fprintf(&count, "%.1f,%.1f %.1f,%.1f ", x(at), countY(n), x(to), countY(n)) }
	for _, c := range l.run.Changes {
		step(c.AtS)
		at, n = c.AtS, float64(c.To)
	}
	step(float64(l.run.Seconds))
	for _, points := range []string{rate.String(), count.String()} {
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="%.1f" points="%s"/>`+"\n", l.colour, l.width, strings.TrimSpace(points))
	}
}

func axes(b *strings.Builder, top, most, length float64, x, rateY, countY func(float64) float64) {
	grid := func(y float64, label string) {
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555555">%s</text>`+"\n",
			plotLeft, y, plotRight, y, plotLeft-6, y+4, label)
	}
	for i := range 5 {
		v := top * float64(i) / 4
		grid(rateY(v), short(v))
	}
	for _, v := range []float64{0, most} {
		grid(countY(v), fmt.Sprintf("%.0f", v))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="#555555">jobs/s</text><text x="%d" y="%d" fill="#555555">shards</text>`+"\n", 4, rateTop+4-12, 4, countTop-8)
	for i := range 5 {
		s := length * float64(i) / 4
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%s</text>`+"\n", x(s), countBottom+20, elapsed(s))
	}
}

// elapsed is a time since the start as an axis shows it.
func elapsed(s float64) string {
	switch {
	case s >= 2*86400:
		return fmt.Sprintf("%.1f d", s/86400)
	case s >= 2*3600:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.0f s", s)
}

// roundUp is the next 1, 2, 4 or 5 times a power of ten; 1 for nothing.
func roundUp(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 4, 5, 10} {
		if v <= f*power*(1+1e-9) {
			return f * power
		}
	}
	return 10 * power
}
