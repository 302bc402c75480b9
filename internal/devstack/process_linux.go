package devstack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"syscall"
)

func childAttributes(c command) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: c.credential, Pdeathsig: c.orphan}
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
