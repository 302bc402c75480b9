package devstack

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// balancer passes TCP connections on to the first of some addresses that answers, beginning with another one each time.
type balancer struct {
	listener net.Listener
	targets  []string
	next     atomic.Uint64
}

func startBalancer(ctx context.Context, targets []string) (*balancer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, err
	}
	b := &balancer{listener: listener, targets: targets}
	go b.serve()
	return b, nil
}

func (b *balancer) address() string { return b.listener.Addr().String() }

func (b *balancer) close() { _ = b.listener.Close() }

func (b *balancer) serve() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.pass(client)
	}
}

// pass lives as long as the connection. When either side ends, so does the other: a client of a node that has died finds
// another one.
func (b *balancer) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server := b.dial()
	if server == nil {
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	for _, way := range []struct{ to, from net.Conn }{{server, client}, {client, server}} {
		both.Go(func() {
			_, _ = io.Copy(way.to, way.from)
			_ = client.Close()
			_ = server.Close()
		})
	}
	both.Wait()
}

func (b *balancer) dial() net.Conn {
	first := b.next.Add(1)
	for i := range b.targets {
		dialer := net.Dialer{Timeout: time.Second}
		target := b.targets[(first+uint64(i))%uint64(len(b.targets))]
		if conn, err := dialer.Dial("tcp4", target); err == nil {
			return conn
		}
	}
	return nil
}
