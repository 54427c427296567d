package act

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// standing is how many producers, by name, are in each state.
func standing(r control.Reading) map[control.AppliedState][]string {
	by := map[control.AppliedState][]string{}
	for _, p := range r.ProducerList {
		by[p.State] = append(by[p.State], p.ID)
	}
	return by
}

func names(application string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s-%d", application, i+1))
	}
	return list
}

func TestProducersThatReportAreOnTheCountAtOnceOrStaleUntilTold(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	k := newDesk(t, d)
	r, _ := k.load(rehearsal.Spec{
		Queues: []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{
			{Queue: hot, Application: "reads", Count: 4, Hold: 10 * time.Millisecond, Report: true},
			{Queue: hot, Application: "keeps", Count: 4, Hold: 10 * time.Millisecond, Report: true, CacheShards: true},
		},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1}},
	})
	anna := k.hire("anna", brisk(), control.ModeShadow).settled()
	anna.allow(8, false)
	anna.await("8 of 8 on 1", nOfM(1, 8, 8))
	res := anna.ask(control.Command{Verb: control.VerbOverride, From: 1, To: 4, Why: "a test"})
	if res.Change == nil || res.Change.Outcome != control.OutcomeApplied {
		t.Fatalf("%+v", res)
	}
	d1, got := anna.await("4 of 8 on 4, 4 stale", func(d control.Decision, r control.Reading) bool {
		return nOfM(4, 4, 8)(d, r) && r.Stale == 4 // a report from just before the change is no word on it
	})
	by := standing(got)
	if !slices.Equal(by[control.AppliedOn], names("reads", 4)) || !slices.Equal(by[control.AppliedStale], names("keeps", 4)) || got.Stale != 4 {
		t.Errorf("on 4: %v", by)
	}
	for _, p := range got.ProducerList {
		if p.State == control.AppliedStale && (p.How != "reported" || p.Shards.Or(0) != 1 || !strings.Contains(p.Detail, "reports 1, 4 is configured")) {
			t.Errorf("stale without its reason: %+v", p)
		}
	}
	anna.await("growth held back for the stale ones", func(d control.Decision, _ control.Reading) bool {
		return hasBlocker(d, control.ReasonStaleProducers)
	})
	time.Sleep(4 * time.Second) // longer than a report takes: nobody tells them, so they stay
	if _, now, _ := anna.newest(); now.Stale != 4 || now.Applied.Or(0) != 4 {
		t.Errorf("without being told: %v", standing(now))
	}
	r.Told()
	_, told := anna.await("8 of 8 on 4", nOfM(4, 8, 8))
	if told.Stale != 0 {
		t.Errorf("told: %v", standing(told))
	}
	t.Logf("%d blockers while stale, first %v", len(d1.Blockers), d1.Blockers[0])
}

func nOfM(shards, on, all int) func(control.Decision, control.Reading) bool {
	return func(_ control.Decision, r control.Reading) bool {
		return r.Shards == shards && r.Applied.Or(-1) == float64(on) && r.Producers.Or(-1) == float64(all)
	}
}

func TestSilentProducersAreInferredByTheLanesTheyPick(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	k := newDesk(t, d)
	r, _ := k.load(rehearsal.Spec{
		Queues: []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{
			{Queue: hot, Application: "reads", Count: 6, Hold: 10 * time.Millisecond, Spread: 4},
			{Queue: hot, Application: "keeps", Count: 6, Hold: 10 * time.Millisecond, CacheShards: true},
		},
		Workers: []rehearsal.Workers{{Queues: []string{hot}, Count: 1}},
	})
	anna := k.hire("anna", brisk(), control.ModeShadow).settled()
	anna.allow(8, false)
	anna.await("both groups", func(_ control.Decision, r control.Reading) bool { return r.Producers.Or(0) == 2 })
	anna.ask(control.Command{Verb: control.VerbOverride, From: 1, To: 4, Why: "a test"})
	state := func(r control.Reading, application string) control.Producer {
		i := slices.IndexFunc(r.ProducerList, func(p control.Producer) bool { return strings.HasSuffix(p.ID, " "+application) })
		if i < 0 {
			return control.Producer{}
		}
		return r.ProducerList[i]
	}
	_, got := anna.await("reads on, keeps stale", func(_ control.Decision, r control.Reading) bool {
		return r.Shards == 4 && state(r, "reads").State == control.AppliedOn && state(r, "keeps").State == control.AppliedStale
	})
	on, stale := state(got, "reads"), state(got, "keeps")
	if on.How != "inferred" || stale.How != "inferred" || !strings.HasPrefix(on.ID, "127.0.0.1 ") && !strings.HasPrefix(on.ID, "local ") ||
		!strings.Contains(stale.Detail, "never met shard 1 or above") || got.Applied.Or(0) != 1 || got.Producers.Or(0) != 2 {
		t.Errorf("%+v\n%+v", on, stale)
	}
	r.Told()
	anna.await("keeps on", func(_ control.Decision, r control.Reading) bool {
		return state(r, "keeps").State == control.AppliedOn && r.Stale == 0 && r.Applied.Or(0) == 2
	})

	// Down again: now the lane they use gives the cached ones away.
	if res := anna.ask(control.Command{Verb: control.VerbOverride, From: 4, To: 1, Force: true, Why: "a test"}); res.Change.Outcome != control.OutcomeApplied {
		t.Fatalf("%+v", res.Change)
	}
	_, low := anna.await("proof of the stale ones", func(_ control.Decision, r control.Reading) bool {
		return r.Shards == 1 && state(r, "keeps").State == control.AppliedStale && state(r, "reads").State != control.AppliedStale
	})
	if p := state(low, "keeps"); !strings.Contains(p.Detail, "which a count of 1 does not have") {
		t.Errorf("%+v", p)
	}
	r.Told()
	anna.await("nobody stale", func(_ control.Decision, r control.Reading) bool { return r.Shards == 1 && r.Stale == 0 })
}
