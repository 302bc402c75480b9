package cmd

import (
	"net"
	"sync"
)

// acceptGate is a listener that tells when its server has begun to serve. A server that is shut down before that takes no
// notice, and serves for ever: a shutdown has to wait for the beginning first.
type acceptGate struct {
	net.Listener

	once  sync.Once
	begun chan struct{}
}

func newAcceptGate(l net.Listener) *acceptGate {
	return &acceptGate{Listener: l, begun: make(chan struct{})}
}

// Accept implements net.Listener.
func (a *acceptGate) Accept() (net.Conn, error) {
	a.once.Do(func() { close(a.begun) })

	return a.Listener.Accept()
}
