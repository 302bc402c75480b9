//go:build !linux

package devstack

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Without a parent-death signal a killed parent leaves its children running; the next start finds and stops them (stopStale).
func childAttributes(c command) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: c.credential}
}

// commandLine is the command line of a process, "" when there is no such process.
func commandLine(ctx context.Context, pid int) string {
	text, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
