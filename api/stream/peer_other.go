//go:build !unix

package stream

import "net"

// peerGone cannot be told here: the next write that fails will.
func peerGone(net.Conn) bool { return false }
