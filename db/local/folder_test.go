package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"shardpilot/control"
)

func TestKeptDataIsThereAtTheNextStart(t *testing.T) {
	dir := filepath.Join(openDir(t), "deep", "kept")
	s := start(t, Options{Version: "17", Keep: dir})
	do(t, s.URL("postgres"), "CREATE TABLE kept AS SELECT 'kept row'::text AS note")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, Options{Version: "17", Keep: dir})
	if got := one(t, again.URL("postgres"), "SELECT note FROM kept"); got != "kept row" {
		t.Errorf("got %q", got)
	}

	who, err := runAs()
	if err != nil {
		t.Fatal(err)
	}
	_, err = kept(context.Background(), dir, who, time.Millisecond)
	mustFault(t, err, control.FaultRefused)
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}

	_, err = Start(context.Background(), Options{Version: "18", Keep: dir})
	mustFault(t, err, control.FaultRefused)
	if !exists(filepath.Join(dir, "data", "PG_VERSION")) {
		t.Error("the refused data is gone")
	}
}

func TestAFolderThatIsNotOursIsLeftAlone(t *testing.T) {
	dir := openDir(t)
	file := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(context.Background(), Options{Keep: dir})
	mustFault(t, err, control.FaultRefused)
	after, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !exists(file) || after.Mode() != before.Mode() || ownerOf(after) != ownerOf(before) {
		t.Error("a foreign folder was changed")
	}
	_, err = Start(context.Background(), Options{Keep: file})
	mustFault(t, err, control.FaultRefused)
}

func TestOnlyDeadLeftoversAreSwept(t *testing.T) {
	root := openDir(t)
	old := time.Now().Add(-2 * staleAfter)
	make1 := func(name string, age time.Time, withLock bool) string {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if withLock {
			if err := os.WriteFile(filepath.Join(dir, "owner"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, age, age); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dead := make1(prefix+"dead", old, true)
	unborn := make1(prefix+"unborn", old, false)
	young := make1(prefix+"young", time.Now(), true)
	foreign := make1("something-else", old, true)
	live := make1(prefix+"live", old, true)
	f := &folder{path: live, who: account{}}
	if err := f.claim(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.lock.Close() }()

	sweep(root, account{uid: os.Geteuid()})
	for dir, stays := range map[string]bool{dead: false, unborn: false, young: true, foreign: true, live: true} {
		if exists(dir) != stays {
			t.Errorf("%s is there: %v, want %v", filepath.Base(dir), exists(dir), stays)
		}
	}
}

func TestAFolderTheAccountCannotEnterIsRefusedBeforeAnythingRuns(t *testing.T) {
	stranger := account{uid: 1<<30 + 7, gid: 1<<30 + 7, drop: true}
	closed := filepath.Join(openDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if stranger.reaches(closed) || !stranger.reaches(filepath.Dir(closed)) {
		t.Fatal("reaches is wrong about mode bits")
	}
	_, err := kept(context.Background(), filepath.Join(closed, "kept"), stranger, 0)
	mustFault(t, err, control.FaultRefused)
	if exists(filepath.Join(closed, "kept")) {
		t.Error("a folder was left behind")
	}
	_, err = stranger.within(Binaries{Dir: closed}, t.TempDir())
	mustFault(t, err, control.FaultFailed)
}

// TestAPreferredRootIsUsedWhereItHasRoom and otherwise the usual one is.
func TestAPreferredRootIsUsedWhereItHasRoom(t *testing.T) {
	who, err := runAs()
	if err != nil {
		t.Fatal(err)
	}
	preferred := openDir(t)
	for name, tc := range map[string]struct {
		roots []string
		room  int64
		there bool
	}{
		"room enough":        {[]string{preferred}, 1 << 20, true},
		"not enough":         {[]string{preferred}, 1 << 62, false},
		"no such root":       {[]string{filepath.Join(preferred, "none")}, 1, false},
		"the second will do": {[]string{filepath.Join(preferred, "none"), preferred}, 1 << 20, true},
	} {
		f, err := temporary(who, tc.roots, tc.room)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if there := filepath.Dir(f.path) == preferred; there != tc.there {
			t.Errorf("%s: in %s", name, f.path)
		}
		if err := f.abandon(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
