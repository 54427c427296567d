package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func answer(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestHealthFollowsTheTicksAndReadinessTheDatabase(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now, 15*time.Second)
	routes := h.Routes()
	check := func(when string, live, ready int) {
		t.Helper()
		if code, body := answer(t, routes, "/live"); code != live {
			t.Errorf("%s: /live is %d, want %d: %s", when, code, live, body)
		}
		if code, body := answer(t, routes, "/ready"); code != ready {
			t.Errorf("%s: /ready is %d, want %d: %s", when, code, ready, body)
		}
	}
	check("at the start", 200, 503)
	c.move(firstEvent)
	check("while the first attempt lasts", 200, 503)
	c.move(20 * time.Second)
	check("when no tick ever came", 503, 503)

	h.Observe(c.tick())
	check("with a reading", 200, 200)
	e := c.tick()
	e.Leader = "ops@blue"
	h.Observe(e)
	check("following", 200, 200)
	c.move(14 * time.Second)
	check("a little later", 200, 200)
	c.move(2 * time.Second)
	check("when ticks stopped", 503, 503)

	f := c.failed()
	f.Err.RetryIn = 30 * time.Second
	h.Observe(f)
	check("without a database", 200, 503)
	if _, body := answer(t, routes, "/ready"); !strings.Contains(body, "the connection was lost") {
		t.Errorf("it does not say why: %q", body)
	}
	c.move(40 * time.Second)
	check("in the pause between attempts", 200, 503)
	c.move(10 * time.Second)
	check("when the next attempt is overdue", 503, 503)
	h.Observe(c.tick())
	check("when it is back", 200, 200)
	h.policyRead(errors.New("Nonsense is no number\nsee the page"))
	check("with a bad policy file", 200, 200)
	if _, body := answer(t, routes, "/ready"); !strings.Contains(body, "the numbers before are in force, since Nonsense is no number\n") {
		t.Errorf("it does not tell of the file: %q", body)
	}
}

func TestNothingButReadingIsServed(t *testing.T) {
	h := NewHealth(newClock().now, 0)
	for _, path := range []string{"/", "/metrics", "/debug/pprof/"} {
		if code, _ := answer(t, h.Routes(), path); code != http.StatusNotFound {
			t.Errorf("%s is %d", path, code)
		}
	}
	w := httptest.NewRecorder()
	h.Routes().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/live", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST is %d", w.Code)
	}
}
