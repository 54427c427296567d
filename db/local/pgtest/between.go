package pgtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Between stands between clients and a server, so that a test can let the
// network fail.
type Between struct {
	server string
	l      net.Listener
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	over  bool // no further connection is carried
}

// StandBetween takes connections for the server of a URL until the test ends,
// and returns the URL through it. carry gets each client with a connection to
// the server, in a goroutine of its own; it closes them when it has had enough,
// and returns once they are closed.
func StandBetween(t testing.TB, to string, carry func(client, server net.Conn)) (b *Between, through string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b = &Between{server: u.Host, l: l}
	b.wg.Go(func() { b.accept(carry) })
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		b.over = true
		b.mu.Unlock()
		b.CloseAll()
		b.wg.Wait()
	})
	u.Host = l.Addr().String()
	return b, u.String()
}

// CloseAll ends the connections there are.
func (b *Between) CloseAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.conns {
		_ = c.Close()
	}
	b.conns = nil
}

func (b *Between) accept(carry func(client, server net.Conn)) {
	for {
		client, err := b.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", b.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		b.mu.Lock()
		b.conns = append(b.conns, client, server)
		over := b.over
		b.mu.Unlock()
		if over {
			_, _ = client.Close(), server.Close()
			return
		}
		b.wg.Go(func() { carry(client, server) })
	}
}
