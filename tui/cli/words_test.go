package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// What is repeated to a person leads to the same database and tells no secret.
func TestConnectionsAreRepeatedWithoutTheirSecrets(t *testing.T) {
	for _, c := range []struct {
		conn Conn
		want string
	}{
		{Conn{}, ""},
		{Conn{String: "service=prod"}, "service=prod"},
		{Conn{String: "postgres://a:hush@db:5433/app?sslmode=require"}, "'postgres://a@db:5433/app?sslmode=require'"},
		{Conn{String: "postgres://db/app?user=a&password=hush&sslpassword=hush"}, "'postgres://db/app?user=a'"},
		{Conn{String: "postgres://a:hush@%zz/app"}, ""},
		{Conn{String: `host=db password=hush dbname=app`}, "'host=db dbname=app'"},
		{Conn{String: `password = 'hu\'sh hush' host=db sslpassword=hu\ sh`}, "host=db"},
		{Conn{String: "host=it's"}, `'host=it'\''s'`},
		{Conn{Host: "db one", Port: 5433, DBName: "postgres://a:hush@db/app", User: "a", AllowNewer: true},
			"--host 'db one' --port 5433 --dbname postgres://a@db/app --user a --allow-newer-awa"},
	} {
		got, _ := strings.CutPrefix(c.conn.CommandLine("show"), "shardpilot show")
		if got = strings.TrimPrefix(got, " "); got != c.want || strings.Contains(got, "hu") {
			t.Errorf("%+v: got %s, want %s", c.conn, got, c.want)
		}
		if out, err := exec.Command("sh", "-c", "printf '%s\n' "+got).CombinedOutput(); err != nil {
			t.Errorf("a shell does not take %s: %s", got, out)
		}
	}
}
