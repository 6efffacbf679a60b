package eval

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system stop a program when this process is gone: the signal comes when the thread
// ends that started it, on which the goroutine stays.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
