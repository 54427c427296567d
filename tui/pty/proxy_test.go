package pty

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// muteProxy stands between a program and PostgreSQL. Cut off, it forwards
// nothing more and closes nothing, as a network that drops every packet.
type muteProxy struct {
	server string
	l      net.Listener
	wg     sync.WaitGroup

	mu    sync.Mutex
	open  *sync.Cond // told of every change of mute
	mute  bool
	conns []net.Conn
}

// proxied is a proxy before a URL's server, and the URL through it.
func proxied(t *testing.T, to string) (*muteProxy, string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &muteProxy{server: u.Host, l: l}
	p.open = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.heal()
		p.wg.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *muteProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = true
}

// heal lets new connections through; those that were cut off end now.
func (p *muteProxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mute, p.conns = false, nil
	p.open.Broadcast()
}

func (p *muteProxy) accept() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.wg.Go(func() { p.carry(client, server) })
		p.wg.Go(func() { p.carry(server, client) })
	}
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
