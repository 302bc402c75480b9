package env

import (
	"context"
	"net"
	"sync"
	"time"
)

// faultListener is a listener that can be shut in two ways, and one that can be slow. Shut softly it breaks the connections that it has and
// lets none in: what was sent on them may have arrived. Shut hard there is no listener at its port: nothing can have arrived.
type faultListener struct {
	address string

	mu       sync.Mutex
	reopened sync.Cond
	now      net.Listener      // at the port; closed while it is shut hard
	ended    bool              // for good
	closed   int               // by how many that have not opened it again
	refusing int               // by how many that have shut it hard
	delay    time.Duration     // of all that slow it down, together
	conns    map[net.Conn]bool // whether a client waits for an answer
	broken   int               // connections that were not let in, or cut while a client waited for an answer
	late     int               // answers that were held up
}

func listenWithFaults(ctx context.Context) (*faultListener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	d := &faultListener{address: l.Addr().String(), now: l, conns: map[net.Conn]bool{}}
	d.reopened.L = &d.mu

	return d, nil
}

// Addr implements net.Listener.
func (d *faultListener) Addr() net.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.now.Addr()
}

// Close implements net.Listener.
func (d *faultListener) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.ended = true
	d.reopened.Broadcast()

	return d.now.Close()
}

// Accept implements net.Listener.
func (d *faultListener) Accept() (net.Conn, error) {
	for {
		l := d.open()

		c, err := l.Accept()

		switch {
		case err != nil && d.wasShut(l):
		case err != nil:
			return nil, err
		case d.admit(c):
			return &trackedConn{Conn: c, listener: d}, nil
		default:
			_ = c.Close()
		}
	}
}

// open is the listener at the port, once there is one.
func (d *faultListener) open() net.Listener {
	d.mu.Lock()
	defer d.mu.Unlock()

	for d.refusing > 0 && !d.ended {
		d.reopened.Wait()
	}

	return d.now
}

// wasShut reports that the listener is not to be waited at any more, and that there will be another one.
func (d *faultListener) wasShut(l net.Listener) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return !d.ended && (d.refusing > 0 || d.now != l)
}

// refuse shuts the port until open is called, which tells how many connections it has broken.
func (d *faultListener) refuse() (open func() (int, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()

	broken := len(d.conns)

	if d.refusing++; d.refusing == 1 {
		_ = d.now.Close()
	}

	for c := range d.conns {
		_ = c.Close()
	}

	return func() (int, error) { return broken, d.reopen() }
}

// reopen has a listener at the port again when nothing shuts it any more. Another process may have had the port for a moment.
func (d *faultListener) reopen() error {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.refusing--; d.refusing > 0 {
		return nil
	}

	var err error

	for range 100 {
		var l net.Listener

		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", d.address); err == nil {
			d.now = l
			d.reopened.Broadcast()

			return nil
		}

		time.Sleep(10 * time.Millisecond)
	}

	return err
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
