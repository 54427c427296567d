package db

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"shardpilot/control/plainfile"
)

// findPassword looks into the passfile ("" for ~/.pgpass) as libpq does. A
// file that others may read is not used, and the warning says so.
func findPassword(path, host string, port uint16, database, user string) (password, warning string) {
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", ""
		}
		path = filepath.Join(home, ".pgpass")
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", "" // no passfile is the usual case
	}
	if !info.Mode().IsRegular() {
		if path == os.DevNull {
			return "", ""
		}
		return "", fmt.Sprintf("the passfile %s is not a plain file and was not used", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Sprintf("the passfile %s can be read by others and was not used: chmod 600 %s", path, path)
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return "", fmt.Sprintf("the passfile %s cannot be opened and was not used", path)
	}
	defer func() { _ = f.Close() }()

	// libpq looks a socket up as localhost when it is in the default place; its
	// directory may stand there too.
	hosts := []string{host}
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		hosts = append(hosts, "localhost")
	}
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		for _, h := range hosts {
			if p, ok := matchPassLine(scanner.Text(), h, strconv.Itoa(int(port)), database, user); ok {
				return p, ""
			}
		}
	}
	return "", ""
}

// matchPassLine reads host:port:database:user:password, where * matches
// anything, a backslash escapes, and the password takes the rest of the line.
func matchPassLine(line string, want ...string) (string, bool) {
	if strings.HasPrefix(line, "#") {
		return "", false
	}
	for _, w := range want {
		field, rest, ok := cutField(line)
		if !ok || field != "*" && unescape(field) != w {
			return "", false
		}
		line = rest
	}
	return unescape(strings.TrimSuffix(line, "\r")), true
}

// cutField cuts at the first colon that no backslash escapes.
func cutField(s string) (field, rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ':':
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
