package tui

import (
	"math"
	"strconv"
	"time"

	"shardpilot/control"
)

const absent = "n/a"

// count prints a number of things in at most five columns: 0, 6.1, 128, 12.4k,
// 3.2M. Zero is "0" and nothing that is not zero looks like it.
func count(v control.Value) string {
	f, ok := v.Get()
	if !ok {
		return absent
	}
	return countOf(f)
}

func countOf(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return absent
	}
	sign := ""
	if f < 0 {
		sign, f = "-", -f
	}
	switch {
	case f == 0:
		return "0"
	case f < 0.05:
		return sign + "<0.1"
	case f < 9.95:
		return sign + strconv.FormatFloat(f, 'f', 1, 64)
	}
	unit := ""
	for _, u := range [...]string{"k", "M", "G", "T", "P"} {
		if f < 999.5 {
			break
		}
		f, unit = f/1000, u
	}
	switch {
	case f >= 999.5:
		return sign + ">999P"
	case unit != "" && f < 99.95:
		return sign + strconv.FormatFloat(f, 'f', 1, 64) + unit
	}
	return sign + strconv.FormatFloat(f, 'f', 0, 64) + unit
}

// whole prints a number of jobs or producers: like count, but 3 and not 3.0.
func whole(v control.Value) string {
	f, ok := v.Get()
	if !ok {
		return absent
	}
	if r := math.Round(f); math.Abs(r) < 999.5 {
		return strconv.FormatFloat(r+0, 'f', 0, 64)
	}
	return countOf(f)
}

// percent prints a share 0..1 in at most four columns.
func percent(v control.Value) string {
	f, ok := v.Get()
	if !ok {
		return absent
	}
	switch {
	case f > 0 && f < 0.005:
		return "<1%"
	case f > 9.99:
		return ">999%"
	case f < -9.99:
		return "<-999%"
	}
	return strconv.FormatFloat(math.Round(f*100)+0, 'f', 0, 64) + "%"
}

// seconds prints a span in at most five columns, of 28 years and more in six: 0s,
// 2ms, 0.4s, 12s, 3m20, 5h02, 2d03. A span below zero is no span and prints as 0s.
func seconds(v control.Value) string {
	f, ok := v.Get()
	if !ok {
		return absent
	}
	switch {
	case f <= 0:
		return "0s"
	case f < 0.001:
		return "<1ms"
	case f < 0.0995:
		return strconv.FormatFloat(f*1000, 'f', 0, 64) + "ms"
	case f < 9.95:
		return strconv.FormatFloat(f, 'f', 1, 64) + "s"
	case f > 1e9:
		return ">31y"
	}
	return longSpan(int64(math.Round(f)))
}

func longSpan(s int64) string {
	switch {
	case s < 100:
		return strconv.FormatInt(s, 10) + "s"
	case s < 6000:
		return strconv.FormatInt(s/60, 10) + "m" + two(s%60)
	case s < 48*3600:
		return strconv.FormatInt(s/3600, 10) + "h" + two(s%3600/60)
	case s < 100*86400:
		return strconv.FormatInt(s/86400, 10) + "d" + two(s%86400/3600)
	}
	return strconv.FormatInt(s/86400, 10) + "d"
}

func two(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// age prints a duration as whole seconds and up, so that it changes at most
// once a second. Below zero is 0s.
func age(d time.Duration) string {
	if d < time.Second {
		return "0s"
	}
	return longSpan(int64(d / time.Second))
}

// gain prints a ratio of throughputs: x1.9.
func gain(v control.Value, times string) string {
	f, ok := v.Get()
	if !ok {
		return absent
	}
	if math.Abs(f) >= 99.95 {
		return times + countOf(f)
	}
	return times + strconv.FormatFloat(f, 'f', 1, 64)
}

// ofTotal prints n of m.
func ofTotal(n, m control.Value) string {
	if !n.OK() && !m.OK() {
		return absent
	}
	return orQuestion(n) + "/" + orQuestion(m)
}

func orQuestion(v control.Value) string {
	if !v.OK() {
		return "?"
	}
	return whole(v)
}

// shardCount prints a configured shard count, where 0 means unknown.
func shardCount(n int) string {
	if n <= 0 {
		return absent
	}
	return strconv.Itoa(n)
}
