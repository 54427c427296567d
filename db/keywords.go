package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shardpilot/control"
)

// variables name the PG* variable behind a keyword, as far as we look at it
// ourselves; pgx reads the rest.
var variables = map[string]string{
	"host": "PGHOST", "port": "PGPORT", "hostaddr": "PGHOSTADDR", "sslmode": "PGSSLMODE",
	"service": "PGSERVICE", "servicefile": "PGSERVICEFILE", "passfile": "PGPASSFILE",
	"connect_timeout": "PGCONNECT_TIMEOUT", "target_session_attrs": "PGTARGETSESSIONATTRS",
	"channel_binding": "PGCHANNELBINDING", "sslcert": "PGSSLCERT", "sslcertmode": "PGSSLCERTMODE",
	"gssencmode": "PGGSSENCMODE", "requirepeer": "PGREQUIREPEER", "sslcrl": "PGSSLCRL",
	"sslcrldir": "PGSSLCRLDIR", "ssl_min_protocol_version": "PGSSLMINPROTOCOLVERSION",
	"ssl_max_protocol_version": "PGSSLMAXPROTOCOLVERSION",
}

// understood are the keywords that pgx follows as libpq does.
var understood = []string{
	"host", "port", "dbname", "user", "password", "connect_timeout", "application_name", "options",
	"passfile", "service", "servicefile", "sslmode", "sslkey", "sslcert", "sslcertmode", "sslrootcert",
	"sslnegotiation", "sslpassword", "sslsni", "target_session_attrs", "min_protocol_version",
	"max_protocol_version", "channel_binding", "require_auth", "krbsrvname", "hostaddr",
	"fallback_application_name",
}

// harmless are keywords of libpq that change nothing for us: pgx would send
// them to the server, which does not know them.
var harmless = []string{
	"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
	"sslcompression", "gsslib", "gssdelegation", "load_balance_hosts", "client_encoding", "sslkeylogfile",
}

// unless are keywords that promise something about safety which pgx does not
// keep: only the values listed here ask for nothing more than we do.
var unless = map[string][]string{
	"gssencmode":               {"disable", "prefer"},
	"requirepeer":              {},
	"sslcrl":                   {},
	"sslcrldir":                {},
	"ssl_min_protocol_version": {"TLSv1", "TLSv1.1", "TLSv1.2"},
	"ssl_max_protocol_version": {"TLSv1.3"},
	"replication":              {"false", "off", "no", "0"},
	"scram_client_key":         {},
	"scram_server_key":         {},
	"oauth_issuer":             {},
	"oauth_client_id":          {},
	"oauth_client_secret":      {},
	"oauth_scope":              {},
}

// valueOf are the checks behind a precise sentence when pgx refuses a value.
var valueOf = map[string]func(string) bool{
	"port":            validPorts,
	"connect_timeout": func(v string) bool { n, err := strconv.Atoi(v); return err == nil && n >= 0 },
	"sslmode":         oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
	"sslcertmode":     oneOf("disable", "allow", "require"),
	"channel_binding": oneOf("disable", "prefer", "require"),
	"target_session_attrs": oneOf("any", "read-write", "read-only", "primary", "standby",
		"prefer-standby"),
}

func oneOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

func validPorts(v string) bool {
	for p := range strings.SplitSeq(v, ",") {
		if n, err := strconv.ParseUint(p, 10, 16); p != "" && (err != nil || n == 0) {
			return false
		}
	}
	return true
}

// known says whether libpq knows a keyword.
func known(key string) bool {
	return slices.Contains(understood, key) || slices.Contains(harmless, key) || unless[key] != nil
}

// translate rewrites s from what libpq knows to what pgx knows, and refuses
// what nobody knows: pgx would take a misspelt sslmode for a server setting.
func (s settings) translate(c *Config) error {
	for key := range s {
		if !known(key) {
			return unknownKeyword(key)
		}
	}
	for key, fine := range unless {
		if v := s.get(key); v != "" && !slices.Contains(fine, v) {
			return &control.Fault{Kind: control.FaultUsage,
				What: fmt.Sprintf("the connection asks for %s, which shardpilot cannot honour", key),
				Hint: "leave out " + key + " (or unset " + variables[key] + "); sslmode=verify-full protects the connection"}
		}
		delete(s, key)
	}
	for _, key := range harmless {
		delete(s, key)
	}
	if name, ok := s["fallback_application_name"]; ok {
		delete(s, "fallback_application_name")
		if s["application_name"] == "" {
			s["application_name"] = name
		}
	}
	return s.translateAddress(c)
}

// translateAddress makes hostaddr, which pgx does not know, the answer of the
// name lookup; without a host it is the host.
func (s settings) translateAddress(c *Config) error {
	addr := s.get("hostaddr")
	if addr == "" {
		return nil
	}
	if s.get("host") == "" {
		s["host"] = addr
	}
	if len(strings.Split(addr, ",")) != len(strings.Split(s.get("host"), ",")) {
		return badString("hostaddr and host do not name the same number of hosts")
	}
	delete(s, "hostaddr")
	c.hostaddr = addr
	return nil
}

// lookupIn resolves the n-th host to the n-th address, and everything else as
// usual.
func lookupIn(hosts, addrs string, usual func(context.Context, string) ([]string, error)) func(context.Context, string) ([]string, error) {
	table := map[string][]string{}
	list := strings.Split(addrs, ",")
	for i, h := range strings.Split(hosts, ",") {
		if list[i] != "" {
			table[h] = append(table[h], list[i])
		}
	}
	return func(ctx context.Context, host string) ([]string, error) {
		if a := table[host]; a != nil {
			return a, nil
		}
		return usual(ctx, host)
	}
}

// unknownKeyword names the keyword that was probably meant, never the one that
// was found: in a string whose quoting went wrong that can be half a password.
func unknownKeyword(key string) error {
	best, least := "", 3
	for _, k := range append(slices.Clone(understood), harmless...) {
		if d := distance(key, k); d < least {
			best, least = k, d
		}
	}
	why := "it holds a keyword that libpq does not know"
	if best != "" {
		why += " (was " + best + " meant?)"
	}
	return badString(why)
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
