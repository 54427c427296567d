package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, as a flag: 512MiB, 1.5GiB, or plain bytes.
type Size int64

var units = []struct {
	name  string
	bytes float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// Set reads a size.
func (s *Size) Set(text string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0 && n*u.bytes < math.MaxInt64/2) {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is no size; write it as 512MiB or 2GiB", text)
}

// String writes a size with the largest unit that leaves a number above one.
func (s Size) String() string {
	for _, u := range units {
		if n := float64(s) / u.bytes; n >= 1 {
			return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + u.name
		}
	}
	return "0"
}

// Type is what a flag's value is called in the help.
func (s *Size) Type() string { return "size" }
