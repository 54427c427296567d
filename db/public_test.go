package db

import (
	"strings"
	"testing"
)

func TestPublicHasNoSecretsAndTheFlags(t *testing.T) {
	for _, c := range []struct {
		in     string
		opts   Options
		want   string
		hidden bool
	}{
		{"service=prod", Options{}, "service=prod", false},
		{"", Options{Host: "h", User: "u"}, "host='h' user='u'", false},
		{"postgres://u:hush@h/d", Options{}, "dbname='d' host='h' user='u'", true},
		{"host=h password='hu sh' sslpassword=hush", Options{Port: "7"}, "host='h' port='7'", true},
		{"host=h user=u", Options{User: "v", FlagsWin: true}, "host='h' user='v'", false},
	} {
		got, err := Public(c.in, c.opts)
		if err != nil || got != c.want || HasSecret(c.in) != c.hidden {
			t.Errorf("%q: %q (%v), a secret %v, want %q", c.in, got, err, HasSecret(c.in), c.want)
		}
	}
	_, err := Public("host=h user=u", Options{User: "v"})
	if err == nil || !strings.Contains(err.Error(), "--user contradicts") {
		t.Errorf("a flag that contradicts the string gives %v", err)
	}
	if _, err := Public("postgres://u:hu%sh@h", Options{}); err == nil || strings.Contains(err.Error(), "hu%sh") {
		t.Errorf("a broken string gives %v", err)
	}
	if cfg, err := Parse("host=h port=1 dbname=d user=u", Options{User: "v", Database: "e", FlagsWin: true}); err != nil || cfg.String() != "host=h:1 dbname=e user=v sslmode=prefer" {
		t.Errorf("flags change a part of the string: %v, %v", cfg, err)
	}
}
