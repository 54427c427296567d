package pty

import (
	"net"
	"sync"
	"testing"

	"shardpilot/db/local/pgtest"
)

// muteProxy stands between a program and PostgreSQL. Cut off, it forwards
// nothing more and closes nothing, as a network that drops every packet.
type muteProxy struct {
	between *pgtest.Between

	mu   sync.Mutex
	open *sync.Cond // told when mute ends
	mute bool
}

// proxied is a proxy before a URL's server, and the URL through it.
func proxied(t *testing.T, to string) (p *muteProxy, through string) {
	t.Helper()
	p = &muteProxy{}
	p.open = sync.NewCond(&p.mu)
	p.between, through = pgtest.StandBetween(t, to, func(client, server net.Conn) {
		var wg sync.WaitGroup
		wg.Go(func() { p.carry(server, client) })
		p.carry(client, server)
		wg.Wait()
	})
	t.Cleanup(p.heal)
	return p, through
}

func (p *muteProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = true
}

// heal lets new connections through; those that were cut off end now.
func (p *muteProxy) heal() {
	p.between.CloseAll()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = false
	p.open.Broadcast()
}

// carry copies one way until an end closes; while the proxy is mute it holds on
// to what it read, and to the end it saw.
func (p *muteProxy) carry(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		for p.mute {
			p.open.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				_ = from.Close()
				return
			}
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}
