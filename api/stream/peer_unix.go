//go:build unix

package stream

import (
	"errors"
	"net"
	"syscall"
)

// peerGone reports whether the client has closed the connection, without taking anything off it that may belong to its
// next request.
func peerGone(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}

	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}

	gone := false

	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)

		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		case err != nil, n == 0:
			gone = true
		default: // in front of the end that it may have sent, too, is a byte of its own
			gone = hungUp(int(fd))
		}
	})

	return gone || err != nil
}
