//go:build unix

package operations

import (
	"os"
	"syscall"
)

// flockDir locks what is at path until it is closed. It is nil if somebody else has. It waits for nobody, whatever others
// have put into the directory for temporary files under such a name, and follows no link.
func flockDir(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) //nolint:gosec // nothing of it is read
	if err != nil {
		return nil
	}

	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return f
	}

	_ = f.Close() // nothing was written

	return nil
}
