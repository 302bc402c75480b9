//go:build !unix

package operations

import "net"

// peerGone cannot be told here: the next write that fails will.
func peerGone(net.Conn) bool { return false }
