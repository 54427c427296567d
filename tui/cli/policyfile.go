package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"shardpilot/control"
)

// wide are the numbers that cannot differ between queues: they are of the
// database, of its clock, or of what is measured. Period is the process's own.
var wide = []string{"Batch", "WarmUp", "ClockStep", "DatabaseChanges", "DatabaseSpan"}

const queueTable = "queue"

// ReadPolicy reads a policy file, JSON when its name ends in .json and TOML
// otherwise: the controller's numbers by name, and in [queue.NAME] those of
// single queues. What is not in it is as by default. Its errors are
// *control.Fault of kind FaultUsage and name everything that is wrong.
func ReadPolicy(path string, read func(path string) ([]byte, error)) (control.Rules, error) {
	rules := control.Rules{Policy: control.DefaultPolicy(), Queues: map[string]control.Policy{}}
	if path == "" {
		return rules, nil
	}
	text, err := read(path)
	if err != nil {
		return rules, &control.Fault{Kind: control.FaultUsage, What: "the policy file cannot be read: " + err.Error(), Hint: "name another with --policy", Err: err}
	}
	tree, err := parsePolicy(path, text)
	if err != nil {
		return rules, badPolicy(path, err.Error())
	}
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if name == queueTable {
			continue // what it is laid over must be complete
		}
		if err := setNumber(&rules.Policy, name, tree[name]); err != nil {
			bad = append(bad, err.Error())
		}
	}
	tables, ok := tree[queueTable].(map[string]any)
	if _, there := tree[queueTable]; there && !ok {
		bad = append(bad, "queue is no table; the numbers of a queue go into [queue.NAME]")
	}
	for _, queue := range slices.Sorted(maps.Keys(tables)) {
		numbers, ok := tables[queue].(map[string]any)
		if !ok {
			bad = append(bad, fmt.Sprintf("queue %q is no table", queue))
		}
		own := rules.Policy
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			err := setNumber(&own, name, numbers[name])
			if slices.Contains(wide, name) {
				err = errors.New(name + " is the same for all queues")
			}
			if err != nil {
				bad = append(bad, fmt.Sprintf("queue %q: %v", queue, err))
			}
		}
		rules.Queues[queue] = own
	}
	var fields control.BadFields
	if errors.As(rules.Validate(), &fields) {
		bad = append(bad, fields...)
	}
	if bad != nil {
		return rules, badPolicy(path, bad...)
	}
	return rules, nil
}

func badPolicy(path string, bad ...string) error {
	return &control.Fault{Kind: control.FaultUsage, What: "the policy file " + path + " cannot be used: " + strings.Join(bad, "; "),
		Hint: "docs/configuration.md lists the controller's numbers with their ranges; durations are written \"90s\" or \"2h\""}
}

func parsePolicy(path string, text []byte) (tree map[string]any, err error) {
	if filepath.Ext(path) == ".json" {
		err = json.Unmarshal(text, &tree)
		return tree, err
	}
	if err = toml.Unmarshal(text, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ := at.Position()
			err = fmt.Errorf("line %d: %s", line, strings.TrimPrefix(err.Error(), "toml: "))
		}
	}
	return tree, err
}

// setNumber gives a field of a policy what a file says of it.
func setNumber(p *control.Policy, name string, value any) error {
	field := reflect.ValueOf(p).Elem().FieldByName(name)
	if !field.IsValid() || name == "Period" {
		return fmt.Errorf("there is no number %q to set", name)
	}
	if _, is := field.Interface().(time.Duration); is {
		s, _ := value.(string)
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%s is %v, want a duration such as \"90s\"", name, value)
		}
		field.SetInt(int64(d))
		return nil
	}
	var number float64
	switch v := value.(type) {
	case int64:
		number = float64(v)
	case float64:
		number = v
	default:
		return fmt.Errorf("%s is %v, want a number", name, value)
	}
	if field.CanFloat() {
		field.SetFloat(number)
		return nil
	}
	if number != math.Trunc(number) || math.Abs(number) > 1e9 {
		return fmt.Errorf("%s is %v, want a whole number", name, value)
	}
	field.SetInt(int64(number))
	return nil
}
