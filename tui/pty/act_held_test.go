package pty

import (
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// hold keeps a key down for two seconds, as a keyboard repeats it.
func (tm *terminal) hold(key string) {
	tm.t.Helper()
	beat := time.NewTicker(33 * time.Millisecond)
	defer beat.Stop()
	for range 60 {
		tm.keys(key)
		<-beat.C
	}
}

// dialogs counts the dialogs on the screen by their titles and their buttons.
func (tm *terminal) dialogs() (titles, buttons int) {
	s := tm.screen()
	for _, title := range []string{"Approve the pending step", "Reject the pending step", "Set the shard count by hand", "Pin the shard count",
		"Take the pin away", "Change who decides", "Take the last change back", "Pause or resume steps"} {
		titles += strings.Count(s, "! "+title)
	}
	return titles, strings.Count(s, "enter takes, esc leaves")
}

// actionKeys ask for something to be done.
const actionKeys = "axopmbu"

// held plays one key on one screen: it is held, then esc leaves what it opened.
func (tm *terminal) held(key string) {
	tm.t.Helper()
	tm.hold(key)
	tm.taken()
	if titles, buttons := tm.dialogs(); titles > 1 || buttons > 1 {
		tm.t.Errorf("%q held: %d dialogs:\n%s", key, titles, tm.screen())
	}
}

// CASES: each action key on each screen, with caps lock, held for two seconds.
func TestAHeldKeyOpensOneDialogAtMostAndDoesNothing(t *testing.T) {
	d := pgtest.On(t, "18")
	t.Parallel()
	s := newScene(t, d)
	s.crowd(6, 20*time.Millisecond)
	s.allow(8, false)
	for _, screen := range []struct{ name, keys string }{
		{"Overview", ""}, {"Queue", keyEnter}, {"Decisions", keyTab}, {"Producers", keyTab + keyTab}, {"Health", "!"}, {"Help", "?"},
	} {
		t.Run(screen.name, func(t *testing.T) {
			t.Parallel()
			on := *s
			on.t = t
			tm := on.program(120, 40)
			tm.see(`orders`, actPatience)
			for _, key := range screen.keys {
				tm.keys(string(key))
			}
			tm.see(`\[`+screen.name+`\]`, actPatience)
			acts := screen.name == "Overview" || screen.name == "Queue"
			for _, key := range actionKeys {
				for _, k := range []string{string(key), strings.ToUpper(string(key))} {
					tm.held(k)
					titles, _ := tm.dialogs()
					if !acts && titles != 0 {
						t.Errorf("%q asks on %s", k, screen.name)
					}
					if k != string(key) && titles != 0 {
						t.Errorf("%q asks, with caps lock", k)
					}
					if acts && titles == 0 && (k == "o" || k == "p" || k == "m") {
						t.Errorf("%q asks nothing on %s:\n%s", k, screen.name, tm.screen())
					}
					if titles > 0 { // a dialog that takes a held enter for a No is gone, or waits in a field
						tm.keys(keyEsc)
						tm.taken()
					}
				}
			}
			tm.see(`\[`+screen.name+`\]`, actPatience)
		})
	}
	t.Cleanup(func() {
		if got := s.hands(); len(got) != 0 || s.count() != 1 {
			t.Errorf("held keys did something:\n%s", s.story())
		}
	})
}

func TestEnterHeldAtYesActsOnce(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	s := newScene(t, d)
	s.crowd(4, 5*time.Millisecond)
	s.allow(8, false)
	tm := s.program(120, 40)
	tm.see(`orders`, actPatience)
	tm.until("o", `queue orders: 1 -> \?`)
	tm.fill("new count", "4")
	tm.press(keyTab, `\[Set\]`)
	tm.hold(keyEnter)
	s.await("the change", func() bool { return s.count() == 4 })
	tm.taken()
	time.Sleep(500 * time.Millisecond) // for one more, if the keys gave it
	if got := s.hands(); len(got) != 1 || got[0].Verb != control.VerbOverride || got[0].Outcome != control.OutcomeApplied {
		t.Errorf("%d acts:\n%s", len(got), s.story())
	}
	if titles, buttons := tm.dialogs(); titles > 1 || buttons > 1 {
		t.Errorf("%d dialogs:\n%s", titles, tm.screen())
	}

	// Where nobody chose Yes, enter held does nothing.
	tm.keys(keyEsc)
	for _, key := range []string{"p", "m", "o"} {
		tm.until(key, `\[No\]|> (mode|new count)`)
		tm.hold(keyEnter)
		tm.keys(keyEsc, keyEsc)
		tm.taken()
	}
	if got := s.hands(); len(got) != 1 {
		t.Errorf("%d acts:\n%s", len(got), s.story())
	}
}
