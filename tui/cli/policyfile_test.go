package cli

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func policyFrom(name, text string) (control.Rules, error) {
	return ReadPolicy(name, func(path string) ([]byte, error) {
		if path != name {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	})
}

func TestAPolicyFileIsReadAsTOMLOrJSON(t *testing.T) {
	fromTOML, err := policyFrom("p.toml", "GrowShare = 0.3\nGrowWindow = '3m'\nReversals = 2\nGrowWaiters = 2\n[queue.orders]\nGrowShare = 0.4\n[queue.'a b']\n")
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, err := policyFrom("p.json", `{"GrowShare": 0.3, "GrowWindow": "3m", "Reversals": 2, "GrowWaiters": 2, "queue": {"orders": {"GrowShare": 0.4}, "a b": {}}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := control.Rules{Policy: control.DefaultPolicy()}
	want.Policy.GrowShare, want.Policy.GrowWindow, want.Policy.Reversals, want.Policy.GrowWaiters = 0.3, 3*time.Minute, 2, 2
	orders := want.Policy
	orders.GrowShare = 0.4
	want.Queues = map[string]control.Policy{"orders": orders, "a b": want.Policy}
	for name, got := range map[string]control.Rules{"TOML": fromTOML, "JSON": fromJSON} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", name, got.Changes(want))
		}
	}
	if none, err := ReadPolicy("", nil); err != nil || len(none.Changes(control.Rules{Policy: control.DefaultPolicy()})) > 0 {
		t.Errorf("without a file: %v", err)
	}
}

func TestEverythingWrongInAPolicyFileIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		says       []string
	}{
		{"p.toml", "GrowShare = 2\nFoo = 1\nDamp = 30\nReversals = 1.5\nPeriod = '2s'\nGrowGain = 'x'\n[queue.orders]\nWarmUp = '1m'\nSkewShare = 0.1\n",
			[]string{"GrowShare is 2, must be", `no number "Foo"`, "Damp is 30, want a duration", "Reversals is 1.5, want a whole", `no number "Period"`, "GrowGain is x, want a number",
				`queue "orders": WarmUp is the same for all`, `queue "orders": SkewShare is 0.1, must be`}},
		{"p.toml", "GrowShare = 0.3\nGrowShare = ", []string{"line 2"}},
		{"p.toml", "queue = 3", []string{"queue is no table"}},
		{"p.json", "{", []string{"cannot be used"}},
		{"p.json", `{"queue": {"orders": 1}}`, []string{`queue "orders" is no table`}},
	} {
		_, err := policyFrom(c.name, c.text)
		var f *control.Fault
		if !errors.As(err, &f) || f.Kind != control.FaultUsage || f.Hint == "" {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(f.What, says) {
				t.Errorf("%q: it does not say %q:\n%s", c.text, says, f.What)
			}
		}
	}
	if _, err := policyFrom("there", ""); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	var f *control.Fault
	if _, err := ReadPolicy("elsewhere", func(string) ([]byte, error) { return nil, os.ErrNotExist }); !errors.As(err, &f) || f.Kind != control.FaultUsage {
		t.Errorf("a file that is not there: %v", err)
	}
}
