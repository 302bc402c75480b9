package testkit

import (
	"os"
	"syscall"
)

const (
	memoryDir  = "/dev/shm"
	memorySize = 4 << 30 // bytes that the file system must be able to hold: all databases of a run, and to spare
	tmpfsMagic = 0x01021994
)

// scratchDir is where the servers of tests keep their files: in memory when there is a file system for that, because every
// test has a database of its own, of some 300 files. TMPDIR overrides it.
func scratchDir() string {
	var fs syscall.Statfs_t

	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryDir, &fs) != nil {
		return os.TempDir()
	}

	// The types of both differ between processors, and a block has a size.
	if size := fs.Blocks * uint64(fs.Bsize); int64(fs.Type) != tmpfsMagic || size < memorySize { //nolint:gosec,unconvert
		return os.TempDir()
	}

	return memoryDir
}
