package record

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// fill puts a text of its own into every string of a value that is no code of a
// closed list, and something into every list and pointer.
func fill(v reflect.Value, path string, closed map[reflect.Type]string, told *[]string) {
	if word, ok := closed[v.Type()]; ok {
		v.SetString(word)
		return
	}
	switch v.Kind() {
	case reflect.String:
		secret := fmt.Sprintf("secret%d", len(*told))
		*told = append(*told, path)
		v.SetString(secret)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, closed, told)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path+"[]", closed, told)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[control.Value]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), path+"."+f.Name, closed, told)
			}
		}
	}
}

// No text that could be a name or a sentence of somebody's gets into a hashed
// recording, whatever field it comes in. Fields that are added are found here.
func TestHashedRecordingsHoldNoNames(t *testing.T) {
	t.Parallel()
	var ev control.Event
	var told []string
	fill(reflect.ValueOf(&ev).Elem(), "Event", map[reflect.Type]string{
		reflect.TypeFor[control.Mode](): string(control.ModeShadow), reflect.TypeFor[control.Action](): string(control.ActionHold),
		reflect.TypeFor[control.Reason](): string(control.ReasonPinned), reflect.TypeFor[control.Outcome](): string(control.OutcomeRefused),
		reflect.TypeFor[control.Verdict](): string(control.VerdictKept), reflect.TypeFor[control.Verb](): string(control.VerbPin),
		reflect.TypeFor[control.LogKind](): string(control.LogChange), reflect.TypeFor[control.Bottleneck](): string(control.BottleneckLane),
		reflect.TypeFor[control.DrainState]():   string(control.DrainFalling),
		reflect.TypeFor[control.AppliedState](): string(control.AppliedOn), reflect.TypeFor[control.AwaState](): string(control.AwaActive),
	}, &told)
	ev.At = epoch
	failed := ev
	failed.Snapshot, failed.At = nil, epoch.Add(time.Second)
	ev.Err = nil
	// Figures and PostgreSQL's own words, which name nobody.
	kept := []string{"Event.Snapshot.Database.Version", "Event.Snapshot.Readings[].Holder.State", "Event.Snapshot.Readings[].Holder.WaitEvent",
		"Event.Snapshot.Readings[].Lanes[].Holder.State", "Event.Snapshot.Readings[].Lanes[].Holder.WaitEvent",
		"Event.Snapshot.Readings[].ProducerList[].How", "Event.Snapshot.Readings[].ProducerList[].Detail", "Event.Snapshot.Instances[].Version",
		"Event.Snapshot.Problems[].Part", "Event.Verifications[].Detail"}

	o := options()
	o.Hash = true
	path := t.TempDir() + "/shared.rec"
	r := NewRecorder(o)
	if err := r.Take(ev); err != nil { // its entries are the log from before
		t.Fatal(err)
	}
	if err := r.Start(path); err != nil {
		t.Fatal(err)
	}
	for _, e := range []control.Event{ev, failed} {
		if err := r.Take(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range told {
		found := strings.Contains(string(b), fmt.Sprintf("secret%d\"", i)) || strings.Contains(string(b), fmt.Sprintf("secret%d@", i))
		isKept := false
		for _, k := range kept {
			isKept = isKept || k == field
		}
		if found != isKept {
			if found {
				t.Errorf("%s is in the file", field)
			} else if !strings.HasPrefix(field, "Event.World.") {
				t.Errorf("%s is not in the file, and names nobody", field)
			}
		}
	}
	if len(told) < 60 {
		t.Errorf("only %d texts were tried", len(told))
	}
}

func TestHashesAgreeWithinARecordingAndNotBetweenTwo(t *testing.T) {
	t.Parallel()
	a, b := newHasher(), newHasher()
	first := a.queue("orders")
	if a.queue("orders") != first || a.queue("emails") == first || b.queue("orders") == first {
		t.Errorf("%s, then %s; %s; elsewhere %s", first, a.queue("orders"), a.queue("emails"), b.queue("orders"))
	}
	for _, s := range []string{"controller", "elsewhere", "self", ""} {
		if a.person(s) != s {
			t.Errorf("%q became %q", s, a.person(s))
		}
	}
}
