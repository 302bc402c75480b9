package house

import (
	"os/exec"
	"runtime"
	"syscall"
)

// endWithParent has the kernel end a process together with the harness.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stayOnThread keeps the thread that starts a process alive for as long as the process: the kernel's signal is tied to it.
func stayOnThread() { runtime.LockOSThread() }
