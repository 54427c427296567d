package control

import (
	"strings"
	"testing"
)

func TestTakeUpSaysHowManyAndHowThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		list []Producer
		want TakeUp
		how  string
	}{
		"nobody":   {nil, TakeUp{}, ""},
		"reported": {[]Producer{{State: AppliedOn, How: HowReported}, {State: AppliedStale, How: HowReported}}, TakeUp{On: 1, Stale: 1, Reported: 2}, "reported"},
		"inferred": {[]Producer{{State: AppliedUnknown, How: HowInferred}}, TakeUp{Unknown: 1, Inferred: 1}, "inferred"},
		"both": {[]Producer{{State: AppliedOn, How: HowReported}, {State: AppliedOn, How: HowInferred}, {State: AppliedStale, How: HowInferred}},
			TakeUp{On: 2, Stale: 1, Reported: 1, Inferred: 2}, "1 reported, 2 inferred"},
	} {
		if got := TakeUpOf(c.list); got != c.want || got.How() != c.how {
			t.Errorf("%s: %+v, %q", name, got, got.How())
		}
	}
}

func TestEachProducerIsNamedWithWhatMakesItSeeTheChange(t *testing.T) {
	for name, c := range map[string]struct {
		p     Producer
		named string
		says  string
	}{
		"reports an old count": {Producer{ID: "i-7", How: HowReported, State: AppliedStale, Shards: Some(1)}, "instance i-7", "restart it"},
		"reports this one":     {Producer{ID: "i-7", How: HowReported, State: AppliedOn, Shards: Some(4)}, "instance i-7", ""},
		"reported before":      {Producer{ID: "i-7", How: HowReported, State: AppliedUnknown}, "instance i-7", ""},
		"uses a lane too high": {Producer{ID: "10.0.0.7 app", Application: "app", Client: "10.0.0.7", How: HowInferred, State: AppliedStale, Shards: Some(8)}, "application app at 10.0.0.7", "No SQL producer does"},
		"never met the upper":  {Producer{ID: "10.0.0.7 ", Client: "10.0.0.7", How: HowInferred, State: AppliedStale, Shards: Some(1)}, "no application name, at 10.0.0.7", "enqueue_many_copy"},
		"hidden":               {Producer{ID: "(address hidden) app", Application: "app", How: HowInferred, State: AppliedStale}, "application app, address hidden", "Rust store"},
		"nothing known":        {Producer{ID: "(address hidden) ", How: HowInferred, State: AppliedUnknown}, "(address hidden) ", "shardpilot.producer"},
	} {
		if got := c.p.Name(); got != c.named {
			t.Errorf("%s: named %q, want %q", name, got, c.named)
		}
		if got := c.p.Remedy(4); !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}
