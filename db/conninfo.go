package db

import (
	"errors"
	"sort"
	"strings"
)

// settings are connection keywords, in libpq's spelling, with their values.
type settings map[string]string

// The ways a connection string can be broken. The texts are fixed: a broken
// string has no certain boundaries, so quoting any part of it could quote the
// password.
var (
	errPercent  = errors.New("a % is not followed by two hexadecimal digits")
	errSpace    = errors.New("a URL holds a space; write it as %20")
	errNUL      = errors.New("it holds a NUL byte")
	errBracket  = errors.New("a [ is not closed by ] or something stands between ] and the port")
	errQuery    = errors.New("the part after ? is not a list of key=value joined by &")
	errNoEqual  = errors.New("a keyword is not followed by =")
	errQuote    = errors.New("a quoted value does not end")
	errNoScheme = errors.New("it is neither postgres://… nor a list of keyword=value")
)

// parseConninfo reads a connection string by libpq's rules. A repeated keyword
// takes its last value.
func parseConninfo(s string) (settings, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, errNUL
	}
	for _, scheme := range []string{"postgresql://", "postgres://"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok {
			return parseURI(rest)
		}
	}
	if strings.TrimSpace(s) != "" && !strings.Contains(s, "=") {
		return nil, errNoScheme
	}
	return parseKeywords(s)
}

// parseURI reads what follows the scheme: userinfo@host:port,…/db?params.
func parseURI(p string) (settings, error) {
	out := settings{}
	if i := strings.IndexAny(p, "@/"); i >= 0 && p[i] == '@' {
		user, password, _ := strings.Cut(p[:i], ":")
		p = p[i+1:]
		if err := out.setDecoded("user", user); err != nil {
			return nil, err
		}
		if err := out.setDecoded("password", password); err != nil {
			return nil, err
		}
	}
	p, err := out.readHosts(p)
	if err != nil {
		return nil, err
	}
	path, query, _ := strings.Cut(p, "?")
	if err := out.setDecoded("dbname", strings.TrimPrefix(path, "/")); err != nil {
		return nil, err
	}
	return out, out.readQuery(query)
}

// readHosts reads host:port,host:port and returns what follows, which is empty
// or starts with / or ?.
func (s settings) readHosts(p string) (string, error) {
	var hosts, ports []string
	for {
		var host string
		if strings.HasPrefix(p, "[") {
			end := strings.IndexByte(p, ']')
			if end < 0 {
				return "", errBracket
			}
			host, p = p[1:end], p[end+1:]
			if p != "" && !strings.ContainsRune(":/?,", rune(p[0])) {
				return "", errBracket
			}
		} else {
			host, p = cutAny(p, ":/?,")
		}
		port := ""
		if strings.HasPrefix(p, ":") {
			port, p = cutAny(p[1:], "/?,")
		}
		hosts, ports = append(hosts, host), append(ports, port)
		if !strings.HasPrefix(p, ",") {
			break
		}
		p = p[1:]
	}
	if err := s.setDecoded("host", strings.Join(hosts, ",")); err != nil {
		return "", err
	}
	if strings.Trim(strings.Join(ports, ""), ",") == "" {
		return p, nil
	}
	return p, s.setDecoded("port", strings.Join(ports, ","))
}

// readQuery reads key=value&key=value. ssl=true is an old spelling of
// sslmode=require, and database is pgx's of dbname.
func (s settings) readQuery(query string) error {
	if query == "" {
		return nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		rawKey, rawValue, ok := strings.Cut(pair, "=")
		if !ok || strings.Contains(rawValue, "=") {
			return errQuery
		}
		key, err := percentDecode(rawKey)
		if err != nil {
			return err
		}
		value, err := percentDecode(rawValue)
		if err != nil {
			return err
		}
		if key == "ssl" && value == "true" {
			key, value = "sslmode", "require"
		}
		s[canonicalKey(key)] = value
	}
	return nil
}

// setDecoded keeps the percent-decoded value, unless it is empty: in a URL a
// missing part is not a setting.
func (s settings) setDecoded(key, raw string) error {
	value, err := percentDecode(raw)
	if err == nil && value != "" {
		s[key] = value
	}
	return err
}

func cutAny(s, chars string) (before, rest string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func percentDecode(raw string) (string, error) {
	raw = strings.Trim(raw, " ")
	if strings.Contains(raw, " ") {
		return "", errSpace
	}
	if !strings.Contains(raw, "%") {
		return raw, nil
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '%' {
			b.WriteByte(raw[i])
			continue
		}
		if i+2 >= len(raw) {
			return "", errPercent
		}
		hi, lo := hexDigit(raw[i+1]), hexDigit(raw[i+2])
		if hi < 0 || lo < 0 {
			return "", errPercent
		}
		if hi == 0 && lo == 0 {
			return "", errNUL
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

// hexDigit is the value of a hexadecimal digit, -1 for anything else.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// parseKeywords reads keyword = value pairs, where a value may stand in single
// quotes and a backslash takes the next character as it is.
func parseKeywords(s string) (settings, error) {
	const space = " \t\n\r\v\f"
	out := settings{}
	for s = strings.TrimLeft(s, space); s != ""; s = strings.TrimLeft(s, space) {
		i := strings.IndexAny(s, space+"=")
		if i <= 0 {
			return nil, errNoEqual
		}
		key := s[:i]
		s = strings.TrimLeft(s[i:], space)
		if !strings.HasPrefix(s, "=") {
			return nil, errNoEqual
		}
		s = strings.TrimLeft(s[1:], space)
		quoted := strings.HasPrefix(s, "'")
		if quoted {
			s = s[1:]
		}
		value, n, closed := readValue(s, quoted)
		if quoted && !closed {
			return nil, errQuote
		}
		out[canonicalKey(key)] = value
		s = s[n:]
	}
	return out, nil
}

// readValue reads one value from the front of s and says how many bytes it
// took, closing quote included.
func readValue(s string, quoted bool) (value string, n int, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case quoted && c == '\'':
			return b.String(), i + 1, true
		case !quoted && strings.IndexByte(" \t\n\r\v\f", c) >= 0:
			return b.String(), i, true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), len(s), !quoted
}

func canonicalKey(key string) string {
	if key == "database" {
		return "dbname"
	}
	return key
}

// conninfo writes the settings as a keyword/value string, sorted.
func (s settings) conninfo() string {
	keys := make([]string, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k)
		b.WriteString("='")
		b.WriteString(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s[k]))
		b.WriteString("' ")
	}
	return strings.TrimSpace(b.String())
}
