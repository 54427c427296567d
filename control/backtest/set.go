package backtest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

// Change is one threshold set to another value.
type Change struct {
	Field string `json:"field"` // a field of control.Policy, or Max
	Was   string `json:"was"`   // "" for Max, which each queue has its own of
	Now   string `json:"now"`
	apply func(*rules)
}

// rules are what a controller decides by.
type rules struct {
	policy control.Policy
	max    int // of queues in auto mode, 0 for their own
}

// maxField is the one threshold that belongs to queues.
const maxField = "Max"

// ParseChanges reads name=value, with the names of control.Policy in any case,
// with or without - and _ between words, or max. Durations are as the
// documentation has them: they are divided by the pace, as the recording's are.
// Errors are usage Faults.
func ParseChanges(base control.Policy, pace float64, settings []string) ([]Change, error) {
	var out []Change
	for _, s := range settings {
		name, value, found := strings.Cut(s, "=")
		if !found {
			return nil, usage(fmt.Sprintf("%q sets nothing", s), "write it as GrowShare=0.3")
		}
		c, err := parseChange(base, pace, name, strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Change) bool { return o.Field == c.Field }) {
			return nil, usage(c.Field+" is set twice", "set it once")
		}
		out = append(out, c)
	}
	r := rules{policy: base}
	for _, c := range out {
		c.apply(&r)
	}
	if err := r.policy.Validate(); err != nil {
		var f *control.Fault
		if errors.As(err, &f) {
			f.Hint = "these are the recording's values and yours together; durations are divided by its pace, " + strconv.FormatFloat(pace, 'g', -1, 64)
		}
		return nil, err
	}
	return out, nil
}

func usage(what, hint string) error {
	return &control.Fault{Kind: control.FaultUsage, What: what, Hint: hint}
}

func plain(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
}

func parseChange(base control.Policy, pace float64, name, value string) (Change, error) {
	if plain(name) == plain(maxField) {
		n, err := strconv.Atoi(value)
		if err != nil || n < control.MinMax || n > control.MaxMax {
			return Change{}, usage(fmt.Sprintf("max is %q", value), fmt.Sprintf("it must be %d to %d", control.MinMax, control.MaxMax))
		}
		return Change{Field: maxField, Now: value, apply: func(r *rules) { r.max = n }}, nil
	}
	t := reflect.TypeFor[control.Policy]()
	for i := range t.NumField() {
		f := t.Field(i)
		if plain(f.Name) != plain(name) {
			continue
		}
		was := reflect.ValueOf(base).Field(i)
		now, err := parseAs(f.Type, pace, value)
		if err != nil {
			return Change{}, usage(fmt.Sprintf("%s is %q", f.Name, value), err.Error())
		}
		return Change{Field: f.Name, Was: fmt.Sprint(was.Interface()), Now: fmt.Sprint(now.Interface()),
			apply: func(r *rules) { reflect.ValueOf(&r.policy).Elem().Field(i).Set(now) }}, nil
	}
	return Change{}, usage(fmt.Sprintf("there is no threshold %q", name), "docs/configuration.md lists them under The controller's numbers; max is one too")
}

func parseAs(t reflect.Type, pace float64, value string) (reflect.Value, error) {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(value)
		if err != nil {
			return reflect.Value{}, errors.New("it is a duration, such as 90s or 2m")
		}
		return reflect.ValueOf(time.Duration(float64(d) / max(pace, 1))), nil
	case t.Kind() == reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return reflect.Value{}, errors.New("it is a whole number")
		}
		return reflect.ValueOf(n), nil
	default:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return reflect.Value{}, errors.New("it is a number; shares are 0 to 1")
		}
		return reflect.ValueOf(f), nil
	}
}
