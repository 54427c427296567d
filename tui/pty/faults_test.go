package pty

import (
	"net/url"
	"strings"
	"testing"

	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// fault is something that is wrong, and what must be said about it.
type fault struct {
	name string
	url  string
	code int      // of doctor and of show
	says []string // each of them, in what doctor and show print
}

// check runs the two commands that only look.
func (f fault) check(t *testing.T) {
	t.Helper()
	for _, command := range []string{"doctor", "show"} {
		r := run(t, command, f.url)
		if r.code != f.code {
			t.Errorf("%s ends with %d, want %d:\n%s", command, r.code, f.code, r.both())
		}
		for _, words := range f.says {
			if !strings.Contains(r.both(), words) {
				t.Errorf("%s does not say %q:\n%s", command, words, r.both())
			}
		}
		if strings.Contains(r.both(), "secret") || strings.Contains(r.both(), "wrong\n") || strings.Contains(r.both(), "goroutine ") {
			t.Errorf("%s says too much:\n%s", command, r.both())
		}
	}
}

// awaIn makes a database of its own with an Awa of another kind.
func awaIn(t *testing.T, o rehearsal.Options) *pgtest.DB {
	t.Helper()
	d := pgtest.One(t)
	installAwa(t, d.Connect(t), o)
	return d
}

// What is wrong is said in a sentence, with what to do, and by the exit code;
// no password is in it, and nobody is asked for one without a terminal.
func TestEachFaultIsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	d := pgtest.One(t)
	admin := furnish(t, d, map[string]int{"orders": 1})
	watcher := role(t, d, admin, "watcher")
	for _, f := range []fault{
		{"no server", "postgres://postgres:secret@127.0.0.1:1/x", 4,
			[]string{"nothing listens at 127.0.0.1", "check host and port"}},
		{"wrong password", as(t, d.URL, url.UserPassword("postgres", "wrong")), 4,
			[]string{`refused the password of role "postgres"`, "passfile"}},
		{"no password", as(t, d.URL, url.User("postgres")), 4,
			[]string{"asks for a password", "start from a terminal to be asked"}},
		{"unknown role", as(t, d.URL, url.UserPassword("nobody_here", "secret")), 4,
			[]string{`refused the password of role "nobody_here"`}},
		{"unknown database", at(t, d.URL, "nowhere"), 4,
			[]string{`there is no database "nowhere"`, "PGDATABASE"}},
		{"no rights", watcher, 3,
			[]string{"GRANT"}},
		{"no Awa", pgtest.One(t).URL, 3,
			[]string{"there is no Awa in this database", "PGDATABASE"}},
		{"a canonical Awa", awaIn(t, rehearsal.Options{State: "canonical"}).URL, 3,
			[]string{"canonical storage", "activate queue storage"}},
		{"a prepared Awa", awaIn(t, rehearsal.Options{State: "prepared"}).URL, 3,
			[]string{"prepared", "activate queue storage"}},
	} {
		t.Run(f.name, func(t *testing.T) { f.check(t) })
	}
	// These can be watched, with a word of why nothing will be written.
	for _, f := range []fault{
		{"an old Awa", awaIn(t, rehearsal.Options{Version: 30}).URL, 0,
			[]string{"version 30 is too old", "awa migrate"}},
		{"a transition", awaIn(t, rehearsal.Options{State: "mixed_transition"}).URL, 0,
			[]string{"moving to queue storage", "finish the transition"}},
		{"a newer Awa", awaIn(t, rehearsal.Options{Version: 99}).URL, 0,
			[]string{"version 99 is newer", "--allow-newer-awa"}},
	} {
		t.Run(f.name, func(t *testing.T) { f.check(t) })
	}
}
