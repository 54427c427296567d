// Package quiet keeps a terminal library from talking to the terminal before
// main has begun.
//
// bubbletea v1 asks the terminal for its background colour while packages are
// being initialised, for every command of the binary. Over SSH the answer can
// come late and is then read as typed text, and a terminal that does not
// answer costs five seconds. Under TERM=dumb the question is not asked.
//
// The language initialises packages in the order of their import paths as soon
// as their imports are ready: this one needs nothing but os and so comes long
// before bubbletea. Restore must be called by a package that imports bubbletea.
package quiet

import "os"

var term, had = hush()

func hush() (string, bool) {
	t, ok := os.LookupEnv("TERM")
	// Setenv fails only on a malformed name.
	_ = os.Setenv("TERM", "dumb")
	return t, ok
}

// Restore gives TERM back its value.
func Restore() {
	if had {
		_ = os.Setenv("TERM", term)
		return
	}
	_ = os.Unsetenv("TERM")
}
