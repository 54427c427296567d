package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

func event() control.Event {
	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.FixedZone("NPT", 5*3600+45*60))
	return control.Event{At: at, Snapshot: &control.Snapshot{At: at, Readings: []control.Reading{
		{At: at, Queue: "orders", Shards: 2, Waiters: control.Some(6.1), Holders: control.Some(1.9), Share: control.Some(0.76),
			ShareLow: control.Some(0.71), ShareHigh: control.Some(0.80), Bottleneck: control.BottleneckLane, Inside: control.Some(8),
			EnqueueRate: control.Some(210.4), WaitPerEnqueueS: control.Some(0.029), Depth: control.Some(120), LagS: control.Some(0.4),
			Applied: control.Some(16), Producers: control.Some(16),
			Lanes: []control.LaneReading{{Priority: 2, Shard: 0, Waiters: control.Some(3), Busy: control.Some(0.97), Depth: control.Some(61), LagS: control.Some(0.4)}}},
		{At: at, Queue: "evil\x1b]0;x\a\nname", Bottleneck: control.BottleneckNone},
	}}, Decisions: []control.Decision{{At: at, Queue: "orders", Mode: control.ModeShadow, Action: control.ActionGrow, From: 2, To: 4,
		Reason: "contended", Detail: "share 0.76", PredictedGain: control.Some(1.9), Pending: true}}}
}

func TestJSONLinesKeepTheContractsFields(t *testing.T) {
	var out bytes.Buffer
	s := JSONStream(&out)
	if err := s.Event(event()); err != nil {
		t.Fatal(err)
	}
	if err := s.Summary(Summary{Enqueued: 5}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("got %d lines, want 4:\n%s", len(lines), out.String())
	}
	want := map[string][]string{
		"reading": {"at", "queue", "shards", "waiters", "holders", "share", "share_low", "share_high", "bottleneck", "inside",
			"enqueue_rate", "wait_per_enqueue_s", "depth", "lag_s", "applied", "producers", "lanes"},
		"decision": {"at", "queue", "mode", "action", "from", "to", "reason", "detail", "blockers", "predicted_gain", "pending"},
		"summary":  {"enqueued", "completed", "errors", "changes", "reversals"},
	}
	for _, line := range lines {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, field := range want[m["type"].(string)] {
			if _, ok := m[field]; !ok {
				t.Errorf("a %s line lacks %s: %s", m["type"], field, line)
			}
		}
		if at, ok := m["at"].(string); ok && !strings.HasSuffix(at, "Z") {
			t.Errorf("at is not UTC: %s", at)
		}
	}
}

func TestAbsentIsNullInJSONAndNAInText(t *testing.T) {
	var j, x bytes.Buffer
	if err := JSONStream(&j).Event(event()); err != nil {
		t.Fatal(err)
	}
	second := strings.Split(j.String(), "\n")[1]
	for _, field := range []string{`"shards":null`, `"waiters":null`, `"depth":null`, `"lanes":[]`} {
		if !strings.Contains(second, field) {
			t.Errorf("%s is not in %s", field, second)
		}
	}
	if err := TextStream(&x).Event(event()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(x.String(), "S n/a waiters   n/a") {
		t.Errorf("absent is not n/a:\n%s", x.String())
	}
}

func TestNamesCannotReachTheTerminalRaw(t *testing.T) {
	var j, x bytes.Buffer
	for s, w := range map[Stream]*bytes.Buffer{JSONStream(&j): &j, TextStream(&x): &x} {
		if err := s.Event(event()); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(strings.ReplaceAll(w.String(), "\n", ""), "\x1b\a\r") {
			t.Errorf("a control character got through: %q", w.String())
		}
	}
	if got := strings.Count(x.String(), "\n"); got != 3 {
		t.Errorf("the newline in a name broke the lines: %d\n%s", got, x.String())
	}
}

func TestTextSaysAFailureOnceAndWhatToDo(t *testing.T) {
	var out bytes.Buffer
	s := TextStream(&out)
	down := control.Event{At: time.Unix(0, 0), Err: &control.Failure{What: "the server is gone", Hint: "start it"}}
	for range 3 {
		if err := s.Event(down); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "the server is gone. start it"); got != 1 {
		t.Errorf("said %d times:\n%s", got, out.String())
	}
}

// A pause between two tries is no failure of its own, and what was decided and
// learned meanwhile is told.
func TestWhatIsLearnedWithoutAReadingIsPrinted(t *testing.T) {
	for name, s := range map[string]func(io.Writer) Stream{"json": JSONStream, "text": TextStream} {
		var out bytes.Buffer
		stream := s(&out)
		down := event()
		down.Snapshot, down.Err = nil, &control.Failure{What: "the server is gone", Hint: "start it"}
		down.Changes = []control.Change{{At: time.Unix(0, 0), Queue: "orders", From: 1, To: 2, Outcome: control.OutcomeApplied, Actor: "bob@desk"}}
		down.Decisions[0].Action = control.ActionHold
		if err := stream.Event(down); err != nil {
			t.Fatal(err)
		}
		down.Changes, down.Err = nil, &control.Failure{What: "the server is gone", Hint: "start it", Waiting: true}
		if err := stream.Event(down); err != nil {
			t.Fatal(err)
		}
		for _, once := range []string{"the server is gone", "bob@desk", "hold"} {
			if got := strings.Count(out.String(), once); got != 1 {
				t.Errorf("%s: %q is said %d times:\n%s", name, once, got, out.String())
			}
		}
	}
}

func TestADecisionIsPrintedWhenItIsAnother(t *testing.T) {
	var out bytes.Buffer
	s := JSONStream(&out)
	e := event()
	for _, detail := range []string{"share 0.76", "share 0.77", "share 0.75"} {
		e.Decisions[0].Detail = detail
		if err := s.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), `"type":"decision"`); got != 1 {
		t.Errorf("the same decision with other figures was printed %d times", got)
	}
	e.Decisions[0].Pending = false
	if err := s.Event(e); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), `"type":"decision"`); got != 2 {
		t.Errorf("a transition was not printed: %d lines", got)
	}
}

// What came before the end is told and counted, whichever of the two is looked
// at first.
func TestTheLastEventsAreNotLostToTheEnd(t *testing.T) {
	ended := errors.New("ended")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ended)
	for range 30 {
		events := make(chan control.Event, 2)
		for range cap(events) {
			events <- control.Event{Changes: []control.Change{{Queue: "orders", From: 1, To: 2, Outcome: control.OutcomeApplied}}}
		}
		var sum Summary
		if err := (Command{JSON: true}).Lines(ctx, events, &sum); !errors.Is(err, ended) || sum.Changes != 2 {
			t.Fatalf("%d changes were counted, %v", sum.Changes, err)
		}
	}
}
