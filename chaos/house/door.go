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
	closed bool
	delay  time.Duration
	conns  map[net.Conn]bool
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

	if !d.closed {
		d.conns[c] = true
	}

	return !d.closed
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.closed = true
	for c := range d.conns {
		_ = c.Close()
	}
}

func (d *door) slow(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.delay = by
}

func (d *door) open() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.closed, d.delay = false, 0
}

// visitor is a connection through the door.
type visitor struct {
	net.Conn

	door *door
}

// Write implements net.Conn: the answer is what is late.
func (v *visitor) Write(p []byte) (int, error) {
	v.door.mu.Lock()
	delay := v.door.delay
	v.door.mu.Unlock()

	time.Sleep(delay)

	return v.Conn.Write(p)
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.door.mu.Lock()
	delete(v.door.conns, v.Conn)
	v.door.mu.Unlock()

	return v.Conn.Close()
}
