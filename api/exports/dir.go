package exports

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
)

// dirPrefix begins the names of the directories that workbooks grow in.
const dirPrefix = "rihla-export-"

// directory is a directory of its own for the files of one workbook. It is locked for as long as the workbook is made: the
// system drops the lock of a process that is killed, in a container and after the process's id is another one's, too. So
// a directory without one is a leftover.
type directory struct {
	dir  string
	lock *os.File
}

// dirTries is how often a directory is made until it can be locked.
const dirTries = 3

// newDir makes one. close must be called in the end.
func newDir() (*directory, error) {
	for try := 1; ; try++ {
		dir, err := os.MkdirTemp("", dirPrefix)
		if err != nil {
			return nil, err
		}

		// A system without locks recognizes no leftover either.
		if lock := lockDir(dir); lock != nil || try == dirTries {
			return &directory{dir: dir, lock: lock}, nil
		}
		// A process that starts has taken it for a leftover before it was locked.
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
}

// lockDir locks a directory. It is nil if another process holds the lock, or if the path is gone or is not a directory.
func lockDir(dir string) *os.File {
	f := flockDir(dir)
	if f == nil {
		return nil
	}

	// The previous lock holder may have removed it.
	held, err := f.Stat()
	there, gone := os.Lstat(dir)

	if errors.Join(err, gone) == nil && held.IsDir() && os.SameFile(held, there) {
		return f
	}

	_ = f.Close() // nothing was written

	return nil
}

// close removes the directory with all that is in it.
func (r *directory) close() {
	_ = os.RemoveAll(r.dir)
	_ = r.lock.Close()
}

// Clear removes what exports of processes that were killed have left in the directory for temporary files: lines
// of the ledger. Of those that are still being made, by whichever process, it touches none.
func Clear(ctx context.Context, log *slog.Logger) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*")) // the pattern is well-formed

	for _, dir := range left {
		lock := lockDir(dir)
		if lock == nil {
			continue
		}

		(&directory{dir: dir, lock: lock}).close()
		log.InfoContext(ctx, "removed leftover files of an export", "directory", dir)
	}
}
