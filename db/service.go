package db

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"shardpilot/control"
	"shardpilot/control/plainfile"
)

// systemServiceDir is where Debian's libpq looks when PGSYSCONFDIR is not set.
const systemServiceDir = "/etc/postgresql-common"

// addService adds what the service file says and s does not, when a service is
// asked for. pgx looks into one file only and does not know PGSYSCONFDIR.
func (s settings) addService() error {
	name := s.get("service")
	if name == "" {
		return nil
	}
	for _, path := range serviceFiles(s.get("servicefile")) {
		found, group, err := readService(path, name)
		if err != nil {
			return &control.Fault{Kind: control.FaultUsage,
				What: fmt.Sprintf("the service file %s cannot be used: %v", path, err),
				Hint: "see PGSERVICEFILE; each line is keyword=value below a [service] line", Err: err}
		}
		if group {
			for k, v := range found {
				if _, ok := s[k]; !ok {
					s[k] = v
				}
			}
			// pgx reads PGSERVICE by itself: give it the file where the service is.
			s["service"], s["servicefile"] = name, path
			return nil
		}
	}
	return &control.Fault{Kind: control.FaultUsage,
		What: fmt.Sprintf("the service %q is in no service file", name),
		Hint: "looked into " + strings.Join(serviceFiles(s.get("servicefile")), " and ") + "; see PGSERVICEFILE and PGSYSCONFDIR"}
}

// serviceFiles are the files to look into, in libpq's order: the one named, or
// the one at home, then the system's.
func serviceFiles(named string) []string {
	var files []string
	if named != "" {
		files = append(files, named)
	} else if home, err := os.UserHomeDir(); err == nil {
		if path := filepath.Join(home, ".pg_service.conf"); exists(path) {
			files = append(files, path)
		}
	}
	dir := os.Getenv("PGSYSCONFDIR")
	if dir == "" {
		dir = systemServiceDir
	}
	if path := filepath.Join(dir, "pg_service.conf"); exists(path) {
		files = append(files, path)
	}
	return files
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readService reads one group of a service file; group says whether it is
// there. Of a repeated keyword the first value counts, as in libpq.
func readService(path, name string) (out settings, group bool, err error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	out = settings{}
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			if group {
				return out, true, nil
			}
			group = line == "["+name+"]"
		case group:
			key, value, ok := strings.Cut(line, "=")
			if !ok || key == "service" || key == "servicefile" || !known(canonicalKey(key)) {
				// Not quoted: a line without its keyword may be half a password.
				return nil, true, fmt.Errorf("line %d is not keyword=value with a keyword that a service may hold", n)
			}
			if _, repeated := out[canonicalKey(key)]; !repeated {
				out[canonicalKey(key)] = value
			}
		}
	}
	return out, group, scanner.Err()
}
