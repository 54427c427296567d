package pgtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// AwaVenvEnv names a Python environment with awa-pg and awa-cli.
const AwaVenvEnv = "SHARDPILOT_AWA_VENV"

// migrateLimit bounds some 10,000 statements of DDL: three seconds, on a busy
// machine twenty.
const migrateLimit = 4 * time.Minute

// AwaVenv is the Python environment with the real Awa. It is one that only make
// fetches: without it a test of the real thing is skipped and says how to get
// it, but not where CI is set, and a name that leads nowhere fails.
func AwaVenv(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(AwaVenvEnv)
	if dir == "" {
		without := t.Skip
		if os.Getenv("CI") != "" {
			without = t.Fatal
		}
		without(AwaVenvEnv + " names no Python environment with Awa: run `make test-awa`, which makes one")
	}
	for _, tool := range []string{"python", "awa"} {
		if _, err := os.Stat(filepath.Join(dir, "bin", tool)); err != nil {
			t.Fatalf("%s=%s is no environment with Awa: %v", AwaVenvEnv, dir, err)
		}
	}
	return dir
}

// MigrateAwa makes a real Awa in the database of a URL, as its role.
func MigrateAwa(t testing.TB, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), migrateLimit)
	defer cancel()
	migrate := exec.CommandContext(ctx, filepath.Join(AwaVenv(t), "bin", "awa"), "migrate")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+url, "RUST_LOG=warn")
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("awa migrate: %v\n%s", err, out)
	}
}
