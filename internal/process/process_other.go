//go:build !linux

package process

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Without a parent-death signal a killed parent leaves its children running; the next start finds and stops them (StopStale).
func childAttributes(c Command) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: c.Credential}
}

// commandLine is the command line of a process, "" when there is no such process.
func commandLine(ctx context.Context, pid int) string {
	text, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// childrenOf are the processes that a process has started.
func childrenOf(ctx context.Context, pid int) []int {
	text, err := exec.CommandContext(ctx, "pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	var children []int
	for _, word := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(word); err == nil {
			children = append(children, child)
		}
	}
	return children
}
