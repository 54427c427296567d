package tui

import (
	"errors"
	"strings"
	"testing"

	"shardpilot/control"
)

// spool is a recorder without a file.
type spool struct {
	on     bool
	failed error
}

func (s *spool) Toggle() (string, error)         { s.on = !s.on; return "toggled", nil }
func (s *spool) Recording() (on bool, err error) { return s.on, s.failed }

func TestTheHeaderSaysThatARecordingIsMade(t *testing.T) {
	t.Parallel()
	s := &spool{}
	w := newWorld(t, Options{Recorder: s, Color: "none"})
	w.m.Resize(120, 40)
	w.play(3)
	if strings.Contains(w.m.View(), " REC ") {
		t.Error("nothing is recorded, and the header says REC")
	}
	if e := w.m.Key("R"); !e.record || e.Do != nil || w.m.dialog != nil {
		t.Errorf("R asks for %+v", e)
	}
	w.m.Toggled(s.Toggle())
	if v := w.m.View(); !strings.Contains(v, " REC ") || !strings.Contains(v, "toggled") {
		t.Errorf("after R:\n%s", v)
	}
	s.on, s.failed = false, &control.Fault{What: "the recording stopped: no space left", Hint: "make room"}
	w.play(1)
	if v := w.m.View(); strings.Contains(v, " REC ") || !strings.Contains(v, "recording stopped") || !strings.Contains(v, "no space left") {
		t.Errorf("after a full disk:\n%s", v)
	}
	w.m.Toggled("", errors.New("a.rec: permission denied"))
	if !strings.Contains(w.m.View(), "permission denied") {
		t.Error("a failure is not told")
	}
	if !strings.Contains(strings.Join(strings.Fields(w.help()), " "), "R begin or end a recording") {
		t.Error("the help does not have the key")
	}
}

func (w *world) help() string {
	w.m.Resize(120, 90)
	w.m.Key("?")
	return w.m.View()
}
