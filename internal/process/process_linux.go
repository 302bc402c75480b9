package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

func childAttributes(c Command) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: c.Credential, Pdeathsig: c.Orphan}
}

// commandLine is the command line of a process with spaces between its words, "" when there is no such process. It is empty for a
// zombie too, which suits us: a zombie holds nothing.
func commandLine(_ context.Context, pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
}

// childrenOf are the processes that a process has started.
func childrenOf(_ context.Context, pid int) []int {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var children []int
	for _, name := range all {
		text, err := os.ReadFile(name) //nolint:gosec // of the kernel
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid …": a name may have spaces and brackets of its own.
		var state string
		var parent int
		rest := text[bytes.LastIndexByte(text, ')')+1:]
		if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil || parent != pid {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			children = append(children, child)
		}
	}
	return children
}
