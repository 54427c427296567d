package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

// moment is a point of time as a flag: RFC 3339, a date, or how long ago.
type moment struct{ of *control.Moment }

// Set reads one. A date is its midnight in UTC.
func (m moment) Set(text string) error {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			*m.of = control.Moment{At: at.UTC()}
			return nil
		}
	}
	var ago time.Duration
	rest := text
	if days, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return badMoment(text)
		}
		ago, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return badMoment(text)
		}
		ago += d
	}
	if ago <= 0 {
		return badMoment(text)
	}
	*m.of = control.Moment{Ago: ago}
	return nil
}

func badMoment(text string) error {
	return fmt.Errorf("%q is no time; write it as 2d, 90m, 2026-11-29 or 2026-11-29T18:30:00Z", text)
}

func (m moment) String() string {
	switch {
	case m.of == nil || *m.of == control.Moment{}:
		return ""
	case m.of.At.IsZero():
		return m.of.Ago.String()
	}
	return m.of.At.Format(time.RFC3339)
}

// Type is what a flag's value is called in the help.
func (m moment) Type() string { return "time" }
