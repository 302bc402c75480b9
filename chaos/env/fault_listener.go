package env

import (
	"context"
	"net"
	"sync"
	"time"
)

// faultListener is a listener that can be shut, so that the service meets a gateway which refuses connections and breaks those it
// has, and one that can be slow.
type faultListener struct {
	net.Listener

	mu     sync.Mutex
	closed int               // by how many that have not opened it again
	delay  time.Duration     // of all that slow it down, together
	conns  map[net.Conn]bool // whether a client waits for an answer
	broken int               // connections that were not let in, or cut while a client waited for an answer
	late   int               // answers that were held up
}

func listenWithFaults(ctx context.Context) (*faultListener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	return &faultListener{Listener: l, conns: map[net.Conn]bool{}}, nil
}

// Accept implements net.Listener.
func (d *faultListener) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}

		if d.admit(c) {
			return &trackedConn{Conn: c, listener: d}, nil
		}

		_ = c.Close()
	}
}

func (d *faultListener) admit(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.closed == 0 {
		d.conns[c] = false

		return true
	}

	d.broken++

	return false
}

// cut breaks every connection and lets none in until open is called, which tells how many that has hit.
func (d *faultListener) cut() (open func() int) {
	d.mu.Lock()
	defer d.mu.Unlock()

	before := d.broken
	d.closed++

	for c, waiting := range d.conns {
		if waiting {
			d.broken++
		}

		_ = c.Close()
	}

	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()

		d.closed--

		return d.broken - before
	}
}

// slow holds every answer up until end is called, which tells how many that has hit.
func (d *faultListener) slow(by time.Duration) (end func() int) {
	d.mu.Lock()
	defer d.mu.Unlock()

	before := d.late
	d.delay += by

	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()

		d.delay -= by

		return d.late - before
	}
}

// trackedConn is a connection that the fault listener has let in.
type trackedConn struct {
	net.Conn

	listener *faultListener
}

// Read implements net.Conn.
func (v *trackedConn) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	if n > 0 {
		v.setWaiting(true)
	}

	return n, err
}

// Write implements net.Conn: the answer is what is late.
func (v *trackedConn) Write(p []byte) (int, error) {
	v.listener.mu.Lock()

	delay := v.listener.delay
	if delay > 0 {
		v.listener.late++
	}

	v.listener.mu.Unlock()

	time.Sleep(delay)
	v.setWaiting(false)

	return v.Conn.Write(p)
}

func (v *trackedConn) setWaiting(does bool) {
	v.listener.mu.Lock()
	defer v.listener.mu.Unlock()

	if _, open := v.listener.conns[v.Conn]; open {
		v.listener.conns[v.Conn] = does
	}
}

// Close implements net.Conn.
func (v *trackedConn) Close() error {
	v.listener.mu.Lock()
	delete(v.listener.conns, v.Conn)
	v.listener.mu.Unlock()

	return v.Conn.Close()
}
