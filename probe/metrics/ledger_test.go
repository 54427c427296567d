package metrics

import (
	"testing"
	"time"

	"shardpilot/control"
)

func TestTheLogIsCountedFromTheStartOnAndEachEntryOnce(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	server := func(d time.Duration) time.Time { return c.now().Add(skew + d) }
	old := control.LogEntry{ID: 1, At: server(-time.Hour), Kind: control.LogChange, Queue: "orders", From: 1, To: 2,
		Outcome: control.OutcomeApplied, Actor: "controller", Reason: control.ReasonContended}
	e := c.tick(seen(time.Time{}, "orders", 1))
	fresh := old
	fresh.ID, fresh.At, fresh.Actor, fresh.Reason, fresh.To, fresh.From = 2, e.Snapshot.At, "ada@bastion", control.ReasonOverride, 1, 2
	e.Entries = []control.LogEntry{old, fresh}
	m.Observe(e)
	e = c.tick(seen(time.Time{}, "orders", 1))
	e.Entries = []control.LogEntry{old, fresh} // handed out again
	m.Observe(e)
	got := scraped(t, m)
	got.want(t, `shardpilot_changes_total{action="shrink",actor="operator",outcome="applied",reason="override"}`, 1)
	if n := got.sum(changes); n != 1 {
		t.Errorf("%v changes are counted", n)
	}
	got.want(t, `shardpilot_log_entries_total{kind="change"}`, 1)
	got.want(t, `shardpilot_queue_last_change_timestamp_seconds{queue="orders"}`, float64(fresh.At.UnixMilli())/1000)
}

func TestTheFirstChangeOfItsKindShowsAsARise(t *testing.T) {
	for name, e := range map[string]control.LogEntry{
		"grown":                 {From: 1, To: 2, Outcome: control.OutcomeApplied, Reason: control.ReasonContended},
		"a shrink taken back":   {From: 1, To: 2, Outcome: control.OutcomeApplied, Reason: control.ReasonRevert},
		"lanes not drained":     {From: 2, To: 1, Outcome: control.OutcomeRefused, Reason: control.ReasonNotDrained},
		"changed meanwhile":     {From: 1, To: 2, Outcome: control.OutcomeSuperseded, Reason: control.ReasonSuperseded},
		"could not be written":  {From: 1, To: 2, Outcome: control.OutcomeFailed, Reason: control.ReasonRetry},
		"the gate did not come": {From: 2, To: 1, Outcome: control.OutcomeFailed, Reason: control.ReasonCalm},
	} {
		c := newClock()
		m := made(c, 10)
		m.Observe(c.tick(seen(time.Time{}, "orders", 1)))
		before := scraped(t, m)
		happened := c.tick(seen(time.Time{}, "orders", 1))
		e.ID, e.At, e.Kind, e.Queue, e.Actor = 1, happened.Snapshot.At, control.LogChange, "orders", "controller"
		happened.Entries = []control.LogEntry{e}
		m.Observe(happened)
		after := scraped(t, m)
		rose := 0
		for _, key := range after.named(changes) {
			was, there := before[key]
			if !there {
				t.Errorf("%s: %s was not there before", name, key)
			}
			if after[key] == was+1 {
				rose++
			}
		}
		if rose != 1 {
			t.Errorf("%s: %d series rose", name, rose)
		}
	}
}

func TestAChangeThatWasNotAppliedIsNoLastChange(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.tick(seen(time.Time{}, "orders", 1))
	for i, o := range []control.Outcome{control.OutcomeRefused, control.OutcomeSuperseded, control.OutcomeFailed} {
		e.Entries = append(e.Entries, control.LogEntry{ID: int64(i + 1), At: e.Snapshot.At, Kind: control.LogChange, Queue: "orders",
			From: 1, To: 2, Outcome: o, Actor: "controller", Reason: control.ReasonNoLanes})
	}
	m.Observe(e)
	got := scraped(t, m)
	if keys := got.named(lastChange); len(keys) > 0 {
		t.Errorf("%v though nothing was changed", keys)
	}
	if n := got.sum(changes); n != 3 {
		t.Errorf("%v changes are counted", n)
	}
}

func TestACountAdoptedFromElsewhereIsAChange(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.tick(seen(time.Time{}, "orders", 1))
	e.Entries = []control.LogEntry{{ID: 1, At: e.Snapshot.At, Kind: control.LogAdopted, Queue: "orders", From: 2, To: 8,
		Actor: "elsewhere", Reason: control.ReasonAdopted}}
	m.Observe(e)
	got := scraped(t, m)
	got.want(t, `shardpilot_changes_total{action="grow",actor="elsewhere",outcome="applied",reason="changed_elsewhere"}`, 1)
	if keys := got.named(lastChange); len(keys) != 1 {
		t.Errorf("last changes: %v", keys)
	}
}

func TestWordsFromANewerLogDoNotMakeNewLabels(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	e := c.tick(seen(time.Time{}, "orders", 1))
	for i := range 50 {
		word := string(rune('a' + i%26))
		for _, kind := range []control.LogKind{control.LogDecision, control.LogChange, control.LogVerdict, control.LogKind(word)} {
			e.Entries = append(e.Entries, control.LogEntry{ID: int64(len(e.Entries) + 1), At: e.Snapshot.At, Kind: kind, Queue: "orders",
				Mode: control.Mode(word), Action: control.Action(word), Reason: control.Reason(word), Outcome: control.Outcome(word),
				Verdict: control.Verdict(word), Actor: word + "@host", From: 1, To: 2})
		}
	}
	m.Observe(e)
	got := scraped(t, m)
	got.want(t, `shardpilot_decisions_total{action="other",mode="other",reason="other"}`, 50)
	got.want(t, `shardpilot_changes_total{action="grow",actor="operator",outcome="other",reason="other"}`, 50)
	got.want(t, `shardpilot_verifications_total{result="other"}`, 50)
	got.want(t, `shardpilot_log_entries_total{kind="other"}`, 50)
}

func TestDroppedEventsAreCountedAndNeverGoBack(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	for _, n := range []int{0, 3, 3, 1} { // a new subscription begins at 0 again
		e := c.tick()
		e.Dropped = n
		m.Observe(e)
	}
	scraped(t, m).want(t, `shardpilot_events_dropped_total`, 3)
}

// TestALogThatWasMadeAnewIsCountedOn: its numbers begin again at 1.
func TestALogThatWasMadeAnewIsCountedOn(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	entry := func(id int64, at time.Time) control.LogEntry {
		return control.LogEntry{ID: id, At: at, Kind: control.LogAct, Queue: "orders", Actor: "ada@bastion"}
	}
	put := func(ids ...int64) {
		e := c.tick(seen(time.Time{}, "orders", 1))
		for _, id := range ids {
			e.Entries = append(e.Entries, entry(id, e.Snapshot.At))
		}
		m.Observe(e)
	}
	acts := func(want float64) {
		t.Helper()
		scraped(t, m).want(t, `shardpilot_log_entries_total{kind="act"}`, want)
	}
	put(40, 41)
	acts(2)
	put(1, 2) // uninstalled and installed again
	acts(4)
	put(3)
	acts(5)
	e := c.tick(seen(time.Time{}, "orders", 1))
	e.Entries = []control.LogEntry{entry(2, e.Snapshot.At.Add(-time.Minute)), entry(3, e.Snapshot.At.Add(-time.Minute))}
	m.Observe(e) // handed out again
	acts(5)
}

// TestAFirstLookThatHangsAges: before any reading the age is that of the process.
func TestAFirstLookThatHangsAges(t *testing.T) {
	c := newClock()
	m := made(c, 10)
	c.move(45 * time.Second)
	got := scraped(t, m)
	got.want(t, `shardpilot_snapshot_age_seconds`, 45)
	if keys := got.named(databaseUp); len(keys) > 0 {
		t.Errorf("%v is shown before the first event", keys)
	}
}
