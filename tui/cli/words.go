package cli

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// CommandLine is another command of ours on the same database, quoted for a
// POSIX shell. Passwords are left out: they come from the passfile or are asked
// for.
func (c Conn) CommandLine(command ...string) string {
	words := append([]string{"shardpilot"}, command...)
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, value)
		}
	}
	if s := withoutSecrets(c.String); s != "" {
		words = append(words, s)
	}
	add("--host", c.Host)
	if c.Port != 0 {
		words = append(words, "--port", strconv.Itoa(c.Port))
	}
	add("--dbname", withoutSecrets(c.DBName))
	add("--user", c.User)
	if c.AllowNewer {
		words = append(words, "--allow-newer-awa")
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// CommandLineWith is the same, to be typed anywhere as it stands: with a passfile
// of its own, and by this program's path where a shell would not find it.
func (c Conn) CommandLineWith(passfile string, command ...string) string {
	line := c.CommandLine(command...)
	if self, err := os.Executable(); err == nil && !found(self) {
		line = shellWord(self) + strings.TrimPrefix(line, "shardpilot")
	}
	return "PGPASSFILE=" + shellWord(passfile) + " " + line
}

// found says whether a shell that is told shardpilot starts the program at a path.
func found(path string) bool {
	there, err := exec.LookPath("shardpilot")
	if err != nil {
		return false
	}
	a, errA := os.Stat(there)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// secretSetting is a password in a keyword string, with the space before it.
var secretSetting = regexp.MustCompile(`(^|\s+)(password|sslpassword)\s*=\s*('(\\.|[^'\\])*'|(\\.|[^'\s\\])*)`)

// withoutSecrets is a connection string without its passwords. One that looks
// like a URL and is none leads nowhere, so nothing of it is repeated.
func withoutSecrets(s string) string {
	if !strings.Contains(s, "://") {
		return strings.TrimSpace(secretSetting.ReplaceAllString(s, ""))
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	if q.Has("password") || q.Has("sslpassword") {
		q.Del("password")
		q.Del("sslpassword")
		u.RawQuery = q.Encode()
	}
	return u.String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord quotes a word for a POSIX shell, when it needs that.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
