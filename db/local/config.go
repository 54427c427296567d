package local

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// defaults make a server for tests: safe from everybody but us, and not waiting
// for disks, since its data does not outlive it. A rehearsal that wants commits
// to cost what they cost sets fsync and synchronous_commit back to on.
func (s *Server) defaults() map[string]string {
	connections := s.opts.MaxConnections
	if connections == 0 {
		connections = 100
	}
	return map[string]string{
		"max_connections":     strconv.Itoa(connections),
		"fsync":               "off",
		"full_page_writes":    "off",
		"timezone":            "UTC",
		"log_timezone":        "UTC",
		"password_encryption": "scram-sha-256",
	}
}

// config is the whole postgresql.conf. Where the server listens is not for the
// caller to change: it is what keeps strangers out and lets us find it.
func (s *Server) config() string {
	settings := s.defaults()
	maps.Copy(settings, s.opts.Settings)
	maps.Copy(settings, map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(s.Port),
		"unix_socket_directories": "",
	})
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, quote(settings[name]))
	}
	return b.String()
}

// quote makes a value safe between single quotes in postgresql.conf, where a
// backslash escapes too.
func quote(value string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`).Replace(value)
}
