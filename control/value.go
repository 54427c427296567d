package control

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Value is a measured number that may be absent. The zero Value is absent.
// NaN and infinities are never held: Some turns them into an absent Value, so
// a division by nothing cannot reach a screen or a rule as a number.
type Value struct {
	v  float64
	ok bool
}

// Some is a present Value, or an absent one when v is NaN or infinite.
func Some(v float64) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Value{}
	}
	return Value{v: v, ok: true}
}

// None is the absent Value.
func None() Value { return Value{} }

// Get returns the number and whether it is there.
func (v Value) Get() (float64, bool) { return v.v, v.ok }

// OK says whether the number is there.
func (v Value) OK() bool { return v.ok }

// Or returns the number, or fallback when it is absent.
func (v Value) Or(fallback float64) float64 {
	if !v.ok {
		return fallback
	}
	return v.v
}

// String prints the number with the fewest digits that identify it, or "n/a".
func (v Value) String() string {
	if !v.ok {
		return "n/a"
	}
	return strconv.FormatFloat(v.v, 'g', -1, 64)
}

// MarshalJSON writes the number, or null when it is absent.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.ok {
		return []byte("null"), nil
	}
	return json.Marshal(v.v)
}

// UnmarshalJSON reads a number or null.
func (v *Value) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*v = Value{}
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*v = Some(f)
	return nil
}
