package cmd

import (
	"net"
	"sync"
)

// accepting is a listener that tells when its server has begun to serve. A server that is shut down before that takes no
// notice, and serves for ever: who is asked to stop has to wait for the beginning first.
type accepting struct {
	net.Listener

	once  sync.Once
	begun chan struct{}
}

func newAccepting(l net.Listener) *accepting {
	return &accepting{Listener: l, begun: make(chan struct{})}
}

// Accept implements net.Listener.
func (a *accepting) Accept() (net.Conn, error) {
	a.once.Do(func() { close(a.begun) })

	return a.Listener.Accept()
}
