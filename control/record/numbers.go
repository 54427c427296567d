package record

import (
	"bytes"
	"math"
	"strconv"

	"shardpilot/control"
)

// Ticks are arrays of numbers, null and such arrays, and most of a recording.
// They are written and read here; everything else is encoding/json's.

func appendInt(b []byte, n int64) []byte { return append(strconv.AppendInt(b, n, 10), ',') }

// appendExact keeps every bit of a number.
func appendExact(b []byte, v control.Value) []byte { return appendNumber(b, v, -1) }

// appendRound keeps six digits.
func appendRound(b []byte, v control.Value) []byte { return appendNumber(b, v, 6) }

func appendNumber(b []byte, v control.Value, digits int) []byte {
	f, ok := v.Get()
	if !ok {
		return append(b, "null,"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e6 {
		return appendInt(b, int64(f))
	}
	return append(strconv.AppendFloat(b, f, 'g', digits, 64), ',')
}

// closeArray ends an array whose elements each left a comma behind.
func closeArray(b []byte) []byte {
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// scanner reads such arrays. After a failure everything it gives is zero.
type scanner struct {
	b      []byte
	i      int
	failed bool
}

func (s *scanner) fail() { s.failed, s.i = true, len(s.b) }

// expect takes one byte.
func (s *scanner) expect(c byte) {
	if s.i >= len(s.b) || s.b[s.i] != c {
		s.fail()
		return
	}
	s.i++
}

// more stands after an element: true after a comma, false at the array's end,
// which it takes too.
func (s *scanner) more() bool {
	switch {
	case s.i >= len(s.b):
		s.fail()
	case s.b[s.i] == ',':
		s.i++
		return true
	case s.b[s.i] == ']':
		s.i++
	default:
		s.fail()
	}
	return false
}

// int is a whole number of up to 63 bits.
func (s *scanner) int() int64 {
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] == '-' || s.b[s.i]-'0' <= 9) {
		s.i++
	}
	n, err := strconv.ParseInt(string(s.b[from:s.i]), 10, 64)
	if err != nil {
		s.fail()
		return 0
	}
	return n
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// value is a number or null.
func (s *scanner) value() control.Value {
	from := s.i
	if from < len(s.b) && s.b[from] == 'n' {
		if len(s.b)-from < 4 || string(s.b[from:from+4]) != "null" {
			s.fail()
			return control.None()
		}
		s.i += 4
		return control.None()
	}
	// Up to 15 digits and a point: both parts are exact, and so is the quotient.
	var whole uint64
	digits, point := 0, -1
	for ; s.i < len(s.b); s.i++ {
		c := s.b[s.i]
		if c == '.' && point < 0 {
			point = digits
			continue
		}
		if c-'0' > 9 {
			break
		}
		whole = whole*10 + uint64(c-'0')
		if digits++; digits > 15 {
			return s.slow(from)
		}
	}
	switch {
	case s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == '-' || s.b[s.i] == '+'):
		return s.slow(from)
	case digits == 0:
		s.fail()
		return control.None()
	case point < 0:
		return control.Some(float64(whole))
	}
	return control.Some(float64(whole) / tens[digits-point])
}

// slow is value for numbers that need care.
func (s *scanner) slow(from int) control.Value {
	s.i = from
	for s.i < len(s.b) && s.i-from < 32 && s.b[s.i] != ',' && s.b[s.i] != ']' {
		s.i++
	}
	f, err := strconv.ParseFloat(string(s.b[from:s.i]), 64)
	if err != nil {
		s.fail()
		return control.None()
	}
	return control.Some(f)
}

// head is the first n values of an array that has more of them, into buf; the
// rest is passed over.
func (s *scanner) head(buf []control.Value, n int) []control.Value {
	buf = buf[:0]
	s.expect('[')
	for len(buf) < n {
		buf = append(buf, s.value())
		if !s.more() {
			return buf
		}
	}
	end := bytes.IndexByte(s.b[s.i:], ']')
	if end < 0 {
		s.fail()
		return buf
	}
	s.i += end + 1
	return buf
}

// row is an array of values, into buf.
func (s *scanner) row(buf []control.Value) []control.Value {
	buf = buf[:0]
	s.expect('[')
	for {
		buf = append(buf, s.value())
		if !s.more() {
			return buf
		}
	}
}
