package control

import "strconv"

// The ways in which it is known on which count a producer works.
const (
	HowReported = "reported" // it says so itself, in shardpilot.producer
	HowInferred = "inferred" // from the lanes that its sessions lock
)

// TakeUp is how the producers of a queue stand to its configured count.
type TakeUp struct {
	On       int `json:"on"`
	Stale    int `json:"stale"`
	Unknown  int `json:"unknown"`
	Reported int `json:"reported"` // of all of them, those that say so themselves
	Inferred int `json:"inferred"` // and those known by what they do
}

// TakeUpOf counts a reading's producers.
func TakeUpOf(list []Producer) TakeUp {
	var t TakeUp
	for _, p := range list {
		switch p.State {
		case AppliedOn:
			t.On++
		case AppliedStale:
			t.Stale++
		case AppliedUnknown:
			t.Unknown++
		}
		if p.How == HowReported {
			t.Reported++
		} else {
			t.Inferred++
		}
	}
	return t
}

// How says how the counting is known, "" when nobody is counted.
func (t TakeUp) How() string {
	switch {
	case t.Reported > 0 && t.Inferred > 0:
		return strconv.Itoa(t.Reported) + " " + HowReported + ", " + strconv.Itoa(t.Inferred) + " " + HowInferred
	case t.Reported > 0:
		return HowReported
	case t.Inferred > 0:
		return HowInferred
	}
	return ""
}

// Name is a producer by what an operator can find it with: raw, make it safe
// before showing it.
func (p Producer) Name() string {
	switch {
	case p.How == HowReported:
		return "instance " + p.ID
	case p.Application == "" && p.Client == "":
		return p.ID
	case p.Client == "":
		return "application " + p.Application + ", address hidden"
	case p.Application == "":
		return "no application name, at " + p.Client
	}
	return "application " + p.Application + " at " + p.Client
}

// SeesChange says what makes each kind of producer see a changed count.
var SeesChange = []string{
	"SQL producers, and every other insert, see it at their next call.",
	"Rust stores keep the old count until they are restarted.",
	"Workers promote, retry and age by the count of their start; restart the maintenance leader first.",
	"Python enqueue_many_copy reads it at each call, but unkeyed batches for one lane always land on shard 0.",
}

// Remedy says what makes a producer see the configured count, "" when it does
// already or nothing is to be done.
func (p Producer) Remedy(configured int) string {
	works, known := p.Shards.Get()
	switch {
	case p.State == AppliedUnknown && p.How == HowInferred:
		return "Nothing proves either; a producer that reports itself in shardpilot.producer is known at once."
	case p.State != AppliedStale:
		return ""
	case p.How == HowReported:
		return "It reports the count it works with: restart it, or have it read the count again and report."
	case known && int(works) > configured:
		return "It keeps an older count, as a Rust store or a worker does until it is restarted. No SQL producer does."
	}
	return "A Rust store or a worker keeps an older count until it is restarted. One ordering key, or Python enqueue_many_copy without keys, stays on one lane whatever the count: a restart does not help those."
}
