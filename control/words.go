package control

import (
	"math"
	"strconv"
	"time"
)

// Details are built from these; they leave out fmt, since ten thousand queues
// explain themselves once a second.

// needs is "name have, needs want" with as many digits as tell the two apart.
func needs(name string, have Value, word string, want float64) string {
	b := append(make([]byte, 0, 64), name...)
	b = append(b, ' ')
	v, ok := have.Get()
	if !ok {
		b = append(b, "n/a, needs "...)
	} else {
		digits := 2
		for digits < 6 && v != want && math.Abs(v-want) < 0.01 && strconv.FormatFloat(v, 'f', digits, 64) == strconv.FormatFloat(want, 'f', digits, 64) {
			digits++
		}
		b = strconv.AppendFloat(b, v, 'f', digits, 64)
		b = append(b, ", needs "...)
	}
	b = append(b, word...)
	return string(strconv.AppendFloat(b, want, 'f', -1, 64))
}

// span is a duration to the second, "1h30m", "2m5s".
func span(d time.Duration) string {
	if d >= time.Second || d <= -time.Second {
		d = d.Round(time.Second)
	} else {
		d = d.Round(time.Millisecond)
	}
	s := d.String()
	if len(s) > 3 && s[len(s)-3:] == "m0s" {
		s = s[:len(s)-2]
	}
	if len(s) > 3 && s[len(s)-3:] == "h0m" {
		s = s[:len(s)-2]
	}
	return s
}

func two(v Value) string {
	f, ok := v.Get()
	if !ok {
		return "n/a"
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + "%" }

// Plural counts things whose name takes an s.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func arrow(from, to int) string { return strconv.Itoa(from) + " → " + strconv.Itoa(to) }

// wait is a blocker that gives way by itself.
func wait(rule Reason, what string, until, now time.Time) Blocker {
	return Blocker{Rule: rule, Detail: what + ", another " + span(until.Sub(now)), Until: until}
}
