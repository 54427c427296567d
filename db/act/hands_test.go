package act

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// contended is a desk with a crowd at one shard, and a process in shadow mode
// that has proposed the step to two.
func contended(t *testing.T, d *pgtest.DB) (k *desk, anna *pilot, stop func() rehearsal.Stats) {
	t.Helper()
	k = newDesk(t, d)
	_, stop = k.load(rehearsal.Spec{
		Queues:    []rehearsal.Queue{{Name: hot, Shards: 1}},
		Producers: []rehearsal.Producers{{Queue: hot, Application: "checkout", Count: 8, Hold: 20 * time.Millisecond, Spread: 8}},
		Workers:   []rehearsal.Workers{{Queues: []string{hot}, Count: 1}},
	})
	anna = k.hire("anna", brisk(), control.ModeShadow).settled()
	anna.allow(8, false)
	return k, anna, stop
}

// proposed waits for a pending step that the evidence still carries.
func (s *pilot) proposed() control.Pending {
	s.t.Helper()
	d, _ := s.await("a pending step", func(d control.Decision, _ control.Reading) bool { return d.Step != nil && d.Pending })
	return *d.Step
}

// same waits until a process knows the pending step and can judge it itself.
func (s *pilot) same(p control.Pending) {
	s.t.Helper()
	s.await("the same step", func(d control.Decision, r control.Reading) bool {
		return d.Step != nil && d.Step.Generation == p.Generation && r.Share.Or(0) > 0.5 && !hasBlocker(d, control.ReasonWarmUp) &&
			!hasBlocker(d, control.ReasonFewSamples) && !hasBlocker(d, control.ReasonGathering)
	})
}

type said struct {
	change *control.Change
	fault  string
}

// atOnce gives commands at the same moment, each by its process, and says how
// far apart they began.
func atOnce(t *testing.T, give ...func() (control.Result, error)) (out []said, apart time.Duration) {
	t.Helper()
	out = make([]said, len(give))
	began := make([]time.Time, len(give))
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, f := range give {
		all.Go(func() {
			<-begin
			began[i] = time.Now()
			res, err := f()
			out[i].change = res.Change
			var fault *control.Fault
			if errors.As(err, &fault) {
				out[i].fault = fault.What
			} else if err != nil {
				t.Errorf("no Fault: %v", err)
			}
		})
	}
	close(begin)
	all.Wait()
	first, last := began[0], began[0]
	for _, b := range began {
		if b.Before(first) {
			first = b
		}
		if b.After(last) {
			last = b
		}
	}
	return out, last.Sub(first)
}

// oneEffect finds the one that was applied; everybody else was told by whom,
// and both are in the log.
func oneEffect(t *testing.T, k *desk, names []string, got []said) (winner int) {
	t.Helper()
	winner = -1
	for i, g := range got {
		if g.change != nil && g.change.Outcome == control.OutcomeApplied {
			if winner >= 0 {
				t.Fatalf("two effects: %+v, %+v", *got[winner].change, *g.change)
			}
			winner = i
		}
	}
	if winner < 0 {
		t.Fatalf("no effect: %+v\n%s", got, k.changes())
	}
	won := got[winner].change
	if k.count() != won.To {
		t.Errorf("count %d after %d→%d", k.count(), won.From, won.To)
	}
	for i, g := range got {
		if i == winner {
			continue
		}
		told := g.fault
		if g.change != nil {
			if g.change.Outcome != control.OutcomeSuperseded {
				t.Errorf("%s: %+v", names[i], *g.change)
			}
			told = g.change.Detail
		}
		at := won.At.UTC().Format("15:04:05") // of either way to write it
		if !strings.Contains(told, names[winner]+"@desk") || !strings.Contains(told, at) {
			t.Errorf("%s was told %q, not that %s was faster at %s", names[i], told, names[winner], at)
		}
	}
	for _, name := range names {
		k.awaitLog("the attempt of "+name, func(e control.LogEntry) bool { return e.Kind == control.LogChange && e.Actor == name+"@desk" })
	}
	return winner
}

func TestTwoOperatorsWhoApproveAtOnceHaveOneEffect(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			k, anna, _ := contended(t, d)
			bea := k.hire("bea", brisk(), control.ModeShadow)
			step := anna.proposed()
			bea.same(step)
			approve := func(s *pilot) func() (control.Result, error) {
				return func() (control.Result, error) {
					return s.try(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1, Why: "it is time"})
				}
			}
			got, apart := atOnce(t, approve(anna), approve(bea))
			oneEffect(t, k, []string{"anna", "bea"}, got)
			t.Logf("%v apart\n%s", apart, k.changes())
		})
	}
}

func TestApproveAgainstOverrideHasOneEffect(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	k, anna, _ := contended(t, d)
	bea := k.hire("bea", brisk(), control.ModeShadow)
	step := anna.proposed()
	bea.same(step)
	got, _ := atOnce(t,
		func() (control.Result, error) {
			return anna.try(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1})
		},
		func() (control.Result, error) {
			return bea.try(control.Command{Verb: control.VerbOverride, From: 1, To: 4, Why: "an incident"})
		})
	oneEffect(t, k, []string{"anna", "bea"}, got)
	if n := scan[int](t, k.admin, `SELECT count(*)::int FROM shardpilot.pending WHERE queue = $1 AND generation = $2`, hot, step.Generation); n != 0 {
		t.Error("the step is still pending")
	}
	t.Log(k.changes())
}

func TestApprovalAfterTheEvidenceIsGoneIsSuperseded(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	k, anna, stop := contended(t, d)
	step := anna.proposed()
	stop()
	anna.await("calm", func(d control.Decision, r control.Reading) bool {
		return d.Step != nil && r.Waiters.Or(1) == 0 && r.Share.Or(0) == 0
	})
	time.Sleep(2 * anna.policy.FastWindow)
	res := anna.ask(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1, Why: "late"})
	if res.Change == nil || res.Change.Outcome != control.OutcomeSuperseded || !strings.Contains(res.Change.Detail, "needs") {
		t.Errorf("%+v", res.Change)
	}
	if k.count() != 1 {
		t.Errorf("count %d", k.count())
	}
	e := k.awaitLog("the approval", func(e control.LogEntry) bool { return e.Verb == control.VerbApprove })
	if e.Outcome != control.OutcomeSuperseded || e.Actor != "anna@desk" || e.Why != "late" || e.Pending != step.Generation {
		t.Errorf("%+v", e)
	}
	// Single use: not even forced.
	if _, err := anna.try(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1, Force: true}); err == nil || !strings.Contains(err.Error(), "anna@desk") {
		t.Errorf("the step was taken a second time: %v", err)
	}
}

func TestACountSetElsewhereBetweenDialogAndYesSupersedes(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	k, anna, _ := contended(t, d)
	step := anna.proposed()
	// The statement is on its way while the yes is: whoever comes second sees it.
	edit := func() {
		t.Helper()
		if err := rehearsal.Provision(within(t), k.admin, hot, 8); err != nil {
			t.Fatal(err)
		}
		if _, err := k.admin.Exec(within(t), `UPDATE awa.queue_meta SET enqueue_shards = 8 WHERE queue = $1`, hot); err != nil {
			t.Fatal(err)
		}
	}
	edit()
	res, err := anna.try(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1})
	told := ""
	switch {
	case err != nil: // the next reading was faster than the yes
		told = err.Error()
	case res.Change == nil || res.Change.Outcome != control.OutcomeSuperseded:
		t.Fatalf("%+v", res)
	default:
		told = res.Change.Detail
	}
	if !strings.Contains(told, "8") && !strings.Contains(told, "elsewhere") || k.count() != 8 {
		t.Errorf("count %d, told %q", k.count(), told)
	}
	adopted := k.awaitLog("the count from elsewhere", func(e control.LogEntry) bool { return e.Kind == control.LogAdopted })
	if adopted.From != 1 || adopted.To != 8 || adopted.Actor != "elsewhere" {
		t.Error(story(adopted))
	}
	if n := scan[int](t, k.admin, `SELECT count(*)::int FROM shardpilot.pending WHERE queue = $1 AND from_shards = 1`, hot); n != 0 {
		t.Error("the step from one shard is still pending")
	}
	t.Logf("%s\n%s", told, k.changes())
}

func TestAPinEndsAPendingStep(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	k, anna, _ := contended(t, d)
	bea := k.hire("bea", brisk(), control.ModeShadow)
	step := anna.proposed()
	bea.same(step)
	bea.ask(control.Command{Verb: control.VerbPin, From: 1, For: time.Hour, Why: "an audit"})
	// At once, before anna's process may have noticed.
	res, err := anna.try(control.Command{Verb: control.VerbApprove, Expect: step.Generation, From: 1})
	told := ""
	switch {
	case err != nil:
		told = err.Error()
	case res.Change == nil || res.Change.Outcome == control.OutcomeApplied:
		t.Fatalf("%+v", res.Change)
	default:
		told = res.Change.Detail
	}
	if !strings.Contains(told, "bea@desk") || k.count() != 1 {
		t.Errorf("count %d, told %q", k.count(), told)
	}
	pinned := k.awaitLog("the pin", func(e control.LogEntry) bool { return e.Verb == control.VerbPin })
	ended := k.awaitLog("the end of the step", func(e control.LogEntry) bool { return e.Pending == step.Generation && e.Kind != control.LogProposed })
	if pinned.Actor != "bea@desk" || pinned.Why != "an audit" || pinned.Until.Sub(pinned.At).Round(time.Minute) != time.Hour || ended.ID < pinned.ID {
		t.Errorf("%s\n%s", story(pinned), story(ended))
	}
	anna.await("the pin", func(d control.Decision, _ control.Reading) bool {
		return d.Step == nil && hasBlocker(d, control.ReasonPinned)
	})
	t.Logf("%s\n%s", told, story(ended))
}
