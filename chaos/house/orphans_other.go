//go:build !linux

package house

import (
	"os/exec"
	"syscall"
)

func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func stayOnThread() {}
