package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"syscall"
	"time"

	"shardpilot/control"
)

// Bounds of a conversation, so that nobody can hold a connection for ever.
const (
	headerTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 16 << 10
	goodbye       = 2 * time.Second // for answers under way when it ends
)

// Routes serves /metrics, and at / a page that says so.
func (m *Metrics) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "shardpilot: metrics are at /metrics\n") // whoever asked may be gone
	})
	return mux
}

// Listen takes an address, host:port or :port for all interfaces, so that a
// process can find out before it does anything else. Its error is a
// *control.Fault: usage for an address that makes no sense, failed for one that
// cannot be had.
func Listen(addr string) (net.Listener, error) {
	if addr == "" { // the system would take it for any port it likes
		return nil, &control.Fault{Kind: control.FaultUsage, What: `cannot listen on ""`, Hint: "an address is host:port, for instance 127.0.0.1:9187"}
	}
	ln, err := net.Listen("tcp", addr)
	if err == nil {
		return ln, nil
	}
	f := &control.Fault{Kind: control.FaultFailed, What: fmt.Sprintf("cannot listen on %q: %v", addr, err),
		Hint: "give another address, for instance 127.0.0.1:9187", Err: err}
	var noAddr *net.AddrError
	var noName *net.DNSError
	switch {
	case errors.As(err, &noAddr), errors.As(err, &noName):
		f.Kind, f.Hint = control.FaultUsage, "an address is host:port, for instance 127.0.0.1:9187"
	case errors.Is(err, syscall.EADDRINUSE):
		f.Hint = "another process listens there; stop it, or give another address"
	case errors.Is(err, syscall.EACCES):
		f.Hint = "ports below 1024 need more rights; give a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.Hint = "this machine has no such address; :port listens on all it has"
	}
	return nil, f
}

// Serve listens on addr and answers until ctx ends; see Listen and Answer.
func Serve(ctx context.Context, addr string, h http.Handler) error {
	ln, err := Listen(addr)
	if err != nil {
		return err
	}
	return Answer(ctx, ln, h)
}

// Answer serves h on ln, which it closes, until ctx ends. It returns when
// everything it started has ended; answers under way get 2 s. The error is nil,
// or a *control.Fault when the listener broke.
func Answer(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0)} // what a scraper does wrong is its own business
	broke := make(chan error, 1)
	go func() { broke <- srv.Serve(ln) }()
	var err error
	select {
	case err = <-broke:
	case <-ctx.Done():
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		if srv.Shutdown(bye) != nil {
			_ = srv.Close() // they had their time
		}
		err = <-broke
	}
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return &control.Fault{Kind: control.FaultFailed, What: fmt.Sprintf("cannot serve on %s any more: %v", ln.Addr(), err), Err: err}
}
