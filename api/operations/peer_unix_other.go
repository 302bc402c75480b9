//go:build unix && !linux

package operations

// hungUp cannot be told here while there are bytes that nobody has read: the next write that fails will.
func hungUp(int) bool { return false }
