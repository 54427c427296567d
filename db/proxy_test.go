package db

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"shardpilot/db/local/pgtest"
)

// proxy stands between a client and PostgreSQL and can let the network fail at
// one statement: a statement ends with a Sync or is a Query message.
type proxy struct {
	mu    sync.Mutex
	count int
	fault func(n int, text string) failure // asked at each statement of each connection
}

// failure is what a fault does to a statement.
type failure int

const (
	none    failure = iota
	cut             // the statement does not arrive, the connection ends
	swallow         // it arrives and is carried out, the answer does not come back
	vanish          // it does not arrive, and nothing ever comes back, not even an end
)

// proxied is a proxy in front of a URL's server, and the URL through it.
func proxied(t testing.TB, to string) (*proxy, string) {
	t.Helper()
	p := &proxy{}
	_, through := pgtest.StandBetween(t, to, func(client, server net.Conn) {
		b := &bridge{p: p, client: client, server: server}
		var wg sync.WaitGroup
		wg.Go(b.down)
		b.up()
		wg.Wait()
	})
	return p, through
}

// arm sets the fault, starts the count anew, and returns how many statements
// went through before.
func (p *proxy) arm(fault func(n int, text string) failure) (before int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.count, p.fault = p.count, 0, fault
	return before
}

// bridge is one connection.
type bridge struct {
	p              *proxy
	client, server net.Conn

	mu   sync.Mutex
	mute bool // nothing more goes to the client; its connection ends with the answer
	deaf bool // nothing more goes anywhere
}

func (b *bridge) set(f failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mute, b.deaf = f == swallow, f == vanish
}

// down carries answers to the client.
func (b *bridge) down() {
	buf := make([]byte, 1<<16)
	for {
		n, err := b.server.Read(buf)
		b.mu.Lock()
		mute, deaf := b.mute, b.deaf
		b.mu.Unlock()
		switch {
		case deaf && err == nil:
			continue
		case deaf: // the server is gone, and the client is not told
			return
		case mute && err == nil: // the answer has come: now the network ends
			_ = b.client.Close()
			_ = b.server.Close()
			return
		case err != nil:
			_ = b.client.Close()
			return
		}
		if _, err := b.client.Write(buf[:n]); err != nil {
			_ = b.server.Close()
			return
		}
	}
}

// up carries messages to the server, whole statements at a time.
func (b *bridge) up() {
	defer func() {
		b.mu.Lock()
		deaf := b.deaf
		b.mu.Unlock()
		if !deaf {
			_ = b.server.Close()
		}
	}()
	var pending []byte
	var text string
	startup := true
	for {
		message, err := readMessage(b.client, startup)
		if err != nil {
			return
		}
		startup = false
		pending = append(pending, message...)
		switch message[0] {
		case 'P', 'Q': // Parse holds the name first, Query only the text
			text = string(message[5:])
		}
		switch message[0] {
		case 'P', 'B', 'D', 'E', 'C', 'H':
			continue
		case 'S', 'Q':
			switch f := b.p.next(text); f {
			case cut:
				_ = b.client.Close()
				return
			case vanish:
				b.set(f)
				_, _ = io.Copy(io.Discard, b.client)
				return
			case swallow:
				b.set(f)
			}
		}
		if _, err := b.server.Write(pending); err != nil {
			return
		}
		pending = pending[:0]
	}
}

func (p *proxy) next(text string) failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.fault == nil {
		return none
	}
	return p.fault(p.count, text)
}

// readMessage reads one message of a client. The first has no type. Encryption
// is not asked for: the URL of tests says sslmode=disable.
func readMessage(r io.Reader, startup bool) ([]byte, error) {
	head := make([]byte, 5)
	at := 1
	if startup {
		head, at = head[:4], 0
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(head[at:])) - 4
	if n < 0 || n > 1<<24 {
		return nil, errors.New("no message of PostgreSQL's protocol")
	}
	message := append(head, make([]byte, n)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}
