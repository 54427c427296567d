package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"shardpilot/control"
	"shardpilot/probe/notify"
)

// Addresses are where to listen, host:port; "" serves nothing there. Push is
// where to send the metrics, nil for nowhere.
type Addresses struct {
	Metrics, Health string
	Push            *OTLP
}

// Exposition shows what the runner says to Prometheus, to whoever asks for the
// process's health, and to systemd.
type Exposition struct {
	metrics *Metrics
	health  *Health
	systemd notify.Notifier
	serve   []func(context.Context) error
	taken   []net.Listener
}

// Expose takes the addresses, so that one that cannot be had is said before
// anything else is done. Its errors are *control.Fault.
func Expose(at Addresses, o Options, systemd notify.Notifier) (*Exposition, error) {
	x := &Exposition{systemd: systemd, health: NewHealth(o.Now, o.StaleAfter), metrics: New(o)}
	if at.Push != nil {
		to, err := at.Push.collector(o.Version)
		if err != nil {
			return nil, err
		}
		if to != nil {
			x.serve = append(x.serve, func(ctx context.Context) error { return x.metrics.push(ctx, to) })
		}
	}
	for _, place := range []struct {
		addr    string
		handler http.Handler
	}{{at.Metrics, x.metrics.Routes()}, {at.Health, x.health.Routes()}} {
		if place.addr == "" {
			continue
		}
		ln, err := Listen(place.addr)
		if err != nil {
			x.Close()
			return nil, err
		}
		x.taken = append(x.taken, ln)
		x.serve = append(x.serve, func(ctx context.Context) error { return Answer(ctx, ln, place.handler) })
	}
	return x, nil
}

// PolicyRead notes whether the policy file could be used when it was last read;
// why is why not.
func (x *Exposition) PolicyRead(why error) {
	x.metrics.policyRead(why)
	x.health.policyRead(why)
}

// Close gives the addresses back. It is for whoever never runs it, and changes
// nothing after Run.
func (x *Exposition) Close() {
	for _, ln := range x.taken {
		_ = ln.Close() // or it was closed before
	}
}

// Run takes events until their channel is closed and serves until ctx ends.
// Whoever closes the channel ends ctx too. The service manager hears of the end
// when it begins, not when everything has been brought to it.
func (x *Exposition) Run(ctx context.Context, events <-chan control.Event) error {
	var wg sync.WaitGroup
	broke := make([]error, len(x.serve))
	for i, serve := range x.serve {
		wg.Go(func() { broke[i] = control.Guard("serving", func() error { return serve(ctx) }) })
	}
	wg.Go(func() {
		<-ctx.Done()
		_ = x.systemd.Stopping() // a manager that is gone needs no word
	})
	wg.Go(func() {
		x.systemd.Keep(ctx, func() bool { ok, _ := x.health.Alive(); return ok })
	})
	ready := false
	for e := range events {
		x.metrics.Observe(e)
		x.health.Observe(e)
		if ok, _ := x.health.Ready(); ok && !ready && ctx.Err() == nil {
			ready = x.systemd.Ready() == nil
		}
	}
	wg.Wait()
	return errors.Join(broke...)
}
