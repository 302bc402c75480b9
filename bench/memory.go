package main

import (
	"fmt"
	"os"
	"syscall"
)

// residentMemory is how many bytes of a process are in memory.
func residentMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, fmt.Errorf("memory is looked up in Linux's /proc: %w", err)
	}

	var total, resident int64
	if _, err := fmt.Sscan(string(text), &total, &resident); err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}

	return resident * int64(os.Getpagesize()), nil
}

// allowFiles raises the limit of open files of this process, and so of those that it starts, to n. It returns how many may be open:
// fewer where the system does not allow that.
func allowFiles(n uint64) (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}

	// Children inherit what is set here, and not what the runtime has set for this process.
	wanted := syscall.Rlimit{Cur: max(limit.Max, n), Max: max(limit.Max, n)}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &wanted) == nil {
		return wanted.Max, nil
	}

	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}

	return limit.Max, nil
}
