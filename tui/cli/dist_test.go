package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// compiler stands for go: what it builds says what it was built for and prints a
// page for whatever it is asked.
const compiler = `#!/bin/sh
case $1 in
env) [ "$2" = GOHOSTOS ] && echo hostos || echo hostarch ;;
list) echo "example.org/linked v1.0.0 $PWD" ;;
build)
	while [ "$1" != -o ]; do shift; done
	printf '#!/bin/sh\n# %s/%s\necho "$@"\n' "$GOOS" "$GOARCH" >"$2"
	chmod 700 "$2" ;;
esac
`

// A release holds what the pages say, for the platform in its name, in the same
// bytes each time. Only what compiles is left out here.
func TestReleasesHoldWhatIsPromised(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is packed with GNU tar and sha256sum")
	}
	tree := t.TempDir()
	for _, name := range []string{"LICENSE", "README.md", "docs/packaging/dist.sh", "docs/packaging/shardpilot.service", "docs/packaging/Containerfile"} {
		text, err := os.ReadFile(filepath.Join(docs, "..", name))
		if err != nil {
			t.Fatal(err)
		}
		keep(t, filepath.Join(tree, name), string(text), 0o600)
	}
	keep(t, filepath.Join(tree, "go"), compiler, 0o700)
	dist := filepath.Join(tree, "dist")
	pack := func() ([]byte, error) {
		cmd := exec.Command("sh", filepath.Join(tree, "docs/packaging/dist.sh"), "linux/amd64", "darwin/arm64")
		cmd.Env = append(os.Environ(), "GO="+filepath.Join(tree, "go"), "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000")
		return cmd.CombinedOutput()
	}
	sums := func() string {
		t.Helper()
		if out, err := pack(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := sums()
	if again := sums(); again != first || strings.Count(first, "\n") != 2 {
		t.Errorf("the sums are\n%safter\n%s", again, first)
	}
	for _, platform := range []string{"linux-amd64", "darwin-arm64"} {
		name := "shardpilot-1.2.3-" + platform
		if out, err := exec.Command("tar", "-xzf", filepath.Join(dist, name+".tar.gz"), "-C", tree).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var files []string
		if err := filepath.WalkDir(filepath.Join(tree, name), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, strings.TrimPrefix(path, filepath.Join(tree, name)+"/"))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := []string{"Containerfile", "LICENSE", "README.md", "THIRD_PARTY", "completions/shardpilot.bash", "completions/shardpilot.fish",
			"completions/shardpilot.zsh", "shardpilot", "shardpilot.1", "shardpilot.service"}
		if !slices.Equal(files, want) {
			t.Errorf("%s holds %q, want %q", name, files, want)
		}
		for file, says := range map[string]string{"shardpilot": "# " + strings.ReplaceAll(platform, "-", "/") + "\n", "shardpilot.1": "man\n",
			"completions/shardpilot.zsh": "completion zsh\n", "THIRD_PARTY": "===== example.org/linked v1.0.0\n"} {
			if text, err := os.ReadFile(filepath.Join(tree, name, file)); err != nil || !strings.Contains(string(text), says) {
				t.Errorf("%s of %s lacks %q: %v\n%s", file, name, says, err, text)
			}
		}
	}
	keep(t, filepath.Join(tree, "go"), strings.Replace(compiler, "list) ", "list) exit 1; ", 1), 0o700)
	if out, err := pack(); err == nil {
		t.Errorf("a release without the licences of what is linked in:\n%s", out)
	}
}

func keep(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
