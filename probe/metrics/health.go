package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"shardpilot/control"
)

// Health says whether the process is well (it works through its ticks) and
// whether it is of use (it sees the database). Its methods may be called from
// any goroutine.
type Health struct {
	now        func() time.Time
	staleAfter time.Duration

	mu     sync.Mutex
	began  time.Time
	newest control.Event // without its lists
	readAt time.Time     // our clock, of the newest snapshot, zero before
	policy error         // why the policy file could not be used, nil when it could
}

// firstEvent is how long the first event may take beside staleAfter: as long
// as attempts to connect last, and the first read of the decision log.
const firstEvent = time.Minute

// NewHealth is the health of a process that begins now. Whatever is older than
// staleAfter is too old; 15 s when it is 0.
func NewHealth(now func() time.Time, staleAfter time.Duration) *Health {
	if staleAfter <= 0 {
		staleAfter = usualStale
	}
	return &Health{now: now, staleAfter: staleAfter, began: now()}
}

// Observe takes in an event.
func (h *Health) Observe(e control.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Snapshot != nil {
		h.readAt = e.At
	}
	h.newest = control.Event{At: e.At, Err: e.Err, ProcessMode: e.ProcessMode, Leader: e.Leader}
}

func (h *Health) policyRead(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.policy = why
}

// Alive says whether the process works through its ticks, and why not. A
// database that cannot be reached is no reason: restarting would not help.
func (h *Health) Alive() (ok bool, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if h.newest.At.IsZero() {
		waited := now.Sub(h.began)
		return waited <= h.staleAfter+firstEvent, fmt.Sprintf("no tick since the start, %.1f s ago", waited.Seconds())
	}
	age := now.Sub(h.newest.At)
	return age <= h.staleAfter+pause(h.newest), fmt.Sprintf("the newest tick is %.1f s old", age.Seconds())
}

// Ready says whether the process sees the database, and why not. A follower
// is as ready as the leader.
func (h *Health) Ready() (ok bool, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	age := h.now().Sub(h.readAt)
	switch e := &h.newest; {
	case e.Err != nil:
		return false, fmt.Sprintf("the database has not been read since %s: %s", e.Err.Since.UTC().Format(time.RFC3339), e.Err.What)
	case h.readAt.IsZero():
		return false, "the database has not been read yet"
	default:
		why := fmt.Sprintf("the newest reading is %.1f s old", age.Seconds())
		if h.policy != nil {
			what, _, _ := strings.Cut(h.policy.Error(), "\n")
			why += "; the numbers before are in force, since " + what
		}
		return age <= h.staleAfter, why
	}
}

// Live answers 200 while the process is alive, 503 otherwise.
func (h *Health) Live() http.Handler { return verdict(h.Alive) }

// Readiness answers 200 while the process is ready, 503 otherwise.
func (h *Health) Readiness() http.Handler { return verdict(h.Ready) }

// Routes serves /live and /ready.
func (h *Health) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /live", h.Live())
	mux.Handle("GET /ready", h.Readiness())
	return mux
}

func verdict(ask func() (bool, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ok, why := ask()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		word := "ok"
		if !ok {
			word = "failing"
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintf(w, "%s: %s\n", word, why) // whoever asked may be gone
	})
}
