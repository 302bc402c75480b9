package harness

import (
	"os/exec"
	"syscall"
)

// dieWithTest ends the process when the test's own process is killed, by a time limit for instance.
func dieWithTest(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
