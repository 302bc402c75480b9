package middleware

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// ConnTimes are the times of a connection that the server's own settings cannot express.
type ConnTimes struct {
	// FirstByte is how long a new connection may stay silent. Clients and proxies connect ahead of use.
	FirstByte time.Duration
	// Request is how long a request may take to arrive, counted from its first byte.
	Request time.Duration
}

// Listener wraps the connections of l. One on which nothing was ever sent is closed without an answer: an answer that
// belongs to no request would be taken for that of the client's next one. One that is closed with a part of a request
// unread is closed so that the client can still read the answer.
func Listener(l net.Listener, times ConnTimes) net.Listener {
	return &listener{Listener: l, times: times}
}

type listener struct {
	net.Listener

	times ConnTimes
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}

	return &connection{Conn: conn, times: l.times}, nil
}

// connection is a client's connection.
type connection struct {
	net.Conn

	times ConnTimes
	// began is set by the first byte.
	began atomic.Bool
	// lingers is set when something may be left unread.
	lingers atomic.Bool
	// line is how many bytes were read since the last line feed. It belongs to the goroutine that reads.
	line int
}

var errNoSyscallConn = errors.New("the connection has no descriptor")

// SyscallConn implements syscall.Conn, which the watch for clients that have gone away needs.
func (c *connection) SyscallConn() (syscall.RawConn, error) {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errNoSyscallConn
	}

	return conn.SyscallConn()
}

// Read implements net.Conn. Until the first byte every error is the end of the connection: there is no request that could
// be answered.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.measure(p[:n])
	}

	switch {
	case c.began.Load():
		return n, err
	case n == 0 && err != nil:
		return 0, io.EOF
	case n > 0:
		c.began.Store(true)

		if deadline := c.Conn.SetReadDeadline(time.Now().Add(c.times.Request)); err == nil {
			err = deadline
		}
	}

	return n, err
}

func (c *connection) measure(read []byte) {
	if i := bytes.LastIndexByte(read, '\n'); i >= 0 {
		c.line = len(read) - 1 - i
	} else {
		c.line += len(read)
	}
}

// SetReadDeadline implements net.Conn. A connection on which nothing was sent yet has its own time.
func (c *connection) SetReadDeadline(t time.Time) error {
	if !c.began.Load() && !t.IsZero() {
		t = time.Now().Add(c.times.FirstByte)
	}

	return c.Conn.SetReadDeadline(t)
}

const (
	// lingerTime and lingerBytes bound what is read, and thrown away, behind the answer to a request that was not read to
	// its end. Without it the system would answer what the client still sends with a reset, which takes our answer away.
	lingerTime  = 5 * time.Second
	lingerBytes = 16 << 20
)

// Close implements net.Conn.
func (c *connection) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.lingers.Swap(false) && half.CloseWrite() == nil {
		if c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
		}
	}

	return c.Conn.Close()
}

// linger says whether something of the request may be left unread when the connection is closed.
func linger(conn net.Conn, unread bool) {
	if c, ok := conn.(*connection); ok {
		c.lingers.Store(unread)
	}
}

// endlessLine reports whether at least size bytes came since the last line feed.
func endlessLine(conn net.Conn, size int) bool {
	c, ok := conn.(*connection)

	return ok && c.line >= size
}
