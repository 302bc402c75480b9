//go:build unix

package exports

import (
	"os"
	"syscall"
)

// flockDir locks the file at path until it is closed. It is nil if another process holds the lock. It never blocks, whatever
// other programs have put into the directory for temporary files under such a name, and follows no link.
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
