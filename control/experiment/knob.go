package experiment

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

// SetKnob sets a field of a policy by its name, in any case: durations as
// "90s", shares and counts as numbers. The policy is not validated. An unknown
// name or a value of the wrong kind is a *control.Fault of usage.
func SetKnob(p *control.Policy, name, value string) error {
	v := reflect.ValueOf(p).Elem()
	var field reflect.Value
	var names []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if strings.EqualFold(f.Name, name) {
			field, name = v.Field(i), f.Name
		}
		names = append(names, f.Name)
	}
	var err error
	switch {
	case !field.IsValid():
		return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("there is no threshold named %q", name), Hint: "Thresholds are " + strings.Join(names, ", ")}
	case field.Type() == reflect.TypeFor[time.Duration]():
		var d time.Duration
		d, err = time.ParseDuration(value)
		field.SetInt(int64(d))
	case field.Kind() == reflect.Int:
		var n int
		n, err = strconv.Atoi(value)
		field.SetInt(int64(n))
	default:
		var f float64
		f, err = strconv.ParseFloat(value, 64)
		field.SetFloat(f)
	}
	if err != nil {
		return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("%q is no value for %s", value, name), Hint: "Durations are like 90s, everything else is a number", Err: err}
	}
	return nil
}

// Knob reads a field of a policy by its name, "" for an unknown one.
func Knob(p control.Policy, name string) string {
	f := reflect.ValueOf(p).FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
	if !f.IsValid() {
		return ""
	}
	return fmt.Sprint(f.Interface())
}
