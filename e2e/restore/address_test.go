//go:build drill

package restore

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// address is one that leads to the present primary, as a virtual IP or a proxy of an installation does.
type address struct {
	listener net.Listener

	mu    sync.Mutex
	to    string // "": nowhere
	conns map[net.Conn]bool
}

func newAddress(tb testing.TB) *address {
	tb.Helper()

	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)

	a := &address{listener: l, conns: map[net.Conn]bool{}}
	tb.Cleanup(func() {
		_ = l.Close()
		a.lead("")
	})

	go a.accept()

	return a
}

func (a *address) port() int {
	at, _ := a.listener.Addr().(*net.TCPAddr)

	return at.Port
}

// lead has it lead elsewhere; connections that there are break.
func (a *address) lead(to string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.to = to

	for c := range a.conns {
		_ = c.Close()
	}

	clear(a.conns)
}

func (a *address) accept() {
	for {
		in, err := a.listener.Accept()
		if err != nil {
			return
		}

		go a.carry(in)
	}
}

func (a *address) carry(in net.Conn) {
	defer in.Close()

	a.mu.Lock()
	to := a.to
	a.mu.Unlock()

	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()

	if !a.keep(to, in, out) {
		return
	}

	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()

	_, _ = io.Copy(in, out)
}

// keep notes connections, unless it leads elsewhere by now.
func (a *address) keep(to string, conns ...net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.to != to {
		return false
	}

	for _, c := range conns {
		a.conns[c] = true
	}

	return true
}
