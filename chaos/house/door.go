package house

import (
	"context"
	"net"
	"sync"
	"time"
)

// door is a listener that can be shut, so that the service meets a gateway which refuses connections and breaks those it
// has, and one that can be slow.
type door struct {
	net.Listener

	mu     sync.Mutex
	closed int               // by how many that have not opened it again
	delay  time.Duration     // of all that slow it down, together
	conns  map[net.Conn]bool // whether somebody waits for an answer
	broken int               // connections that were not let in, or cut while somebody waited for an answer
	late   int               // answers that were held up
}

func openDoor(ctx context.Context) (*door, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	return &door{Listener: l, conns: map[net.Conn]bool{}}, nil
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}

		if d.admit(c) {
			return &visitor{Conn: c, door: d}, nil
		}

		_ = c.Close()
	}
}

func (d *door) admit(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.closed == 0 {
		d.conns[c] = false

		return true
	}

	d.broken++

	return false
}

// shut breaks every connection and lets none in until open is called, which tells how many that has hit.
func (d *door) shut() (open func() int) {
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
func (d *door) slow(by time.Duration) (end func() int) {
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

// visitor is a connection through the door.
type visitor struct {
	net.Conn

	door *door
}

// Read implements net.Conn.
func (v *visitor) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	if n > 0 {
		v.waits(true)
	}

	return n, err
}

// Write implements net.Conn: the answer is what is late.
func (v *visitor) Write(p []byte) (int, error) {
	v.door.mu.Lock()

	delay := v.door.delay
	if delay > 0 {
		v.door.late++
	}

	v.door.mu.Unlock()

	time.Sleep(delay)
	v.waits(false)

	return v.Conn.Write(p)
}

func (v *visitor) waits(does bool) {
	v.door.mu.Lock()
	defer v.door.mu.Unlock()

	if _, open := v.door.conns[v.Conn]; open {
		v.door.conns[v.Conn] = does
	}
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.door.mu.Lock()
	delete(v.door.conns, v.Conn)
	v.door.mu.Unlock()

	return v.Conn.Close()
}
